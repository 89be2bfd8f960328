import pino from 'pino';
import { expect, it } from 'vitest';

import type { Store } from '../store/index.ts';
import { FakeClock } from '../test/support/fake-clock.ts';
import { PlaceReports } from './report-places.ts';

function reporting() {
  const done: string[] = [];
  const servers = {
    report: () => Promise.resolve(void done.push('report')),
    forget: () => Promise.resolve(void done.push('forget')),
  } as unknown as Store['voiceServers'];
  const places = () => ({ free: 1, starting: false });
  const reports = new PlaceReports({ servers, agentName: 'parley', places, clock: new FakeClock(), logger: pino({ level: 'silent' }) });
  return { reports, done };
}

const turn = () =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

it('reports once the server is registered, also again, until it stops', async () => {
  const { reports, done } = reporting();
  reports.begin();
  reports.begin();
  await turn();
  expect(done).toEqual(['report']);
  await reports.close();
  expect(done).toEqual(['report', 'forget']);
});

it('reports nothing when the server is registered while it stops', async () => {
  const { reports, done } = reporting();
  await reports.close();
  reports.begin();
  await turn();
  await reports.close();
  expect(done).toEqual([]);
});
