/**
 * Tells claims of living dispatchers from those of dead ones. Each dispatcher holds an advisory lock in the session that listens for events,
 * under a number that its claims carry. A process that is killed loses its session at once, and with it the lock; one whose machine is gone
 * loses it when Postgres misses its keepalives. Claims that carry no number wait for their time.
 */
import { randomInt } from 'node:crypto';

import type { Clock } from '../../platform/clock.ts';
import { LONGEST_RETRY_MS } from '../channel-listener.ts';
import { PENDING_SUBSCRIPTIONS } from './claims.ts';
import type { Statements } from './statements.ts';

/** The first key of the locks; the second one is the number of the owner. */
const LOCK_CLASS = 0x7061_7264;

/** What ends one session may end all: for this long, in milliseconds, the others may be on their way back. */
const ALL_BACK_MS = 2 * LONGEST_RETRY_MS;

export class ClaimOwner {
  readonly #number = randomInt(1, 2 ** 31);
  readonly #clock: Clock;
  #isHeld = false;
  /** From when on others may be judged by their sessions. */
  #judgesFrom = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Statements that begin the session. */
  readonly session: readonly string[] = [
    // Ignored on a Unix socket.
    'SET tcp_keepalives_idle = 2',
    'SET tcp_keepalives_interval = 1',
    'SET tcp_keepalives_count = 3',
    // Shared: Postgres may not have noticed the end of the session before.
    `SELECT pg_advisory_lock_shared(${LOCK_CLASS}, ${this.#number})`,
  ];

  held(): void {
    this.#isHeld = true;
  }

  lost(): void {
    this.#isHeld = false;
    this.#judgesFrom = this.#clock.monotonic() + ALL_BACK_MS;
  }

  /** The number for new claims; null while no session would show the death of this process. */
  get number(): number | null {
    return this.#isHeld ? this.#number : null;
  }

  get judges(): boolean {
    return this.#isHeld && this.#clock.monotonic() >= this.#judgesFrom;
  }
}

const OWNERS = `
  SELECT objid::bigint::int AS owner FROM pg_locks
  WHERE locktype = 'advisory' AND granted AND classid::bigint = ${LOCK_CLASS} AND objsubid = 2
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

const FREE = `${PENDING_SUBSCRIPTIONS}, owners AS MATERIALIZED (${OWNERS} UNION SELECT unnest($1::int[])),
  freed AS (
    UPDATE parley.deliveries d SET due_at = statement_timestamp(), dispatcher = NULL
    FROM subscriptions s
    WHERE d.subscription_uid = s.uid AND d.state = 'pending' AND d.due_at > statement_timestamp()
      AND d.dispatcher IS NOT NULL AND d.dispatcher NOT IN (SELECT owner FROM owners)
    RETURNING d.subscription_uid
  )
  SELECT DISTINCT subscription_uid AS uid FROM freed`;

export async function claimOwners(statements: Statements): Promise<ReadonlySet<number>> {
  const { rows } = await statements.query<{ owner: number }>(OWNERS, [], { prepared: true });
  return new Set(rows.map(({ owner }) => owner));
}

export async function freeClaims(statements: Statements, except: ReadonlySet<number>): Promise<readonly string[]> {
  const { rows } = await statements.query<{ uid: string }>(FREE, [[...except]], { prepared: true });
  return rows.map(({ uid }) => uid);
}
