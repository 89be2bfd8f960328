import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it, onTestFinished } from 'vitest';

import { cacheFolder } from '../../../cli/dev/binaries/cache.ts';
import { binarySpec } from '../../../cli/dev/binaries/catalogue.ts';
import { currentPlatform } from '../../../cli/dev/binaries/platform.ts';
import { resolveBinary } from '../../../cli/dev/binaries/resolve.ts';
import { temporalPart } from '../../../cli/dev/parts/temporal.ts';
import { repositoryRoot } from '../../../cli/dev/repository.ts';
import { Supervisor } from '../../../cli/dev/supervisor.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { settled } from './dispatch-harness.ts';
import { retryHarness, waits } from './retry-harness.ts';

/** A Temporal server of this test's own, not yet started. */
async function ownTemporal() {
  const folder = await mkdtemp(join(tmpdir(), 'parley-temporal-away-'));
  const { path: binary } = await resolveBinary({
    spec: binarySpec('temporal'),
    env: process.env,
    cache: cacheFolder(process.env),
    platform: currentPlatform(),
    tools: join(repositoryRoot(), 'tools'),
    onProgress: () => undefined,
  });
  const port = await freePort();
  const runDir = join(folder, 'run');
  const pid = (): number => Number(readFileSync(join(runDir, 'temporal.pid'), 'utf8'));
  let running: Supervisor | undefined;
  const temporal = {
    address: `127.0.0.1:${port}`,
    async start() {
      running = new Supervisor({
        parts: [temporalPart({ binary, databaseFile: join(folder, 'temporal.db'), port })],
        logDir: join(folder, 'logs'),
        runDir,
      });
      await running.start();
    },
    /** Takes connections and answers nothing. */
    hang: () => void process.kill(pid(), 'SIGSTOP'),
    goOn: () => void process.kill(pid(), 'SIGCONT'),
  };
  onTestFinished(async () => {
    if (running !== undefined) temporal.goOn();
    await running?.stop();
    await rm(folder, { recursive: true, force: true });
  });
  return temporal;
}

const policy = { retryPolicy: { strategy: 'FixedDelay', maxAttempts: 3, maxDelay: '2s' }, requestTimeout: '500ms' };

it('goes on with first attempts while Temporal is away, and with what failed once it is back, by itself', async () => {
  const temporal = await ownTemporal();
  const harness = await retryHarness({ TEMPORAL_ADDRESS: temporal.address });
  const { sink } = harness;
  const failing = await harness.subscribe('failing', policy);
  await harness.subscribe('healthy');
  await Promise.all([harness.dispatcher(), harness.worker({ ready: false })]);
  sink.behave('/failing', 500);

  // Not there from the start. So few failures don't open the breaker.
  const before = await harness.emit(10);
  await sink.arrived('/healthy', 10);
  await settled(harness, { retry_pending: 10 }, failing.metadata.uid);
  sink.behave('/failing', 200);
  await temporal.start();
  await settled(harness, { succeeded: 10 }, failing.metadata.uid);
  expect(sink.ids('/failing')).toEqual(new Set(before));
  expect(sink.received('/failing')).toHaveLength(20);

  // Silent in the middle of a series.
  sink.behave('/failing', 500);
  const [id] = await harness.emit(1);
  await eventually(() => expect(sink.received('/failing').filter((received) => received.id === id)).toHaveLength(2));
  temporal.hang();
  await harness.emit(5);
  await settled(harness, { succeeded: 10, retrying: 1, retry_pending: 5 }, failing.metadata.uid);
  sink.behave('/failing', 200);
  await harness.emit(200);
  await sink.arrived('/healthy', 216);
  await settled(harness, { succeeded: 210, retrying: 1, retry_pending: 5 }, failing.metadata.uid);
  temporal.goOn();
  await settled(harness, { succeeded: 216 }, failing.metadata.uid);
  // Nothing was taken twice.
  expect((await harness.attempts(failing.metadata.uid)).filter(({ succeeded }) => succeeded)).toHaveLength(216);
  expect(sink.received('/healthy')).toHaveLength(216);
}, 180_000);

it('goes on with a series whose worker was killed in the middle of it', async () => {
  const harness = await retryHarness();
  const { sink } = harness;
  const { metadata } = await harness.subscribe('a', { ...policy, requestTimeout: '5s' });
  sink.behave('/a', 500);
  await harness.dispatcher();
  const worker = harness.workerProcess();
  const ids = await harness.emit(5);
  await eventually(() => expect(sink.received('/a').length).toBeGreaterThanOrEqual(10));
  // While attempts are under way: these are made, and never written down.
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
}, 180_000);
