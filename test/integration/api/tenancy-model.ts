/** Predicts each answer of a facade to one organisation, from nothing but the requests so far. */
import { covers, type Permission } from '../../../store/index.ts';
import { describedRoutes } from '../../../api/openapi/described-routes.ts';
import { anAgentRequest } from '../../support/builders.ts';
import type { RestAnswer } from './facade.ts';

export interface CallerKey {
  /** Key of the request; with undefined none is sent. */
  readonly key: string | undefined;
  /** Permissions of the key; undefined for one that is good for nothing. */
  readonly permissions: readonly Permission[] | undefined;
}

export interface Request {
  readonly path: string;
  readonly query?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Predicts the answer for a caller who has the permission. */
interface Expected {
  readonly status: number;
  /** Looks at a successful answer, and remembers what the request did. */
  readonly learn?: (answer: RestAnswer) => void;
}

export interface ToolFacts {
  readonly agent: string;
  readonly family: 'custom' | 'builtin' | 'mcp';
  readonly functionName: string;
  readonly text: string;
  /** Set if the secret has another text than it has now. */
  readonly changed?: true;
}

export interface NumberFacts {
  readonly number: string;
  readonly provider: string;
  readonly text: string;
  readonly secret?: string;
  readonly inbound?: string | undefined;
  readonly outbound?: string | undefined;
}

/** Holds one organisation's things, as its requests have made them. */
export class TenancyModel {
  /** The name of everything that this organisation has contains this text, and no other name does. */
  readonly marker: string;
  readonly agents = new Map<string, string>();
  readonly bases = new Map<string, string>();
  /** Maps each document to its knowledge base. */
  readonly documents = new Map<string, string>();
  /** Keys by id. A key that `asks` makes the requests, so that it is left alone. */
  readonly keys = new Map<string, { readonly name: string; revoked: boolean; readonly permissions?: Permission; readonly asks?: true }>();
  readonly tools = new Map<string, ToolFacts>();
  /** Maps each test to the user's words. */
  readonly agentTests = new Map<string, string>();
  readonly numbers = new Map<string, NumberFacts>();
  readonly subscriptions = new Map<string, { readonly name: string; readonly signed: boolean; readonly active: boolean }>();
  /** This agent is in service from the beginning, and never changed. */
  readonly servedAgent: string;
  /** Revision of that agent, once it has been listed. */
  servedRevision: string | undefined;
  /** Maps each call to its agent. */
  readonly calls = new Map<string, string>();
  /** Ids of deliveries of test events. */
  readonly tests: string[] = [];
  /** This number is made before the requests, and never deleted: the other organisation can't have it. */
  readonly keptNumber: string;
  readonly freeNumbers: readonly string[];
  readonly gone: string[] = [];
  pageToken: string | undefined;

  /** @param beginning the first digits of this organisation's phone numbers */
  constructor(marker: string, beginning: string) {
    this.marker = marker;
    this.servedAgent = `served-${marker.toLowerCase()}`;
    this.keptNumber = `${beginning}00`;
    this.freeNumbers = Array.from({ length: 30 }, (_, n) => `${beginning}${n + 10}`);
  }
}

export interface Situation {
  readonly own: TenancyModel;
  readonly foreign: TenancyModel;
  readonly caller: CallerKey;
  readonly random: () => number;
}

export type Generator = (situation: Situation) => { readonly request: Request; readonly expected: Expected };

/** An organisation makes at most so many things of one kind: a list fits into one page. */
export const atMost = 60;
const nonsense = ['agent-aaaaaaaaaaaaaaaa', 'UPPER', '-', '%00', 'a%2Fb', 'x'.repeat(300), 'key_00000000-0000-7000-8000-000000000000'];

export const pick = <T>(random: () => number, items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];

/** Picks an id, mostly one's own, and else somebody else's, one that was, or one that can't be. */
export function anId({ random, own }: Situation, mine: readonly string[], theirs: readonly string[]): string {
  const kind = random();
  const among = kind < 0.55 ? mine : kind < 0.8 ? theirs : kind < 0.9 ? own.gone : nonsense;
  return pick(random, among) ?? pick(random, nonsense) ?? 'x';
}

export const agentId = (situation: Situation): string =>
  anId(situation, [...situation.own.agents.keys()], [...situation.foreign.agents.keys()]);
const keyId = (situation: Situation): string => anId(situation, [...situation.own.keys.keys()], [...situation.foreign.keys.keys()]);
export const aName = ({ own, random }: Situation): string => `${own.marker} ${Math.floor(random() * 1e9)}`;

export function same(actual: unknown, expected: unknown, what: string): void {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) {
    throw new Error(`${what}: ${JSON.stringify(actual)} and not ${JSON.stringify(expected)}`);
  }
}

export function list(
  path: string,
  ids: (model: TenancyModel) => readonly string[],
  idOf: (item: Record<string, unknown>) => unknown,
): Generator {
  return ({ own }) => ({
    request: { path, query: 'page_size=100' },
    expected: {
      status: 200,
      learn: ({ body }) =>
        same(
          (body.data as Record<string, unknown>[]).map((item) => String(idOf(item))).toSorted(),
          ids(own).toSorted(),
          `the list ${path}`,
        ),
    },
  });
}

const agentList = list(
  '/v2/ai-agents',
  ({ agents }) => [...agents.keys()],
  (item) => item['ai_agent_id'],
);
const agentPage: Generator = ({ own, foreign, random }) => {
  const token = pick(random, [own.pageToken, foreign.pageToken, undefined]);
  return {
    request: { path: '/v2/ai-agents', query: `page_size=1${token === undefined ? '' : `&page_token=${encodeURIComponent(token)}`}` },
    expected: {
      status: token === undefined || token === own.pageToken ? 200 : 422,
      learn: ({ body }) => void (own.pageToken = (body.next_page_token as string | null) ?? own.pageToken),
    },
  };
};

/** Generators by `METHOD pattern`. Of the answer of a route that isn't here, only what the table of permissions says is predicted. */
export const generators: Readonly<Record<string, Generator>> = {
  'POST /v2/ai-agents': (situation) => {
    const { own, random } = situation;
    const name = aName(situation);
    const kind = own.agents.size >= atMost ? 'dryRun' : (pick(random, ['made', 'made', 'broken', 'dryRun'] as const) ?? 'made');
    return {
      request: {
        path: '/v2/ai-agents',
        body: kind === 'broken' ? { agent_name: 5 } : anAgentRequest(name),
        ...(kind === 'dryRun' && { query: 'dry_run=true' }),
      },
      expected: {
        status: kind === 'broken' ? 422 : 201,
        learn: ({ body }) => {
          if (kind === 'made') own.agents.set(body.ai_agent_id as string, name);
        },
      },
    };
  },
  'GET /v2/ai-agents': (situation) => (situation.random() < 0.5 ? agentList : agentPage)(situation),
  'GET /v2/ai-agents/:ai_agent_id': (situation) => {
    const id = agentId(situation);
    const name = situation.own.agents.get(id);
    return {
      request: { path: `/v2/ai-agents/${id}` },
      expected: { status: name === undefined ? 404 : 200, learn: ({ body }) => same(body.agent_name, name, `the name of ${id}`) },
    };
  },
  'PUT /v2/ai-agents/:ai_agent_id': (situation) => {
    const { own, random } = situation;
    const id = agentId(situation);
    const name = aName(situation);
    const kind = pick(random, ['changed', 'changed', 'broken', 'dryRun', 'outdated'] as const) ?? 'changed';
    const known = own.agents.has(id);
    const sound = kind === 'outdated' ? 412 : 200;
    return {
      request: {
        path: `/v2/ai-agents/${id}`,
        body: { agent_name: kind === 'broken' ? [] : name },
        ...(kind === 'dryRun' && { query: 'dry_run=true' }),
        ...(kind === 'outdated' && { headers: { 'if-match': '"1"' } }),
      },
      expected: {
        status: kind === 'broken' ? 422 : known ? sound : 404,
        learn: ({ body }) => {
          same(body.agent_name, name, `the new name of ${id}`);
          if (kind === 'changed') own.agents.set(id, name);
        },
      },
    };
  },
  'DELETE /v2/ai-agents/:ai_agent_id': (situation) => {
    const { own, random, caller } = situation;
    const id = agentId(situation);
    const users = [...own.numbers].filter(([, { inbound, outbound }]) => inbound === id || outbound === id);
    // An agent that is there is seldom deleted, so that there are some.
    const dryRun = random() < 0.7;
    return {
      // Phone numbers that name it let go of it.
      request: { path: `/v2/ai-agents/${id}`, query: dryRun ? 'dry_run=true&force=true' : 'force=true' },
      expected: {
        status: !own.agents.has(id) ? 404 : users.length > 0 && !covers(caller.permissions ?? [], 'phone_numbers:write') ? 403 : 200,
        learn: () => {
          if (dryRun || !own.agents.delete(id)) return;
          for (const [number, { inbound, outbound, ...facts }] of users)
            own.numbers.set(number, { ...facts, ...(inbound !== id && { inbound }), ...(outbound !== id && { outbound }) });
          own.gone.push(id);
          // The tools that were made for it go with it.
          for (const [tool, { agent }] of own.tools) if (agent === id && own.tools.delete(tool)) own.gone.push(tool);
        },
      },
    };
  },
  'GET /v1/explain/:kind/:name': (situation) => {
    const id = agentId(situation);
    const kind = pick(situation.random, ['agent', 'agent', 'weather'] as const);
    return {
      request: { path: `/v1/explain/${kind}/${id}` },
      expected: { status: kind === 'agent' && situation.own.agents.has(id) ? 200 : 404 },
    };
  },
  'POST /v1/api-keys': (situation) => {
    const { own, caller, random } = situation;
    const name = aName(situation);
    const wanted = pick(random, ['agents:read', 'agents:write', 'api_keys:read', 'secrets:read', '*'] as const) ?? '*';
    const broken = own.keys.size >= atMost || random() < 0.2;
    const granted = caller.permissions !== undefined && covers(caller.permissions, wanted);
    return {
      request: { path: '/v1/api-keys', body: broken ? { name } : { name, permissions: [wanted] } },
      expected: {
        status: broken ? 422 : granted ? 201 : 403,
        learn: ({ body }) => void own.keys.set(body.key_id as string, { name, revoked: false, permissions: wanted }),
      },
    };
  },
  'GET /v1/api-keys': list(
    '/v1/api-keys',
    ({ keys }) => [...keys.keys()],
    (item) => item['key_id'],
  ),
  'GET /v1/api-keys/:key_id': (situation) => {
    const id = keyId(situation);
    const known = situation.own.keys.get(id);
    return {
      request: { path: `/v1/api-keys/${id}` },
      expected: {
        status: known === undefined ? 404 : 200,
        learn: ({ body }) => same([body.name, body.revoked], [known?.name, known?.revoked], `the key ${id}`),
      },
    };
  },
  'POST /v1/api-keys/:key_id/revoke': (situation) => {
    const id = keyId(situation);
    const known = situation.own.keys.get(id);
    return {
      request: { path: `/v1/api-keys/${known?.asks ? 'absent' : id}/revoke` },
      expected: {
        status: known === undefined || known.asks ? 404 : covers(situation.caller.permissions ?? [], known.permissions ?? []) ? 200 : 403,
        learn: () => {
          if (known !== undefined) known.revoked = true;
        },
      },
    };
  },
};

/** Makes a request of any kind to a route that has no generator: its answer is only known where the caller may not. */
export function anyRequest(route: string, situation: Situation): Request {
  const [method = '', pattern = ''] = route.split(' ');
  const path = pattern
    .split('/')
    .map((segment) => (segment.startsWith(':') ? agentId(situation) : segment))
    .join('/');
  return { path, ...(['POST', 'PUT', 'PATCH'].includes(method) && { body: {} }) };
}

/** Lists every route that needs a permission, with the permission, and the one that is enough for what the key itself has made. */
export const routes = describedRoutes().flatMap(({ method, path, permission, permissionForOwn = permission }) =>
  permission === 'public' || permission === 'any' || permissionForOwn === 'public' || permissionForOwn === 'any'
    ? []
    : ([[`${method} ${path.replace(/(?<=.)\/$/, '')}`, permission, permissionForOwn]] as const),
);
