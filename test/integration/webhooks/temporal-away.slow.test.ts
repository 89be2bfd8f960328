import { expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { ownTemporal } from '../../support/own-temporal.ts';
import { settled } from './dispatch-harness.ts';
import { retryHarness, waits } from './retry-harness.ts';

/** A slow machine has attempts enough, too: none of these series runs out of them. */
const policy = { retryPolicy: { strategy: 'FixedDelay', maxRetries: 10, delay: '2s' }, requestTimeout: '5s' };

it('goes on with first attempts while Temporal is unavailable, and with what failed once it is back, by itself', async () => {
  const temporal = await ownTemporal();
  const harness = await retryHarness({ TEMPORAL_ADDRESS: temporal.address });
  const { sink } = harness;
  const failing = await harness.subscribe('failing', policy);
  await harness.subscribe('healthy');
  await Promise.all([harness.dispatcher(), harness.worker({ ready: false })]);
  sink.behave('/failing', 500);

  // Temporal is not there from the start. So few failures don't open the breaker.
  const before = await harness.emit(10);
  await sink.arrived('/healthy', 10);
  await settled(harness, { retry_pending: 10 }, failing.metadata.uid);
  sink.behave('/failing', 200);
  await temporal.start();
  await settled(harness, { succeeded: 10 }, failing.metadata.uid);
  expect(sink.ids('/failing')).toEqual(new Set(before));
  expect(sink.received('/failing')).toHaveLength(20);

  // Temporal is silent in the middle of a series.
  sink.behave('/failing', 500);
  const [id] = await harness.emit(1);
  await eventually(() => expect(sink.received('/failing').filter((received) => received.id === id)).toHaveLength(2));
  temporal.hang();
  await harness.emit(5);
  await settled(harness, { succeeded: 10, retrying: 1, retry_pending: 5 }, failing.metadata.uid);
  sink.behave('/failing', 200);
  await harness.emit(200);
  await sink.arrived('/healthy', 216);
  await eventually(async () => {
    // The worker may have the next attempt of the series already.
    const { retry_pending: waiting, retrying = 0, succeeded = 0 } = await harness.states(failing.metadata.uid);
    expect({ waiting, others: retrying + succeeded }).toEqual({ waiting: 5, others: 211 });
  });
  temporal.goOn();
  await settled(harness, { succeeded: 216 }, failing.metadata.uid);
  // No attempt was taken twice.
  expect((await harness.attempts(failing.metadata.uid)).filter(({ succeeded }) => succeeded)).toHaveLength(216);
  expect(sink.received('/healthy')).toHaveLength(216);
});

it('goes on with a series whose worker was killed in the middle of it', async () => {
  const harness = await retryHarness();
  const { sink } = harness;
  const { metadata } = await harness.subscribe('a', policy);
  sink.behave('/a', 500);
  await harness.dispatcher();
  const worker = harness.workerProcess();
  const ids = await harness.emit(5);
  await eventually(() => expect(sink.received('/a').length).toBeGreaterThanOrEqual(10));
  // Temporal goes away while attempts are under way: these are made, and never written down.
  sink.behave('/a', 'hang');
  await eventually(() => expect(sink.inFlight('/a')).toBe(5));
  const made = sink.received('/a').length;
  await worker.kill();
  await eventually(() => expect(sink.inFlight('/a')).toBe(0));
  sink.behave('/a', 200);
  await harness.worker();
  await settled(harness, { succeeded: 5 });
  expect(sink.ids('/a')).toEqual(new Set(ids));
  expect(sink.received('/a')).toHaveLength(made + 5);
  const attempts = await harness.attempts(metadata.uid);
  // The five that were cut off are missing: they were no attempts that anybody knows the end of.
  expect(attempts).toHaveLength(made);
  expect(attempts.filter(({ succeeded }) => succeeded)).toHaveLength(5);
  expect(waits(attempts.slice(0, 2))[0]).toBeGreaterThan(1_790);
});
