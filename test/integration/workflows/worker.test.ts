import { setImmediate } from 'node:timers/promises';

import { Client, Connection } from '@temporalio/client';
import { expect, it } from 'vitest';

import { loadConfig } from '../../../platform/config/config.ts';
import { createLogger } from '../../../platform/logging.ts';
import { createRegistry } from '../../../platform/metrics.ts';
import { migrate } from '../../../store/index.ts';
import type { housekeeping } from '../../../workflows/catalogue.ts';
import { runWorker } from '../../../workflows/main.ts';
import { eventually } from '../../support/eventually.ts';
import { undescribedMetrics } from '../../support/metrics-reference.ts';
import { ownTemporal } from '../../support/own-temporal.ts';
import { database, migratedDatabase, openPatientStore } from '../../support/postgres.ts';
import { unique } from './support.ts';

/** Starts a worker in this process, stopped through its signal. */
function startWorker(env: Readonly<Record<string, string>>) {
  const stopping = new AbortController();
  const port = Promise.withResolvers<number>();
  const lines: string[] = [];
  const registry = createRegistry({ role: 'worker', version: 'test' });
  const running = runWorker({
    config: loadConfig({ PARLEY_WORKER_PORT: '0', PARLEY_SHUTDOWN_TIMEOUT_MS: '30000', TEMPORAL_TASK_QUEUE: unique('worker'), ...env }),
    logger: createLogger({ role: 'worker', level: 'info', destination: { write: (line) => void lines.push(line) } }),
    registry,
    signal: stopping.signal,
    scheduleId: unique('worker'),
    onListening: port.resolve,
  });
  running.catch(port.reject);
  // A worker that refuses to start reports it to its starter; its port may not be probed.
  port.promise.catch(() => undefined);
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${await port.promise}${path}`);
    return { status: response.status, text: await response.text() };
  };
  return { get, lines, registry, stop: () => (stopping.abort(), running) };
}

it('waits for Temporal without ever exiting, finds it again after it was unavailable, and stops in order', async () => {
  const { url } = await migratedDatabase();
  const temporal = await ownTemporal();
  const { address } = temporal;
  const worker = startWorker({ DATABASE_URL: url, TEMPORAL_ADDRESS: address });
  try {
    const away = await eventually(async () => {
      const ready = await worker.get('/readyz');
      expect(ready.text).toContain(`temporal: ${address}`);
      return ready;
    });
    expect(away.status).toBe(503);
    expect((await worker.get('/healthz')).status).toBe(200);

    await temporal.start();
    await eventually(async () => expect((await worker.get('/readyz')).text).toBe('ok\n'));
    expect((await worker.get('/metrics')).text).toContain('parley_worker_ready 1');
    expect(await undescribedMetrics('Worker', worker.registry)).toEqual([]);

    await temporal.stop();
    await eventually(async () => expect((await worker.get('/readyz')).text).toContain('does not answer'));
    await temporal.start();
    await eventually(async () => expect((await worker.get('/readyz')).text).toBe('ok\n'));

    const connection = await Connection.connect({ address });
    try {
      const client = new Client({ connection });
      const schedule = await eventually(async () => {
        for await (const { scheduleId } of client.schedule.list()) return client.schedule.getHandle(scheduleId);
        throw new Error('no schedule yet');
      });
      await schedule.trigger();
      const { workflowId, firstExecutionRunId } = await eventually(async () => {
        const [recent] = (await schedule.describe()).info.recentActions;
        if (recent?.action.type !== 'startWorkflow') throw new Error('not started yet');
        return recent.action.workflow;
      });
      expect(await client.workflow.getHandle<typeof housekeeping>(workflowId, firstExecutionRunId).result()).toMatchObject({
        organizations: 0,
      });
    } finally {
      await connection.close();
    }
  } finally {
    await worker.stop();
    await temporal.stop();
  }
  await expect(worker.get('/healthz')).rejects.toThrow('fetch failed');
  expect(worker.lines.at(-1)).toContain('"stopped"');
  // Temporal's native part may log that its server was gone.
  expect(worker.lines.filter((line) => line.includes('"error"') && !line.includes('"temporal":{'))).toEqual([]);
});

it('is unready without the migrations, says so, and becomes ready when they come', async () => {
  const { url } = await database();
  const temporal = await ownTemporal();
  await temporal.start();
  const worker = startWorker({ DATABASE_URL: url, TEMPORAL_ADDRESS: temporal.address });
  try {
    await eventually(async () => expect((await worker.get('/readyz')).text).toMatch(/postgres: .*parley migrate/));
    await migrate({ databaseUrl: url });
    const store = openPatientStore(url);
    await store.health();
    await store.close();
    await eventually(async () => expect((await worker.get('/readyz')).text).toBe('ok\n'));
  } finally {
    // The worker is asked to stop while it may still be connecting.
    await setImmediate();
    await worker.stop();
    await temporal.stop();
  }
});

it('needs an address of Postgres, and says which variable', async () => {
  await expect(startWorker({}).stop()).rejects.toThrow('DATABASE_URL');
});
