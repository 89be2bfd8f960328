import { Client, Connection } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { expect, it, onTestFinished } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { temporalAddress } from '../../support/temporal.ts';
import type { Behaviour } from '../../support/webhook-sink.ts';
import { settled } from './dispatch-harness.ts';
import { retryHarness, waits, type RetryHarness } from './retry-harness.ts';

interface Case {
  readonly retryPolicy: object;
  readonly behaviour: Behaviour;
  readonly attempts: number;
  readonly requestTimeout?: string;
  /** Least and most milliseconds before each retry, as the attempt before it writes them down. */
  readonly waits: readonly (readonly [number, number])[];
  readonly reasons?: readonly string[];
  readonly state?: string;
}

const fixed = (maxRetries: number, delay: string) => ({ strategy: 'FixedDelay', maxRetries, delay });

const busyFor = (header: () => string, status: number): Behaviour => {
  let asked = false;
  return (_received, response) => {
    response.writeHead(asked ? 500 : status, asked ? {} : { 'retry-after': header() }).end();
    asked = true;
  };
};

/** Date in `Retry-After`. */
let busyUntil = '';

const cases: Readonly<Record<string, Case>> = {
  none: { retryPolicy: { maxRetries: 0 }, behaviour: 500, attempts: 1, waits: [] },
  zero: { retryPolicy: fixed(0, '1s'), behaviour: 500, attempts: 1, waits: [] },
  ten: { retryPolicy: fixed(10, '20ms'), behaviour: 503, attempts: 11, waits: Array.from({ length: 10 }, () => [18, 20] as const) },
  'at-once': {
    retryPolicy: fixed(3, '0s'),
    behaviour: 500,
    attempts: 4,
    waits: [
      [0, 0],
      [0, 0],
      [0, 0],
    ],
  },
  seconds: {
    retryPolicy: fixed(3, '2s'),
    behaviour: 500,
    attempts: 4,
    waits: [
      [1_800, 2_000],
      [1_800, 2_000],
      [1_800, 2_000],
    ],
  },
  growing: {
    retryPolicy: { strategy: 'ExponentialBackoff', maxRetries: 3, delay: '3s' },
    behaviour: 500,
    attempts: 4,
    waits: [
      [500, 1_000],
      [1_000, 2_000],
      [1_500, 3_000],
    ],
  },
  'retry-after': {
    retryPolicy: fixed(2, '10ms'),
    behaviour: busyFor(() => '3', 429),
    attempts: 3,
    waits: [
      [3_000, 3_000],
      [9, 10],
    ],
  },
  'retry-after-date': {
    retryPolicy: fixed(2, '10ms'),
    behaviour: busyFor(() => (busyUntil = new Date(Date.now() + 3_000).toUTCString()), 503),
    attempts: 3,
    waits: [
      [9, 3_000],
      [9, 10],
    ],
  },
  // The header can only push a retry later.
  'retry-after-sooner': { retryPolicy: fixed(1, '2s'), behaviour: busyFor(() => '0', 503), attempts: 2, waits: [[1_800, 2_000]] },
  redirects: { retryPolicy: fixed(1, '10ms'), behaviour: 302, attempts: 2, waits: [[9, 10]], reasons: ['redirect', 'redirect'] },
  gone: { retryPolicy: fixed(3, '10ms'), behaviour: 410, attempts: 1, waits: [], reasons: ['gone'] },
  hangs: {
    retryPolicy: fixed(1, '1200ms'),
    requestTimeout: '2s',
    behaviour: 'hang',
    attempts: 2,
    waits: [[1_080, 1_200]],
    reasons: ['timeout', 'timeout'],
  },
};

interface WrittenWait {
  readonly ms: number;
  /** Milliseconds since the epoch. */
  readonly due_at: number;
}

/**
 * Notes each wait as it is written: how long a retry really waits depends on the machine. @returns reads a subscription's waits, in order
 */
async function noteWaits(harness: RetryHarness): Promise<(uid: string) => Promise<readonly WrittenWait[]>> {
  await harness.sql(`CREATE TABLE public.waits (uid text, number int, ms float8, due_at float8);
    CREATE FUNCTION public.note_wait() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
      INSERT INTO public.waits VALUES (NEW.subscription_uid, NEW.attempts,
        extract(epoch FROM NEW.due_at - statement_timestamp()) * 1000, extract(epoch FROM NEW.due_at) * 1000);
      RETURN NULL;
    END $$;
    CREATE TRIGGER note_wait AFTER UPDATE ON parley.deliveries FOR EACH ROW
      WHEN (NEW.attempts > OLD.attempts AND NEW.ended_at IS NULL) EXECUTE FUNCTION public.note_wait()`);
  return (uid) => harness.sql<WrittenWait>('SELECT ms, due_at FROM public.waits WHERE uid = $1 ORDER BY number', [uid]);
}

it('makes exactly the attempts that each policy asks for, with its waits between them', async () => {
  const harness = await retryHarness();
  const { sink } = harness;
  const waitsOf = await noteWaits(harness);
  const uids = new Map<string, string>();
  for (const [name, { retryPolicy, behaviour, requestTimeout = '30s' }] of Object.entries(cases)) {
    sink.behave(`/${name}`, behaviour);
    const { metadata } = await harness.subscribe(name, { retryPolicy, requestTimeout, events: ['CallHandler.CallStarted'] });
    uids.set(name, metadata.uid);
  }
  await Promise.all([harness.dispatcher(), harness.worker()]);
  const [id] = await harness.emit(1);
  await settled(harness, { failed: Object.keys(cases).length });
  for (const [name, expected] of Object.entries(cases)) {
    const attempts = await harness.attempts(uids.get(name)!);
    expect({ name, numbers: attempts.map(({ number }) => number) }).toEqual({
      name,
      numbers: Array.from({ length: expected.attempts }, (_, index) => index + 1),
    });
    expect({ name, received: sink.received(`/${name}`).map((received) => received.id) }).toEqual({
      name,
      received: Array.from({ length: expected.attempts }, () => id),
    });
    if (expected.reasons !== undefined)
      expect({ name, reasons: attempts.map(({ reason }) => reason) }).toEqual({ name, reasons: expected.reasons });
    const written = await waitsOf(uids.get(name)!);
    expect({ name, waits: written.length }).toEqual({ name, waits: expected.waits.length });
    for (const [index, [least, most]] of expected.waits.entries()) {
      const { ms, due_at: dueAt } = written[index]!;
      expect({ name, index, ms, short: ms < least - 1, long: ms > most + 1 }).toEqual({ name, index, ms, short: false, long: false });
      expect(attempts[index + 1]!.started_at, `retry ${index} of ${name}`).toBeGreaterThanOrEqual(Math.floor(dueAt));
    }
  }
  const [pushed] = await waitsOf(uids.get('retry-after-date')!);
  expect(pushed!.due_at).toBeGreaterThanOrEqual(Date.parse(busyUntil) - 2);
  await eventually(async () => {
    const rows = await harness.sql<{ count: number }>(
      'SELECT count(*)::int AS count FROM parley.webhook_endpoints WHERE disabled_at IS NOT NULL',
    );
    expect(rows[0]?.count).toBe(1);
  });
});

it('keeps in Temporal nothing but ids, in one workflow with one activity that can be found by its subscription', async () => {
  const harness = await retryHarness();
  const { org, sink } = harness;
  const { metadata } = await harness.subscribe('a', {
    retryPolicy: fixed(2, '1500ms'),
    headers: [{ name: 'x-token', value: 'canary-5b1f' }],
    description: 'canary-5b1f',
  });
  sink.behave('/a', (_received, response) => void response.writeHead(500, { 'x-answer': 'canary-5b1f' }).end('canary-5b1f'));
  await Promise.all([harness.dispatcher(), harness.worker()]);
  const [id] = await harness.emit(1);
  await settled(harness, { failed: 1 });
  expect(sink.received('/a').map(({ headers }) => headers['x-token'])).toEqual(Array(3).fill('canary-5b1f'));

  const connection = await Connection.connect({ address: await temporalAddress() });
  onTestFinished(() => connection.close());
  const client = new Client({ connection });
  const handle = client.workflow.getHandle(`delivery/${metadata.uid}/${id}`);
  expect(await handle.result()).toBe('failed');
  const text = JSON.stringify(historyToJSON(await handle.fetchHistory()));
  for (const secret of ['canary-5b1f', Buffer.from('canary-5b1f').toString('base64').slice(0, -1), '127.0.0.1:', 'CallStarted', 'call_id'])
    expect(text).not.toContain(secret);
  expect(text.match(/EVENT_TYPE_ACTIVITY_TASK_SCHEDULED/g)).toHaveLength(1);
  expect(text.match(/EVENT_TYPE_TIMER_STARTED/g)).toBeNull();
  await eventually(async () => {
    const found: string[] = [];
    for await (const { workflowId } of client.workflow.list({
      query: `ParleySubscription = "${metadata.uid}" AND ParleyOrganization = "${org}"`,
    })) {
      found.push(workflowId);
    }
    // Under load the worker starts it again, for a delivery that it has just ended.
    expect(new Set(found)).toEqual(new Set([handle.workflowId]));
  });
});

it('wakes in time for a delivery that was sent again while its workflow slept', async () => {
  const harness = await retryHarness();
  const { org, sink, store } = harness;
  const { metadata } = await harness.subscribe('a', { retryPolicy: fixed(10, '1h') });
  sink.behave('/a', 500);
  await Promise.all([harness.dispatcher(), harness.worker()]);
  await harness.emit(1);
  await settled(harness, { retrying: 1 });
  await harness.subscribe('a', { retryPolicy: fixed(10, '5s') });
  const [{ id: deliveryId }] = (await harness.sql<{ id: string }>('SELECT id FROM parley.deliveries')) as [{ id: string }];
  await eventually(async () => {
    await store.webhooks.redeliver({ org, deliveryId });
    // The edit has arrived once the wait is the new one; with too many attempts before that, another series begins.
    await eventually(async () => expect(['retrying', 'failed']).toContain(Object.keys(await harness.states()).join()));
    const near = `SELECT FROM parley.deliveries WHERE state = 'retrying' AND due_at < now() + interval '1 minute'`;
    expect(await harness.sql(near)).toHaveLength(1);
  });
  sink.behave('/a', 200);
  await settled(harness, { succeeded: 1 });
  expect(waits(await harness.attempts(metadata.uid)).at(-1)).toBeGreaterThan(4_497);
});
