/** Records attempts: their rows, deliveries and endpoints, in one transaction. */
import type { Transaction } from '../database.ts';
import { disableEndpoint, noteOutcomes, noteworthy, standingOf } from './endpoints.ts';
import { insertEventsAsDispatcher } from './events.ts';
import { spanOf } from './statements.ts';
import { advance, type DeliveryStep } from './advance.ts';
import type { AttemptResult, DeliveryState, RecordedAttempt, RecordResult } from './types.ts';

interface LockedRow {
  readonly id: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly series_start: number;
}

interface KnownRow {
  readonly delivery_id: string;
  readonly number: number;
  readonly started_at: Date;
}

const WRITE_STATEMENT = `
  WITH attempts AS (
    INSERT INTO parley.delivery_attempts (delivery_id, number, org, subscription_uid, started_at, duration_ms, succeeded, reason, status_code, message)
    SELECT a.delivery_id, a.number, a.org, a.subscription_uid, 'epoch'::timestamptz + a.started_at * interval '1 millisecond', a.duration_ms,
      a.succeeded, a.reason, a.status_code, a.message
    FROM unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::float8[], $6::int[], $7::bool[], $8::text[], $9::int[], $10::text[])
      AS a (delivery_id, number, org, subscription_uid, started_at, duration_ms, succeeded, reason, status_code, message)
  )
  UPDATE parley.deliveries d SET state = g.state, reason = g.reason, attempts = g.attempts, series_start = g.series_start,
    due_at = CASE WHEN g.keep THEN d.due_at ELSE statement_timestamp() + g.delay_ms * interval '1 millisecond' END,
    ended_at = CASE WHEN g.keep THEN d.ended_at WHEN g.ended THEN statement_timestamp() END,
    dispatcher = CASE WHEN g.keep THEN d.dispatcher END
  FROM (
    SELECT * FROM unnest($11::uuid[], $12::text[], $13::text[], $14::int[], $15::int[], $16::float8[], $17::bool[], $18::bool[])
      AS g (id, state, reason, attempts, series_start, delay_ms, keep, ended) LIMIT 2000) g
  WHERE d.id = g.id`;

/** Most results in one round: they are the lists of one statement. */
export const LARGEST_RECORD = 2_000;

export async function record(transaction: Transaction, results: readonly AttemptResult[]): Promise<RecordResult> {
  if (results.length === 0) return { attempts: [], endpoints: [], disabled: [] };
  const [steps, standing] = await Promise.all([
    lock(transaction, results),
    standingOf(transaction, [...new Set(results.map(({ subscriptionUid }) => subscriptionUid))]),
  ]);
  const attempts: RecordedAttempt[] = [];
  const fresh: { readonly result: AttemptResult; readonly number: number }[] = [];
  for (const result of results) {
    const step = steps.get(result.deliveryId);
    if (step === undefined) {
      attempts.push({ deliveryId: result.deliveryId, outcome: 'unknown', number: 0, state: undefined });
      continue;
    }
    const startedAt = Math.trunc(result.startedAt);
    const known = step.known.get(startedAt);
    if (known === undefined) {
      advance(step, result);
      step.known.set(startedAt, step.attempts);
      fresh.push({ result, number: step.attempts });
    }
    attempts.push({
      deliveryId: result.deliveryId,
      outcome: known === undefined ? 'new' : 'known',
      number: known ?? step.attempts,
      state: step.state,
    });
  }
  if (fresh.length === 0) return { attempts, endpoints: [], disabled: [] };
  const news = fresh.map(({ result }) => result);
  const changed = noteworthy(news, standing);
  const disabling = news.some(({ disable }) => disable !== undefined);
  const [, endpoints] = await Promise.all([
    transaction.query(WRITE_STATEMENT, [...attemptColumns(fresh), ...deliveryColumns(steps)], {
      prepared: true,
      last: changed.length === 0 && !disabling,
    }),
    noteOutcomes(transaction, changed, { last: !disabling }),
  ]);
  const disabled: string[] = [];
  for (const { org, subscriptionUid, disable } of news) {
    if (disable === undefined || disabled.includes(subscriptionUid)) continue;
    if (await disableEndpoint(transaction, { org, subscriptionUid, ...disable }, insertEventsAsDispatcher)) disabled.push(subscriptionUid);
  }
  // Each has the state that the last of its attempts left, also where the first of them reported an intermediate one.
  return { attempts: attempts.map((attempt) => recorded(attempt, steps.get(attempt.deliveryId))), endpoints, disabled };
}

function recorded({ deliveryId, outcome, number }: RecordedAttempt, step: DeliveryStep | undefined): RecordedAttempt {
  return { deliveryId, outcome, number, state: step?.state };
}

/** Locks the deliveries, in an order that all share, and finds their stored attempts. */
async function lock(transaction: Transaction, results: readonly AttemptResult[]): Promise<ReadonlyMap<string, DeliveryStep>> {
  const ids = [...new Set(results.map(({ deliveryId }) => deliveryId))].sort();
  const span = spanOf(ids);
  const { rows } = await transaction.query<LockedRow>(
    `SELECT id, state, attempts, series_start FROM parley.deliveries
     WHERE id = ANY ($1::uuid[]) AND id BETWEEN $2 AND $3 ORDER BY id FOR UPDATE`,
    [ids, ...span],
    { prepared: true },
  );
  const steps = new Map<string, DeliveryStep>(
    rows.map((row) => [
      row.id,
      {
        state: row.state,
        attempts: row.attempts,
        seriesStart: row.series_start,
        known: new Map<number, number>(),
        changed: undefined,
        counted: false,
      },
    ]),
  );
  const tried = rows.filter(({ attempts }) => attempts > 0).map(({ id }) => id);
  if (tried.length === 0) return steps;
  const known = await transaction.query<KnownRow>(
    `SELECT delivery_id, number, started_at FROM parley.delivery_attempts
     WHERE delivery_id = ANY ($1::uuid[]) AND delivery_id BETWEEN $2 AND $3`,
    [tried, ...spanOf(tried)],
    { prepared: true },
  );
  for (const row of known.rows) steps.get(row.delivery_id)?.known.set(row.started_at.getTime(), row.number);
  return steps;
}

function attemptColumns(fresh: readonly { readonly result: AttemptResult; readonly number: number }[]): readonly unknown[] {
  const results = fresh.map(({ result }) => result);
  return [
    results.map(({ deliveryId }) => deliveryId),
    fresh.map(({ number }) => number),
    results.map(({ org }) => org),
    results.map(({ subscriptionUid }) => subscriptionUid),
    results.map(({ startedAt }) => Math.trunc(startedAt)),
    results.map(({ durationMs }) => Math.max(0, Math.round(durationMs))),
    results.map(({ succeeded }) => succeeded),
    results.map(({ reason }) => reason.slice(0, 64)),
    results.map(({ statusCode }) => statusCode ?? null),
    // Characters that Postgres can't keep in a text are no part of a message for a person.
    results.map(({ message = '' }) => Array.from(message.replaceAll('\u0000', '').toWellFormed()).slice(0, 1024).join('')),
  ];
}

function deliveryColumns(steps: ReadonlyMap<string, DeliveryStep>): readonly unknown[] {
  const changed = [...steps].filter(([, { counted }]) => counted);
  return [
    changed.map(([id]) => id),
    changed.map(([, { state }]) => state),
    changed.map(([, { changed: change }]) => change?.reason ?? null),
    changed.map(([, { attempts }]) => attempts),
    changed.map(([, { seriesStart }]) => seriesStart),
    changed.map(([, { changed: change }]) => change?.delayMs ?? null),
    changed.map(([, { changed: change }]) => change === undefined),
    changed.map(([, { state }]) => state === 'succeeded' || state === 'failed' || state === 'skipped'),
  ];
}
