/** The rows of calls: registers them, moves them from state to state, finds them. */
import type { FinishReason } from '../../platform/finish-reasons.ts';
import { uuidv7 } from '../../platform/uuid.ts';
import type { Transaction } from '../database.ts';
import { StoreError } from '../error.ts';
import { Repository } from '../repository.ts';
import { insertEvents } from '../webhooks/events.ts';
import type { NewEvent } from '../webhooks/types.ts';
import {
  CALL_COLUMNS,
  toCall,
  type CallAgent,
  type CallRecord,
  type CallRef,
  type NewCall,
  type Row,
  type StoredRecording,
} from './call-record.ts';
import { spentSince } from './spending.ts';
import { usageOfCall, type UsageLine } from './usage.ts';
import { unjoinedLimitReached, type UnjoinedLimit } from './unjoined-calls.ts';
import { HEARTBEAT_TIMEOUT_MS } from './unserved.ts';
import { isTerminal, terminalStatusOf, type CallStatus } from './call-state.ts';

const ID_SHAPE = /^call_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Raised by the table itself: see the migration. */
const LIMIT_REACHED = 'PCL01';

export function newCallId(uuid = uuidv7()): string {
  return `call_${uuid}`;
}

/** The events of a change: written in its transaction, and only if it happens. */
interface WithEvents {
  readonly events: (call: CallRecord, usage: readonly UsageLine[]) => readonly NewEvent[];
}

export type Registration =
  | { readonly outcome: 'registered'; readonly call: CallRecord }
  | { readonly outcome: 'limit_reached' }
  | { readonly outcome: 'unjoined_limit_reached'; readonly limit: UnjoinedLimit }
  | { readonly outcome: 'budget_exceeded' };

export interface StartOptions extends CallRef, WithEvents {
  readonly jobId: string;
  /** Time since its begin, in milliseconds, asked once the database is there: a wait for it is part of the call. 0 by default. */
  readonly startedAgoMs?: (() => number) | undefined;
}

export interface EndOptions extends CallRef, WithEvents {
  readonly reason: FinishReason;
  /** Time since its end, in milliseconds, asked likewise: clean-up before this call does not count as talking. 0 by default. */
  readonly endedAgoMs?: (() => number) | undefined;
  /** Only while the call is in this state, and with this last heartbeat of its job where it is named. */
  readonly only?: { readonly status: CallStatus; readonly jobSeenAt?: Date | null };
}

/** `changed` is false where the call had got there, or further, before. */
export interface CallTransition {
  readonly changed: boolean;
  readonly call: CallRecord;
}

/** @property config as the revision has it */
export type OtherAgent = CallAgent & { readonly config: unknown };

export class Calls extends Repository {
  /**
   * Takes a call on, as `registered`, if the organisation has fewer live calls than it may have, fewer of them wait for their users than
   * may, and the agent has spent less than its budget; otherwise nothing is left behind.
   * An incoming call that the gateway reports again is the call that is there.
   * @throws StoreError `not_found` for an unknown organisation
   */
  async register(call: NewCall): Promise<Registration> {
    try {
      return await this.#insert(call, null, { events: () => [] });
    } catch (error) {
      if (!(error instanceof StoreError && error.sqlState === LIMIT_REACHED)) throw error;
      const known = await this.database.asOrganization(call.org, (transaction) => findKnown(transaction, call));
      return known === undefined ? { outcome: 'limit_reached' } : { outcome: 'registered', call: known };
    }
  }

  /** Records a call that was turned away before it began; it counts for no limit. */
  async refuse(call: NewCall, { reason, events }: WithEvents & { readonly reason: FinishReason }): Promise<CallRecord> {
    const { budget: _budget, unjoinedPercent: _percent, ...refused } = call;
    const registration = await this.#insert(refused, reason, { events });
    if (registration.outcome !== 'registered') throw new StoreError('internal', `call ${call.id} was not recorded`);
    return registration.call;
  }

  async #insert(call: NewCall, reason: FinishReason | null, { events }: WithEvents): Promise<Registration> {
    return this.database.asOrganization(call.org, async (transaction) => {
      if (
        call.budget !== undefined &&
        (await spentSince(transaction, { org: call.org, agentName: call.overrideAgentName ?? call.agentName, ...call.budget })) >=
          call.budget.micros
      ) {
        const known = await findKnown(transaction, call);
        return known === undefined ? { outcome: 'budget_exceeded' } : { outcome: 'registered', call: known };
      }
      if (call.unjoinedPercent !== undefined) {
        // As the insertion does: the calls of an organisation are counted one after the other.
        await transaction.query('SELECT FROM parley.organizations WHERE name = $1 FOR NO KEY UPDATE', [call.org]);
        const limit = await unjoinedLimitReached(transaction, call);
        if (limit !== undefined) {
          const known = await findKnown(transaction, call);
          return known === undefined ? { outcome: 'unjoined_limit_reached', limit } : { outcome: 'registered', call: known };
        }
      }
      const { rows } = await transaction.query<Row>(
        `INSERT INTO parley.calls
           (org, id, call_type, direction, status, finish_reason, agent_name, agent_display_name, override_agent_name, revision,
            workspace, max_duration_ms, room, token_expires_at, from_number, to_number, sip_call_id, metadata, dynamic_data, created_by, created_by_key, traceparent,
            recording_enabled, recording_retention_ms, canary, ended_at, test)
         SELECT name, $2, $3, $4, $5, $6, $7, $8, $9, $10, $20, $11, $12, now() + $13 * interval '1 millisecond', $14, $15, $16, $17, $18, $19, $22, $21,
           recording_enabled AND $23, $24, $25,
           CASE WHEN $6::text IS NULL THEN NULL ELSE now() END, $26
         FROM parley.organizations WHERE name = $1
         ON CONFLICT DO NOTHING RETURNING ${CALL_COLUMNS}`,
        [
          call.org,
          call.id,
          call.callType,
          call.direction ?? null,
          reason === null ? 'registered' : terminalStatusOf(reason),
          reason,
          call.agentName,
          call.agentDisplayName,
          call.overrideAgentName ?? null,
          call.revision,
          call.maxDurationMs,
          call.room,
          call.tokenTtlMs ?? null,
          call.fromNumber ?? null,
          call.toNumber ?? null,
          call.sipCallId ?? null,
          JSON.stringify(call.metadata ?? {}),
          JSON.stringify(call.dynamicData ?? {}),
          call.createdBy ?? null,
          call.workspace ?? null,
          call.traceparent ?? null,
          call.createdByKey ?? null,
          call.recordingEnabled ?? true,
          call.recordingRetentionMs ?? null,
          call.canary ?? false,
          call.test === undefined ? null : JSON.stringify(call.test),
        ],
      );
      if (rows[0] !== undefined) {
        await insertOthers(transaction, call);
        await insertEvents(transaction, events(toCall(rows[0]), []));
      }
      const known = rows[0] === undefined ? await findKnown(transaction, call) : toCall(rows[0]);
      if (known === undefined) throw await whyNot(transaction, call);
      return { outcome: 'registered', call: known };
    });
  }

  /** A malformed id is one that no call has. */
  async get({ org, id }: CallRef): Promise<CallRecord | undefined> {
    if (!ID_SHAPE.test(id)) return undefined;
    return this.#one(org, `SELECT ${CALL_COLUMNS} FROM parley.calls WHERE org = $1 AND id = $2`, [org, id]);
  }

  /** Returns the agents that the call may be handed over to, with their configurations. */
  async others({ org, id }: CallRef): Promise<readonly OtherAgent[]> {
    const { rows } = await this.database.queryAs<OtherAgent & Record<string, unknown>>(
      org,
      `SELECT a.agent_name AS "agentName", a.revision, a.canary, r.config
       FROM parley.call_agents a JOIN parley.agent_revisions r ON r.org = a.org AND r.agent_name = a.agent_name AND r.revision = a.revision
       WHERE a.org = $1 AND a.call_id = $2 ORDER BY a.agent_name`,
      [org, id],
    );
    return rows;
  }

  /** The call's organisation. For callers that know only the id of a call, from the media server. */
  async organizationOf(id: string): Promise<string | undefined> {
    if (!ID_SHAPE.test(id)) return undefined;
    const [row] = await this.database.query<{ org: string | null }>('SELECT parley.organization_of_call($1) AS org', [id]);
    return row?.org ?? undefined;
  }

  /** The call of a room. For events of the media server. */
  async ofRoom(room: string): Promise<CallRef | undefined> {
    const [row] = await this.database.query<{ org: string; id: string }>('SELECT org, id FROM parley.call_of_room($1)', [room]);
    return row && { org: row.org, id: row.id };
  }

  /**
   * `registered` → `ongoing`: media flow. Counts as a heartbeat of the job.
   * @throws StoreError `not_found`
   */
  async start({ org, id, jobId, startedAgoMs = () => 0, events }: StartOptions): Promise<CallTransition> {
    return this.#transition(
      { org, id, events },
      `UPDATE parley.calls SET status = 'ongoing', started_at = greatest(now() - $4 * interval '1 millisecond', created_at),
              job_id = $3, job_seen_at = now()
       WHERE org = $1 AND id = $2 AND status = 'registered' RETURNING ${CALL_COLUMNS}`,
      () => [org, id, jobId, Math.max(0, startedAgoMs())],
    );
  }

  /**
   * Ends a call that isn't over. The first reason counts: a later one changes nothing. The trigger `calls_are_analysed`
   * (migrations/0001_schema.sql) inserts the row of its analysis in the same transaction.
   * @throws StoreError `not_found`
   */
  async end({ org, id, reason, endedAgoMs = () => 0, only, events }: EndOptions): Promise<CallTransition> {
    const given = [
      ...(only === undefined ? [] : ['AND status = $6']),
      ...(only?.jobSeenAt === undefined ? [] : ['AND job_seen_at IS NOT DISTINCT FROM $7::timestamptz']),
    ].join(' ');
    return this.#transition(
      { org, id, events },
      `UPDATE parley.calls SET status = $3, finish_reason = $4, ended_at = greatest(now() - $5 * interval '1 millisecond', started_at, created_at)
       WHERE org = $1 AND id = $2 AND status IN ('registered', 'ongoing') ${given} RETURNING ${CALL_COLUMNS}`,
      () => [
        org,
        id,
        terminalStatusOf(reason),
        reason,
        Math.max(0, endedAgoMs()),
        ...(only === undefined ? [] : [only.status]),
        ...(only?.jobSeenAt === undefined ? [] : [only.jobSeenAt?.toISOString() ?? null]),
      ],
    );
  }

  /** How the gateway knows a call that went out. The first name stays. */
  async nameSipCall({ org, id, sipCallId }: CallRef & { readonly sipCallId: string }): Promise<void> {
    await this.database.asOrganization(org, async (transaction) => {
      await transaction.query(`UPDATE parley.calls SET sip_call_id = $3 WHERE org = $1 AND id = $2 AND sip_call_id IS NULL`, [
        org,
        id,
        sipCallId,
      ]);
    });
  }

  /** The job is there. @returns false when the call is over, or another job serves it: then this one should stop. */
  async heartbeat({ org, id, jobId }: CallRef & { readonly jobId: string }): Promise<boolean> {
    const { rowCount } = await this.database.queryAs(
      org,
      `UPDATE parley.calls SET job_seen_at = now(), job_id = $3
       WHERE org = $1 AND id = $2 AND status IN ('registered', 'ongoing') AND (job_id IS NULL OR job_id = $3)`,
      [org, id, jobId],
    );
    return rowCount > 0;
  }

  /**
   * What the call knows by name from now on: what was looked up for it joins what it was registered with.
   * @returns false when the call is over, or there is none
   */
  async keepDynamicData({ org, id, data }: CallRef & { readonly data: Readonly<Record<string, unknown>> }): Promise<boolean> {
    const { rowCount } = await this.database.queryAs(
      org,
      `UPDATE parley.calls SET dynamic_data = $3 WHERE org = $1 AND id = $2 AND status IN ('registered', 'ongoing')`,
      [org, id, JSON.stringify(storableJson(data))],
    );
    return rowCount > 0;
  }

  /**
   * Claims the dispatch of a job, which counts as its first heartbeat.
   * @returns false when a job has the call, another process dispatches one, or it is over
   */
  async claimDispatch({ org, id }: CallRef): Promise<boolean> {
    const { rowCount } = await this.database.queryAs(
      org,
      `UPDATE parley.calls SET job_seen_at = now() WHERE org = $1 AND id = $2 AND status = 'registered' AND job_id IS NULL
           AND (job_seen_at IS NULL OR job_seen_at < now() - $3 * interval '1 millisecond')`,
      [org, id, HEARTBEAT_TIMEOUT_MS],
    );
    return rowCount > 0;
  }

  /** The recording is in the storage. The first one stays, as does the reason. @returns false when there was one, or no such call */
  async addRecording({ org, id, key, bytes, durationMs, events }: CallRef & StoredRecording & WithEvents): Promise<boolean> {
    return this.database.asOrganization(org, async (transaction) => {
      const { rows } = await transaction.query<Row>(
        `UPDATE parley.calls SET recording_key = $3, recording_bytes = $4, recording_duration_ms = $5, recorded_at = now()
         WHERE org = $1 AND id = $2 AND recording_key IS NULL RETURNING ${CALL_COLUMNS}`,
        [org, id, key, bytes, Math.round(durationMs)],
      );
      if (rows[0] !== undefined) await insertEvents(transaction, events(toCall(rows[0]), []));
      return rows[0] !== undefined;
    });
  }

  /** Whether it has as many live calls as it may have; {@link register} decides, this saves what is done before. */
  async isAtLimit(org: string): Promise<boolean> {
    const { rows } = await this.database.queryAs<{ full: boolean }>(
      org,
      `SELECT live_call_limit <= (SELECT count(*) FROM parley.calls WHERE org = $1 AND test IS NULL AND status IN ('registered', 'ongoing')) AS full
       FROM parley.organizations WHERE name = $1`,
      [org],
    );
    return rows[0]?.full ?? false;
  }

  /** Whether one more web call would be refused. @throws StoreError */
  async unjoinedLimit(call: Pick<NewCall, 'org' | 'createdByKey' | 'unjoinedPercent'>): Promise<UnjoinedLimit | undefined> {
    return this.database.asOrganization(call.org, (transaction) => unjoinedLimitReached(transaction, call));
  }

  async #transition(ref: CallRef & WithEvents, sql: string, values: () => readonly unknown[]): Promise<CallTransition> {
    return this.database.asOrganization(ref.org, async (transaction) => {
      const { rows } = await transaction.query<Row>(sql, values());
      if (rows[0] !== undefined) {
        const call = toCall(rows[0]);
        const usage = isTerminal(call.status) ? await usageOfCall(transaction, ref) : [];
        await insertEvents(transaction, ref.events(call, usage));
        return { changed: true, call };
      }
      const found = await transaction.query<Row>(`SELECT ${CALL_COLUMNS} FROM parley.calls WHERE org = $1 AND id = $2`, [ref.org, ref.id]);
      if (found.rows[0] === undefined) throw new StoreError('not_found', `there is no call ${ref.id} in the organisation ${ref.org}`);
      return { changed: false, call: toCall(found.rows[0]) };
    });
  }

  async #one(org: string, sql: string, values: readonly unknown[]): Promise<CallRecord | undefined> {
    const { rows } = await this.database.queryAs<Row>(org, sql, values);
    return rows[0] && toCall(rows[0]);
  }
}

async function insertOthers(transaction: Transaction, { org, id, others = [] }: NewCall): Promise<void> {
  if (others.length === 0) return;
  await transaction.query(
    `INSERT INTO parley.call_agents (org, call_id, agent_name, revision, canary)
     SELECT $1, $2, o.* FROM jsonb_to_recordset($3) AS o ("agentName" text, revision text, canary boolean)`,
    [org, id, JSON.stringify(others)],
  );
}

/** The row of this very call, by its id or by what the gateway calls it. */
async function findKnown(transaction: Transaction, { org, id, sipCallId, toNumber }: NewCall): Promise<CallRecord | undefined> {
  const { rows } = await transaction.query<Row>(
    `SELECT ${CALL_COLUMNS} FROM parley.calls WHERE org = $1
     AND (id = $2 OR (direction = 'inbound' AND sip_call_id = $3 AND to_number = $4))`,
    [org, id, sipCallId ?? null, toNumber ?? null],
  );
  return rows[0] && toCall(rows[0]);
}

async function whyNot(transaction: Transaction, { org, id, room }: NewCall): Promise<StoreError> {
  const organization = await transaction.query('SELECT FROM parley.organizations WHERE name = $1', [org]);
  return organization.rowCount === 0
    ? new StoreError('not_found', `there is no organisation "${org}": make it with \`parley org create ${org}\``)
    : new StoreError('conflict', `call ${id}: the id or the room ${room} is another call's`);
}

/** Without the characters that Postgres doesn't keep: what was looked up is other people's. */
function storableJson(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\u0000', '');
  if (Array.isArray(value)) return value.map(storableJson);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [storableJson(key), storableJson(item)]));
}
