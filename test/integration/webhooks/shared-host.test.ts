/** Delivers to several subscriptions and organisations behind one host and port, as at a gateway for webhooks. */
import { expect, it } from 'vitest';

import type { Behaviour } from '../../support/webhook-sink.ts';
import { dispatchHarness, settled } from './dispatch-harness.ts';

/** Number of deliveries to each subscription. */
const DELIVERIES = Number(process.env['PARLEY_TEST_DELIVERIES'] ?? 100);

/** Closes the connection right after its answer, and doesn't say so in it. */
const closes: Behaviour = (_received, response, { socket }) => response.writeHead(200).end(() => setImmediate(() => socket.destroy()));

const neverEnds: Behaviour = (_received, response) => void response.writeHead(200, { 'content-length': 100 }).write('x');

it('lets no receiver cost another a delivery, whatever it does with its connections', async () => {
  const harness = await dispatchHarness();
  const { sink } = harness;
  const other = await harness.organization();
  sink.behave('/closes', closes);
  sink.behave('/never-ends', neverEnds);
  const [keeps, theirs, closing, endless] = await Promise.all([
    harness.subscribe('keeps'),
    other.subscribe('theirs'),
    harness.subscribe('closes'),
    // The delivery is tried again where the machine is too busy for a status within that time.
    harness.subscribe('never-ends', { requestTimeout: '200ms', retryPolicy: { strategy: 'FixedDelay', maxRetries: 10, delay: '0s' } }),
  ]);
  await harness.dispatcher();
  await Promise.all([harness, other].map((organization) => organization.emit(DELIVERIES, { atOnce: 20 })));
  await settled(harness, { succeeded: 4 * DELIVERIES });
  const attemptsOf = ({ metadata }: typeof keeps) =>
    harness.sql<{ number: number; reason: string; status_code: number; message: string }>(
      'SELECT number, reason, status_code, message FROM parley.delivery_attempts WHERE subscription_uid = $1',
      [metadata.uid],
    );
  for (const subscription of [keeps, theirs, closing]) {
    expect(sink.ids(`/${subscription.metadata.name}`).size).toBe(DELIVERIES);
    const attempts = await attemptsOf(subscription);
    expect(attempts).toHaveLength(DELIVERIES);
    expect(new Set(attempts.map(({ number, reason, status_code }) => `${number} ${reason} ${status_code}`))).toEqual(new Set(['1 ok 200']));
  }
  // No connection of the other organisation was ever closed.
  expect((await attemptsOf(theirs)).filter(({ message }) => message !== '')).toEqual([]);
  expect((await attemptsOf(endless)).filter(({ status_code }) => status_code === 200)).toHaveLength(DELIVERIES);
});
