import { randomUUID } from 'node:crypto';

import { expect, it } from 'vitest';

import { migratedDatabase, openPatientStore } from '../../support/postgres.ts';
import { query } from '../../support/sql.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';

const database = suiteFixture(migratedDatabase);
const store = suiteFixture(() => openPatientStore(database.url));

/** An api, with servers of its own. */
function installation() {
  const agentName = `agent-${randomUUID()}`;
  return {
    /** Its report stays new, however long the test takes. */
    report: async (server: string, free: number, starting = false): Promise<void> => {
      await store.voiceServers.report(server, { agentName, free, starting });
      await query(database.url, "UPDATE parley.voice_servers SET reported_at = now() + interval '1 hour' WHERE id = $1", [server]);
    },
    take: () => store.voiceServers.takePlace(agentName),
  };
}

it('gives away as many places as all servers have, however many ask at once', async () => {
  const { report, take } = installation();
  await Promise.all([report(randomUUID(), 3), report(randomUUID(), 4)]);
  const answers = await Promise.all(Array.from({ length: 20 }, () => take()));
  expect(answers.filter(({ taken }) => taken)).toHaveLength(7);
  expect(answers.every(({ reported }) => reported)).toBe(true);
});

it('counts a place that was just taken in the next report, and not in the one after', async () => {
  const { report, take } = installation();
  const server = randomUUID();
  await report(server, 1);
  expect((await take()).taken).toBe(true);
  // The call is on its way: the server does not know of it.
  await report(server, 1);
  expect(await take()).toMatchObject({ taken: false, starting: true });
  await report(server, 1);
  expect((await take()).taken).toBe(true);
});

it('knows no places of servers that take no more calls, or belong to another installation', async () => {
  const [one, other] = [installation(), installation()];
  const server = randomUUID();
  await one.report(server, 5);
  expect(await other.take()).toEqual({ reported: false, taken: false, starting: false });
  await store.voiceServers.forget(server);
  expect(await one.take()).toEqual({ reported: false, taken: false, starting: false });
});
