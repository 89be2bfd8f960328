/** Tests the operator's cache of lists of tools over a real Postgres, with answers and changes in an order that is rare. */
import { setImmediate } from 'node:timers/promises';

import { expect, it } from 'vitest';

import { PostgresOutage } from '../../../operator/runtime/postgres-outage.ts';
import { ToolListCache } from '../../../operator/tool/tool-list-cache.ts';
import { createLogger } from '../../../platform/logging.ts';
import type { Store } from '../../../store/index.ts';
import { migratedDatabase, openPatientStore } from '../../support/postgres.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';

const store = suiteFixture(async () => openPatientStore((await migratedDatabase()).url));

const echo = { name: 'echo', description: 'Says the same.', parameters: {}, readOnly: true };
const toolWith = (uid: string) => ({ metadata: { namespace: 'acme', name: uid, uid } });

const request = (toolUid: string) =>
  store.toolLists.request(
    { org: 'acme', toolUid },
    { toolName: toolUid, request: { url: 'https://shop.example' }, requestDigest: 'a'.repeat(64) },
    { acceptNext: false },
  );

/** Stores the list as a worker does. */
async function list(): Promise<void> {
  for (const due of await store.toolLists.claim({ limit: 10, forMs: 60_000 }))
    await store.toolLists.listed(due, [echo], { againInMs: 60_000 });
}

/** Passes calls on, and then holds answers back until `hold` resolves. */
function cacheWith(hold: (method: 'get' | 'all') => Promise<void>): ToolListCache {
  const lists = new Proxy(store.toolLists, {
    get(target, property: keyof Store['toolLists']) {
      const method = target[property].bind(target) as (...args: readonly unknown[]) => Promise<unknown>;
      if (property !== 'get' && property !== 'all') return method;
      return async (...args: readonly unknown[]) => {
        if (property === 'all') await hold(property);
        const answer = await method(...args);
        if (property === 'get') await hold(property);
        return answer;
      };
    },
  });
  return new ToolListCache({ lists, outage: new PostgresOutage({ store, logger: createLogger({ role: 'operator', level: 'silent' }) }) });
}

it('gives who reads what is newest, also where somebody else has begun to read again', async () => {
  const tool = toolWith('read');
  await request('read');
  const answers: PromiseWithResolvers<void>[] = [];
  const asked: PromiseWithResolvers<void>[] = [Promise.withResolvers(), Promise.withResolvers()];
  const cache = cacheWith(() => {
    const answer = Promise.withResolvers<void>();
    answers.push(answer);
    asked[answers.length - 1]?.resolve();
    return answer.promise;
  });

  const first = cache.read([tool]).then(() => cache.view(tool));
  await asked[0]?.promise;
  await list();
  cache.stale(tool);
  const second = cache.read([tool]).then(() => cache.view(tool));
  await asked[1]?.promise;
  answers[0]?.resolve();
  await setImmediate();
  answers[1]?.resolve();

  expect(await first).toMatchObject({ state: 'known', latest: { tools: [echo] } });
  expect(await second).toMatchObject({ state: 'known', latest: { tools: [echo] } });
});

it('keeps the list of a tool that comes while those that are gone are looked for', async () => {
  const uids = new Set<string>();
  await request('gone');
  const cache = cacheWith(async (method) => {
    if (method !== 'all') return;
    uids.add('new');
    await request('new');
  });
  await cache.prune(() => new Set(uids));
  expect(await store.toolLists.all()).toEqual([{ org: 'acme', toolUid: 'new' }]);
});
