import { randomUUID } from 'node:crypto';

import { expect, it, onTestFinished } from 'vitest';

import { migratedDatabase, openPatientStore } from '../../support/postgres.ts';
import { query } from '../../support/sql.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { registerCall } from './calls-support.ts';

const database = suiteFixture(migratedDatabase);
const store = suiteFixture(() => openPatientStore(database.url));

/** Makes an api with servers of its own. */
function installation() {
  const agentName = `agent-${randomUUID()}`;
  return {
    /** Reports free places; the report stays new, however long the test takes. */
    report: async (server: string, free: number, starting = false): Promise<void> => {
      await store.voiceServers.report(server, { agentName, free, starting });
      await query(database.url, "UPDATE parley.voice_servers SET reported_at = now() + interval '1 hour' WHERE id = $1", [server]);
    },
    take: (org = 'nobody') => store.voiceServers.takePlace(agentName, org),
  };
}

async function organization(): Promise<string> {
  const name = `org-${randomUUID()}`;
  await store.organizations.create({ name });
  return name;
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
  expect(await other.take()).toEqual({ reported: false, taken: false, starting: false, reserved: false });
  await store.voiceServers.forget(server);
  expect(await one.take()).toEqual({ reported: false, taken: false, starting: false, reserved: false });
});

it('keeps the last place in ten for organisations below their share, however many ask at once', async () => {
  const { report, take } = installation();
  const [large, small] = await Promise.all([organization(), organization()]);
  const server = randomUUID();
  await report(server, 10);
  const answers = await Promise.all(Array.from({ length: 20 }, () => take(large)));
  expect(answers.filter(({ taken }) => taken)).toHaveLength(9);
  expect(answers.filter(({ reserved }) => reserved)).toHaveLength(11);
  const calls = await Promise.all(Array.from({ length: 9 }, () => registerCall(store, large)));
  // The reports look as if all calls had come to the server.
  for (let reports = 0; reports < 2; reports += 1) await report(server, 1);
  expect(await take(large)).toMatchObject({ taken: false, reserved: true });
  expect(await take(small)).toMatchObject({ taken: true, reserved: false });
  await registerCall(store, small);
  expect(await take(small)).toMatchObject({ taken: false, reserved: false });
  // A third of the places is the share of each, for another may come: the last one goes to the one that has less.
  for (const call of calls.slice(0, 3)) await store.calls.calls.end({ ...call, reason: 'user_ended_call', events: () => [] });
  await Promise.all(Array.from({ length: 2 }, () => registerCall(store, small)));
  for (let reports = 0; reports < 2; reports += 1) await report(server, 1);
  expect([await take(large), await take(small)]).toMatchObject([{ reserved: true }, { taken: true }]);
});

it('keeps nothing where there is one organisation', async () => {
  const alone = openPatientStore((await migratedDatabase()).url);
  onTestFinished(() => alone.close());
  await alone.organizations.create({ name: 'only' });
  await alone.voiceServers.report(randomUUID(), { agentName: 'one', free: 2, starting: false });
  expect([await alone.voiceServers.takePlace('one', 'only'), await alone.voiceServers.takePlace('one', 'only')]).toMatchObject([
    { taken: true },
    { taken: true },
  ]);
});
