/** Keeps what people ask of live calls. The api adds a command, the call's job takes it once and says what came of it. */
import { uuidv7 } from '../../platform/uuid.ts';
import { Repository } from '../repository.ts';
import type { CallRef } from './call-record.ts';

export const commandKinds = ['say', 'instructions', 'transfer', 'mute', 'listen', 'take_over'] as const;
export type CommandKind = (typeof commandKinds)[number];

/**
 * The states of a command:
 *
 *   pending ──take──▶ running ──finish──▶ done | refused
 *      └──expire──▶ expired
 *
 * One that is `running` when its call's job dies stays so: nobody knows how far it was carried out.
 */
export const commandStatuses = ['pending', 'running', 'done', 'refused', 'expired'] as const;
export type CommandStatus = (typeof commandStatuses)[number];

/** Most commands of one call: a program that repeats itself must not fill the database. */
export const MOST_COMMANDS = 1_000;

export interface CommandRef extends Pick<CallRef, 'org'> {
  readonly callId: string;
  readonly id: string;
}

export interface NewCommand extends CommandRef {
  readonly kind: CommandKind;
  readonly body: Readonly<Record<string, unknown>>;
  readonly createdBy: string | null;
  readonly createdByKey: string;
  /** True for one that needs no job: it is `done` at once. */
  readonly done?: boolean;
}

export interface CommandRecord extends Omit<NewCommand, 'done'> {
  readonly status: CommandStatus;
  /** Why it was not carried out. */
  readonly reason: string | null;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

const COLUMNS = `org, call_id AS "callId", id, kind, body, status, reason, created_by AS "createdBy", created_by_key AS "createdByKey",
  created_at AS "createdAt", finished_at AS "finishedAt"`;

type Row = CommandRecord & Record<string, unknown>;

export function newCommandId(uuid = uuidv7()): string {
  return `cmd_${uuid}`;
}

export class CallCommands extends Repository {
  /**
   * Adds a command to a call that goes on; one with a known id is the command that is there.
   * @returns undefined for a call that doesn't go on, or has {@link MOST_COMMANDS}
   */
  async add({ org, callId, id, kind, body, createdBy, createdByKey, done = false }: NewCommand): Promise<CommandRecord | undefined> {
    const { rows } = await this.database.queryAs<Row>(
      org,
      `INSERT INTO parley.call_commands (org, call_id, id, kind, body, status, created_by, created_by_key, finished_at)
       SELECT org, id, $3, $4, $5, $6, $7, $8, CASE WHEN $6 = 'done' THEN now() END FROM parley.calls
       WHERE org = $1 AND id = $2 AND status = 'ongoing'
         AND (SELECT count(*) FROM parley.call_commands WHERE org = $1 AND call_id = $2) < $9
       ON CONFLICT DO NOTHING RETURNING ${COLUMNS}`,
      [org, callId, id, kind, JSON.stringify(body), done ? 'done' : 'pending', createdBy, createdByKey, MOST_COMMANDS],
    );
    return rows[0] ?? this.get({ org, callId, id });
  }

  async get({ org, callId, id }: CommandRef): Promise<CommandRecord | undefined> {
    const { rows } = await this.database.queryAs<Row>(
      org,
      `SELECT ${COLUMNS} FROM parley.call_commands WHERE org = $1 AND call_id = $2 AND id = $3`,
      [org, callId, id],
    );
    return rows[0];
  }

  /** Returns the commands of a call, the oldest first. */
  async ofCall({ org, id }: CallRef): Promise<readonly CommandRecord[]> {
    const { rows } = await this.database.queryAs<Row>(
      org,
      `SELECT ${COLUMNS} FROM parley.call_commands WHERE org = $1 AND call_id = $2 ORDER BY created_at, id`,
      [org, id],
    );
    return rows;
  }

  /** Takes the oldest pending command of a call, which nobody else takes any more. */
  async take({ org, id }: CallRef): Promise<CommandRecord | undefined> {
    const { rows } = await this.database.queryAs<Row>(
      org,
      `UPDATE parley.call_commands SET status = 'running' WHERE org = $1 AND call_id = $2 AND status = 'pending' AND id = (
         SELECT id FROM parley.call_commands WHERE org = $1 AND call_id = $2 AND status = 'pending' ORDER BY created_at, id LIMIT 1
         FOR UPDATE SKIP LOCKED)
       RETURNING ${COLUMNS}`,
      [org, id],
    );
    return rows[0];
  }

  /**
   * Says what came of a command that was taken. @param reason why it was not carried out; undefined where it was @param body what is kept of
   * what was asked for; all of it by default
   */
  async finish({ org, callId, id }: CommandRef, reason: string | undefined, body?: NewCommand['body']): Promise<void> {
    await this.database.queryAs(
      org,
      `UPDATE parley.call_commands SET status = $4, reason = $5, finished_at = now(), body = coalesce($6, body)
       WHERE org = $1 AND call_id = $2 AND id = $3 AND status = 'running'`,
      [
        org,
        callId,
        id,
        reason === undefined ? 'done' : 'refused',
        reason?.slice(0, 1_000) ?? null,
        body === undefined ? null : JSON.stringify(body),
      ],
    );
  }

  /** Calls off a command that nobody has taken. @returns the command as it is now */
  async expire(ref: CommandRef, reason: string): Promise<CommandRecord | undefined> {
    const { rows } = await this.database.queryAs<Row>(
      ref.org,
      `UPDATE parley.call_commands SET status = 'expired', reason = $4, finished_at = now()
       WHERE org = $1 AND call_id = $2 AND id = $3 AND status = 'pending' RETURNING ${COLUMNS}`,
      [ref.org, ref.callId, ref.id, reason],
    );
    return rows[0] ?? this.get(ref);
  }
}
