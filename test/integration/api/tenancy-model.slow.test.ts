import { randomInt } from 'node:crypto';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { covers, permissions as vocabulary, type Permission } from '../../../store/index.ts';
import { generateApiKey } from '../../../store/api-key-format.ts';
import { unlimited } from '../../support/limits.ts';
import { realMediaServer, serveAgent } from './calls-support.ts';
import { organization, startFacade, type Facade, type TestOrganization } from './facade.ts';
import { agentTestGenerators } from './tenancy-agent-tests.ts';
import { callGenerators } from './tenancy-calls.ts';
import { releaseGenerators } from './tenancy-releases.ts';
import { knowledgeGenerators } from './tenancy-knowledge.ts';
import { mulberry } from '../../../platform/mulberry.ts';
import { anyRequest, generators as basicGenerators, TenancyModel, routes, type CallerKey, type Situation } from './tenancy-model.ts';
import { resourceGenerators } from './tenancy-resources.ts';
import { testRunGenerators } from './tenancy-test-runs.ts';
import { webhookGenerators } from './tenancy-webhooks.ts';

const generators = {
  ...basicGenerators,
  ...resourceGenerators,
  ...knowledgeGenerators,
  ...webhookGenerators,
  ...callGenerators,
  ...releaseGenerators,
  ...agentTestGenerators,
  ...testRunGenerators,
};
const seed = Number(process.env['PARLEY_TEST_SEED'] ?? 20_261_125);
const requests = 5_000;
const keysEach = 10;
const kinds = ['agents', 'tools', 'numbers', 'bases', 'documents', 'subscriptions', 'calls', 'agentTests'] as const;

interface Side {
  readonly org: TestOrganization;
  readonly model: TenancyModel;
  readonly callers: readonly CallerKey[];
  /** Maps each call to the key that made it. */
  readonly made: Map<string, string | undefined>;
  /** Kinds of which the organisation had some at any time. */
  readonly had: Set<(typeof kinds)[number]>;
}

let facade: Facade;

beforeAll(async () => {
  const limits = { ...unlimited, unknownKeys: { perSecond: 0, burst: 1 } };
  facade = await startFacade({ limits, calls: { mediaServer: await realMediaServer() } });
});
afterAll(() => facade.close());

/** Makes keys with anything from one permission to most of them, and some that are good for nothing. */
async function side(random: () => number, marker: string, beginning: string): Promise<Side> {
  const org = await organization(facade);
  const model = new TenancyModel(marker, beginning);
  const { body } = await org.call('POST', '/v1/phone-numbers', { phone_number: model.keptNumber, friendly_name: marker });
  model.numbers.set(body._id as string, { number: model.keptNumber, provider: 'sip', text: marker });
  await facade.store.organizations.limitLiveCalls(org.name, 1_000);
  await serveAgent(facade.store, org.name, model.servedAgent, {
    displayName: marker,
    agent: { postCallAnalysis: [{ name: 'resolved', type: 'Boolean' }] },
  });
  const callers: CallerKey[] = [];
  for (let n = 0; n < keysEach; n += 1) {
    const share = random() * 0.6;
    const some = vocabulary.filter((each) => (each === '*' ? random() < 0.1 : random() < share));
    // One key may do everything: without it there are seeds that miss a kind.
    const few: readonly Permission[] = some.length === 0 ? ['agents:write', 'api_keys:write'] : some;
    const own = n === 0 ? (['*'] as const) : few;
    const name = `caller ${marker} ${n}`;
    const { record, apiKey } = await facade.store.apiKeys.create({ org: org.name, name, permissions: own, expirationDays: 1 });
    model.keys.set(record.keyId, { name, revoked: false, asks: true });
    callers.push({ key: apiKey, permissions: own });
  }
  // The others are the key that organization() made, and one that is over.
  const { items } = await facade.store.apiKeys.list({ org: org.name, pageSize: 100 });
  const first = items.find(({ keyId }) => !model.keys.has(keyId));
  if (first !== undefined) model.keys.set(first.keyId, { name: first.name, revoked: false, asks: true });
  const revoked = await facade.store.apiKeys.create({ org: org.name, name: 'caller over', permissions: ['*'], expirationDays: 1 });
  await facade.store.apiKeys.revoke({ org: org.name, keyId: revoked.record.keyId });
  model.keys.set(revoked.record.keyId, { name: 'caller over', revoked: true, asks: true });
  for (const key of [undefined, generateApiKey().apiKey, revoked.apiKey, 'nonsense']) callers.push({ key, permissions: undefined });
  return { org, model, callers, made: new Map(), had: new Set() };
}

const asksFor = (id: string, path: string, body: unknown): boolean => path.includes(id) || JSON.stringify(body ?? null).includes(id);

async function oneRequest(own: Side, foreign: Side, random: () => number, counts: Map<number, number>): Promise<void> {
  const of = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const caller = of(random() < 0.95 ? own.callers.slice(0, keysEach) : own.callers.slice(keysEach));
  const [route, needed, neededForOwn] = of(routes);
  const situation: Situation = { own: own.model, foreign: foreign.model, caller, random };
  const generated = generators[route]?.(situation);
  const { path, query, body, headers } = generated?.request ?? anyRequest(route, situation);
  const [method = ''] = route.split(' ');
  const address = `${path}${random() < 0.5 ? '' : '/'}${query === undefined ? '' : `?${query}`}`;
  const { permissions } = caller;
  const mayAsk = permissions !== undefined && (covers(permissions, needed) || covers(permissions, neededForOwn));
  // A key that may see its own alone doesn't find what others have made.
  const allowed =
    mayAsk && (covers(permissions, needed) || [...own.made].some(([id, key]) => key === caller.key && asksFor(id, path, body)));
  const status = generated?.expected.status;
  const expected = permissions === undefined ? 401 : !mayAsk ? 403 : allowed || status === 422 ? status : 404;

  const answer = await facade.call(method, address, {
    key: caller.key,
    ...(body !== undefined && { body }),
    headers: { ...headers, ...(random() < 0.5 && { 'x-user-org-id': foreign.org.name, 'x-organization-id': foreign.org.name }) },
  });
  counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1);
  const what = `${method} ${address} with ${JSON.stringify(body)} as ${JSON.stringify(caller.permissions)}: ${answer.text}`;
  if (expected !== undefined) expect(answer.status, what).toBe(expected);
  else expect([401, 403, 500].includes(answer.status), what).toBe(false);
  for (const theirs of [foreign.model.marker, foreign.org.name]) {
    expect(answer.text.includes(theirs) || JSON.stringify([...answer.headers]).includes(theirs), what).toBe(false);
  }
  if (!allowed || answer.status >= 300) return;
  generated?.expected.learn?.(answer);
  if (route === 'POST /v1/calls/create-web-call') own.made.set(answer.body._id, caller.key);
}

it(`${requests} random requests of two organisations answer what a model of each predicts (seed ${seed})`, async () => {
  const random = mulberry(seed);
  // The servers are shared: numbers that another run has made are none of this one's.
  const beginning = `+1${randomInt(1e8, 1e9)}`;
  const sides = [await side(random, 'MARK-LEFT', `${beginning}1`), await side(random, 'MARK-RIGHT', `${beginning}2`)] as const;
  const counts = new Map<number, number>();
  // Each organisation's requests come one after the other, so that its model knows; those of the other come in between at any time.
  const stream = async (own: Side, foreign: Side, numbers: () => number): Promise<void> => {
    for (let n = 0; n < requests / 2; n += 1) {
      await oneRequest(own, foreign, numbers, counts);
      for (const kind of kinds) if (own.model[kind].size > 0) own.had.add(kind);
    }
  };
  await Promise.all([stream(sides[0], sides[1], mulberry(seed + 1)), stream(sides[1], sides[0], mulberry(seed + 2))]);
  // A run in which some kind of answer never came would have shown nothing about it.
  expect([...counts.keys()].toSorted((a, b) => a - b)).toEqual([200, 201, 202, 400, 401, 403, 404, 409, 412, 415, 422]);
  for (const { had } of sides) expect(had).toEqual(new Set(kinds));
  expect(routes.filter(([route]) => generators[route] === undefined)).toEqual([]);
});
