import { HOUR_MS } from '../../platform/time.ts';
import type { Transaction } from '../database.ts';
import { withoutNulls, type Statements } from './statements.ts';
import type { AttemptResult, AttemptCounts, BreakerChange, Disabling, EndpointRecord, NewEvent } from './types.ts';

export const ENDPOINT_COLUMNS = `subscription_uid AS "subscriptionUid", org, breaker, probe_at AS "probeAt", opened, ramp, ramp_left AS "rampLeft",
  last_success_at AS "lastSuccessAt", last_failure_at AS "lastFailureAt", consecutive_failures AS "consecutiveFailures", failing_since AS "failingSince",
  failure_slots AS "failureSlots", disabled_at AS "disabledAt", disabled_reason AS "disabledReason", disabled_generation::float8 AS "disabledGeneration",
  version::float8 AS version, changed_at AS "changedAt", status_written_at AS "statusWrittenAt"`;

/** Milliseconds after which a further success is stored: most deliveries store nothing. */
const SUCCESS_EVERY_MS = 10_000;
const SLOT_MS = 12 * HOUR_MS;
/** Most attempts of a window that are counted: the latest of a busy endpoint say enough. */
const WINDOW_ATTEMPTS = 1_000;

/** The outcomes of one batch for one endpoint. */
interface Outcomes {
  readonly org: string;
  successAt: number | undefined;
  failureAt: number | undefined;
  /** Failures after the last success; `firstFailureAt` is the first of them. */
  failures: number;
  firstFailureAt: number | undefined;
  readonly slots: Set<number>;
}

const note = `
  INSERT INTO parley.webhook_endpoints AS e
    (subscription_uid, org, last_success_at, last_failure_at, consecutive_failures, failing_since, failure_slots, last_failure_slot)
  SELECT g.uid, g.org, 'epoch'::timestamptz + g.success_at * interval '1 millisecond', 'epoch'::timestamptz + g.failure_at * interval '1 millisecond',
    g.failures, 'epoch'::timestamptz + g.first_failure_at * interval '1 millisecond', g.slots, g.last_slot
  FROM unnest($1::text[], $2::text[], $3::float8[], $4::float8[], $5::int[], $6::float8[], $7::int[], $8::int[])
    AS g (uid, org, success_at, failure_at, failures, first_failure_at, slots, last_slot) ORDER BY g.uid
  ON CONFLICT (subscription_uid) DO UPDATE SET
    last_success_at = greatest(e.last_success_at, excluded.last_success_at),
    last_failure_at = greatest(e.last_failure_at, excluded.last_failure_at),
    consecutive_failures = excluded.consecutive_failures + CASE WHEN excluded.last_success_at IS NULL THEN e.consecutive_failures ELSE 0 END,
    failing_since = CASE WHEN excluded.last_success_at IS NULL THEN coalesce(e.failing_since, excluded.failing_since) ELSE excluded.failing_since END,
    failure_slots = CASE
      WHEN excluded.last_success_at IS NOT NULL OR e.last_failure_slot IS NULL THEN excluded.failure_slots
      WHEN excluded.last_failure_slot > e.last_failure_slot
        THEN e.failure_slots + least(excluded.failure_slots, excluded.last_failure_slot - e.last_failure_slot)
      ELSE e.failure_slots END,
    last_failure_slot = CASE WHEN excluded.last_success_at IS NULL THEN greatest(e.last_failure_slot, excluded.last_failure_slot)
      ELSE excluded.last_failure_slot END,
    changed_at = clock_timestamp()
  RETURNING ${ENDPOINT_COLUMNS}`;

/** The stored health of endpoints before a batch. */
type Standing = ReadonlyMap<string, { readonly failures: number; readonly success_at: Date | null }>;

export async function standingOf(transaction: Transaction, subscriptionUids: readonly string[]): Promise<Standing> {
  const { rows } = await transaction.query<{ uid: string; failures: number; success_at: Date | null }>(
    `SELECT subscription_uid AS uid, consecutive_failures AS failures, last_success_at AS success_at
     FROM parley.webhook_endpoints WHERE subscription_uid = ANY ($1::text[])`,
    [subscriptionUids],
    { prepared: true },
  );
  return new Map(rows.map((row) => [row.uid, row]));
}

/** The endpoints to store: all that failed or recovered, and from time to time a healthy one. */
export type Noteworthy = readonly (readonly [uid: string, outcomes: Outcomes])[];

export function noteworthy(results: readonly AttemptResult[], standing: Standing): Noteworthy {
  return [...summarize(results)].filter(([uid, { failureAt, successAt = 0 }]) => {
    const row = standing.get(uid);
    return (
      failureAt !== undefined || row === undefined || row.failures > 0 || successAt - (row.success_at?.getTime() ?? 0) > SUCCESS_EVERY_MS
    );
  });
}

/** @returns the endpoints as they are now */
export async function noteOutcomes(
  transaction: Transaction,
  changed: Noteworthy,
  { last }: { readonly last: boolean },
): Promise<readonly EndpointRecord[]> {
  if (changed.length === 0) return [];
  const { rows } = await transaction.query<EndpointRecord>(
    note,
    [
      changed.map(([uid]) => uid),
      changed.map(([, { org }]) => org),
      changed.map(([, { successAt }]) => successAt ?? null),
      changed.map(([, { failureAt }]) => failureAt ?? null),
      changed.map(([, { failures }]) => failures),
      changed.map(([, { firstFailureAt }]) => firstFailureAt ?? null),
      changed.map(([, { slots }]) => slots.size),
      changed.map(([, { slots }]) => (slots.size === 0 ? null : Math.max(...slots))),
    ],
    { prepared: true, last },
  );
  return rows.map(withoutNulls);
}

function summarize(results: readonly AttemptResult[]): ReadonlyMap<string, Outcomes> {
  const outcomes = new Map<string, Outcomes>();
  for (const { subscriptionUid, org, startedAt, succeeded } of results.toSorted((a, b) => a.startedAt - b.startedAt)) {
    const at = Math.trunc(startedAt);
    const sum = outcomes.get(subscriptionUid) ?? {
      org,
      successAt: undefined,
      failureAt: undefined,
      failures: 0,
      firstFailureAt: undefined,
      slots: new Set<number>(),
    };
    outcomes.set(subscriptionUid, sum);
    if (succeeded) {
      sum.successAt = at;
      sum.failures = 0;
      sum.firstFailureAt = undefined;
      sum.slots.clear();
      continue;
    }
    sum.failureAt = at;
    sum.failures += 1;
    sum.firstFailureAt ??= at;
    sum.slots.add(Math.floor(at / SLOT_MS));
  }
  return outcomes;
}

export async function readEndpoints(
  statements: Statements,
  { changedSince, uids }: { readonly changedSince?: Date | undefined; readonly uids?: readonly string[] | undefined } = {},
): Promise<readonly EndpointRecord[]> {
  const { rows } = await statements.query<EndpointRecord>(
    `SELECT ${ENDPOINT_COLUMNS} FROM parley.webhook_endpoints
     WHERE ($1::timestamptz IS NULL OR changed_at >= $1) AND ($2::text[] IS NULL OR subscription_uid = ANY ($2)) ORDER BY subscription_uid`,
    [changedSince ?? null, uids ?? null],
  );
  return rows.map(withoutNulls);
}

export async function changeBreaker(statements: Statements, change: BreakerChange): Promise<EndpointRecord | undefined> {
  const { org, subscriptionUid, version, breaker, probeInMs, opened, ramp, rampLeft } = change;
  const { rows } = await statements.query<EndpointRecord>(
    `INSERT INTO parley.webhook_endpoints AS e (subscription_uid, org, breaker, probe_at, opened, ramp, ramp_left, version)
     SELECT $1, $2, $4, statement_timestamp() + $5::float8 * interval '1 millisecond', $6, $7, $8, 1
     WHERE $3::bigint = 0 OR EXISTS (SELECT FROM parley.webhook_endpoints WHERE subscription_uid = $1)
     ON CONFLICT (subscription_uid) DO UPDATE SET breaker = excluded.breaker, probe_at = excluded.probe_at, opened = excluded.opened,
       ramp = excluded.ramp, ramp_left = excluded.ramp_left, version = e.version + 1, changed_at = clock_timestamp()
     WHERE e.version = $3 RETURNING ${ENDPOINT_COLUMNS}`,
    [subscriptionUid, org, version, breaker, probeInMs ?? null, opened, ramp, rampLeft],
  );
  return rows[0] && withoutNulls(rows[0]);
}

export async function takeProbe(statements: Statements, subscriptionUid: string, leaseMs: number): Promise<boolean> {
  const { rowCount } = await statements.query(
    `UPDATE parley.webhook_endpoints SET probe_at = statement_timestamp() + $2 * interval '1 millisecond', changed_at = clock_timestamp()
     WHERE subscription_uid = $1 AND breaker = 'open' AND probe_at <= statement_timestamp()`,
    [subscriptionUid, leaseMs],
  );
  return rowCount > 0;
}

export async function takeRamp(statements: Statements, subscriptionUid: string, wanted: number): Promise<number> {
  const { rows } = await statements.query<{ granted: number }>(
    `WITH held AS (
       SELECT subscription_uid, least(ramp_left, $2::int) AS granted FROM parley.webhook_endpoints
       WHERE subscription_uid = $1 AND breaker = 'half_open' AND ramp_left > 0 FOR UPDATE
     )
     UPDATE parley.webhook_endpoints e SET ramp_left = e.ramp_left - h.granted, changed_at = clock_timestamp()
     FROM held h WHERE e.subscription_uid = h.subscription_uid RETURNING h.granted`,
    [subscriptionUid, wanted],
  );
  return rows[0]?.granted ?? 0;
}

export async function attemptWindows(statements: Statements, uids: readonly string[], windowMs: number): Promise<readonly AttemptCounts[]> {
  const { rows } = await statements.query<{ uid: string; attempts: number; failures: number; events: number }>(
    `SELECT w.uid, a.attempts, a.failures, a.events
     FROM unnest($1::text[]) AS w (uid)
     CROSS JOIN LATERAL (
       SELECT count(*)::int AS attempts, (count(*) FILTER (WHERE NOT r.succeeded))::int AS failures, count(DISTINCT r.delivery_id)::int AS events
       FROM (
         SELECT t.succeeded, t.delivery_id FROM parley.delivery_attempts t
         WHERE t.subscription_uid = w.uid AND t.started_at >= statement_timestamp() - $2 * interval '1 millisecond'
         ORDER BY t.started_at DESC LIMIT ${WINDOW_ATTEMPTS}) r) a
     WHERE a.attempts > 0`,
    [uids, windowMs],
    { prepared: true },
  );
  return rows.map(({ uid, attempts, failures, events }) => ({ subscriptionUid: uid, attempts, failures, events }));
}

export async function disableEndpoint(
  transaction: Transaction,
  endpoint: { readonly org: string; readonly subscriptionUid: string } & Disabling,
  write: (transaction: Transaction, events: readonly NewEvent[]) => Promise<void>,
): Promise<boolean> {
  const { org, subscriptionUid, reason, generation, event } = endpoint;
  const { rowCount } = await transaction.query(
    `INSERT INTO parley.webhook_endpoints AS e (subscription_uid, org, disabled_at, disabled_reason, disabled_generation, version)
     VALUES ($1, $2, statement_timestamp(), $3, $4, 1)
     ON CONFLICT (subscription_uid) DO UPDATE SET disabled_at = excluded.disabled_at, disabled_reason = excluded.disabled_reason,
       disabled_generation = excluded.disabled_generation, version = e.version + 1, changed_at = clock_timestamp()
     WHERE e.disabled_at IS NULL`,
    [subscriptionUid, org, reason.slice(0, 256), generation ?? null],
  );
  if (rowCount === 0) return false;
  if (event !== undefined) await write(transaction, [event]);
  return true;
}

/** Closes the breaker and forgets failures: the next attempts decide. */
const STARTED_OVER = `consecutive_failures = 0, failing_since = NULL, failure_slots = 0, last_failure_slot = NULL, breaker = 'closed', probe_at = NULL,
  opened = 0, ramp = 0, ramp_left = 0, version = version + 1, changed_at = clock_timestamp()`;

export async function enableEndpoint(statements: Statements, subscriptionUid: string): Promise<boolean> {
  const { rowCount } = await statements.query(
    `UPDATE parley.webhook_endpoints SET disabled_at = NULL, disabled_reason = NULL, disabled_generation = NULL, ${STARTED_OVER}
     WHERE subscription_uid = $1 AND disabled_at IS NOT NULL`,
    [subscriptionUid],
  );
  return rowCount > 0;
}

export async function forgetFailures(statements: Statements, subscriptionUid: string): Promise<EndpointRecord | undefined> {
  const { rows } = await statements.query<EndpointRecord>(
    `UPDATE parley.webhook_endpoints SET ${STARTED_OVER}
     WHERE subscription_uid = $1 AND (breaker <> 'closed' OR consecutive_failures > 0) RETURNING ${ENDPOINT_COLUMNS}`,
    [subscriptionUid],
  );
  return rows[0] && withoutNulls(rows[0]);
}
