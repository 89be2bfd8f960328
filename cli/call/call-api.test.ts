import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, it, onTestFinished } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { createRestClient } from '../../api/client/rest-client.ts';
import { recordingOf } from './call-api.ts';

it('does not wait for a recording longer than its caller wants to', async () => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    silent.close();
    silent.closeAllConnections();
  });
  const clock = new FakeClock();
  const rest = createRestClient({ url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`, apiKey: 'pk_1', clock });
  const stop = new AbortController();
  const recording = recordingOf(rest, 'call_1', { clock, withinMs: 60_000, signal: stop.signal });
  await once(silent, 'request');
  stop.abort();
  expect(await recording).toBeUndefined();
});
