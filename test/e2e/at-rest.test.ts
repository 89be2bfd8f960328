/** The operator writes once for a change and never without one. Counted by the API server's own metrics. */
import { setTimeout as delay } from 'node:timers/promises';

import { expect, inject, it } from 'vitest';

import { anAgent } from '../support/builders.ts';
import { eventually } from '../support/eventually.ts';
import { stackClient } from '../support/stack.ts';

const client = stackClient(inject('stack'));

/**
 * Writes to the six kinds (spec, status, finalizers) that the API server has answered so far; without the status of subscriptions, to which
 * the dispatcher copies what it sees of endpoints that are tried again and again.
 */
async function writes(): Promise<number> {
  const { stdout } = await client.kubectl(['get', '--raw', '/metrics']);
  return stdout
    .split('\n')
    .filter(
      (line) =>
        line.startsWith('apiserver_request_total{') &&
        line.includes('group="parley.dev"') &&
        !line.includes('resource="webhooksubscriptions"') &&
        /verb="(APPLY|PATCH|PUT|POST|DELETE)"/.test(line),
    )
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

it('writes nothing for 60 s when nothing changes', async () => {
  await eventually(async () => {
    const before = await writes();
    await delay(5_000);
    expect(await writes()).toBe(before);
  });
  const before = await writes();
  await delay(60_000);
  expect((await writes()) - before).toBe(0);
});

it('answers one spec change with one status write', async () => {
  await client.kubectl(['apply', '--server-side', '-f', '-'], { input: anAgent('one-write') });
  await client.kubectl(['wait', '--for=condition=Ready', 'agent/one-write', '--timeout=100s']);
  await delay(3_000);
  const before = await writes();
  await client.kubectl(['apply', '--server-side', '-f', '-'], { input: anAgent('one-write', undefined, { welcomeMessage: 'Hello' }) });
  await client.kubectl(['wait', '--for=jsonpath={.status.observedGeneration}=2', 'agent/one-write', '--timeout=100s']);
  await delay(3_000);
  expect((await writes()) - before, 'the apply itself and one status write').toBe(2);
  await client.kubectl(['delete', 'agent/one-write']);
});
