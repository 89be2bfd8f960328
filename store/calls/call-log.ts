/** Transcripts, tool calls and latencies of calls, with the numbers that the job of a call gives them. */
import { Repository } from '../repository.ts';
import { insertEvents } from '../webhooks/events.ts';
import type { NewEvent } from '../webhooks/types.ts';
import { storableJson } from '../storable-json.ts';
import type { CallRef } from './call-record.ts';
import { storeUsage, type CallUsageRows } from './usage.ts';

/** Longest message, in bytes; the rest is cut off. No utterance is that long. */
export const LONGEST_MESSAGE = 65_536;

export interface CallMessage {
  /** The message's number: unique in the call, ascending in time. */
  readonly seq: number;
  readonly role: 'agent' | 'user';
  /** Name of the agent that said it; null for what the user said. */
  readonly agent?: string | null;
  readonly content: string;
  readonly spokenAt: Date;
  /** True if the user barged in. */
  readonly interrupted: boolean;
  /** The chunks of the knowledge base that the answer rests on. */
  readonly sources: readonly unknown[] | null;
}

/** Latencies of a turn in milliseconds; null where one was not measured. */
export interface CallTurn {
  readonly seq: number;
  /** Name of the agent that answered. */
  readonly agent?: string | null;
  /** Time from the end of speech to the decision that the user has finished. */
  readonly eou: number | null;
  readonly stt: number | null;
  /** Time from the request to the first token. */
  readonly llmTtft: number | null;
  /** Time from the request to the first audio. */
  readonly ttsTtfb: number | null;
  /** Time from the end of the user's speech to the beginning of the agent's. */
  readonly v2v: number | null;
}

export interface CallToolCall {
  /** The tool call's number: unique among those of the call, ascending in time. */
  readonly seq: number;
  /** Name of the agent that made it. */
  readonly agent?: string | null;
  readonly name: string;
  /** The model's arguments; null where their JSON is larger than {@link LONGEST_MESSAGE}. */
  readonly arguments: Readonly<Record<string, unknown>> | null;
  /** The result that the model got: text, or JSON. */
  readonly result: string;
  readonly failed: boolean;
  readonly beganAt: Date;
  readonly durationMs: number;
}

export interface CallLogRows {
  readonly messages: readonly CallMessage[];
  readonly turns: readonly CallTurn[];
  readonly toolCalls: readonly CallToolCall[];
}

/** What a job has counted so far: it replaces what it has counted before. */
export interface CallLogSums {
  readonly usage?: CallUsageRows | readonly CallUsageRows[] | undefined;
  /** Agents that have taken over by the tool call of this number, with the events of that. */
  readonly takeovers?: readonly { readonly seq: number; readonly agent: string; readonly events: readonly NewEvent[] }[] | undefined;
  /** Values that were taken out, by kind. */
  readonly redactions?: Readonly<Record<string, number>> | undefined;
}

/** A row of the log, with its place in the order in which rows were written. */
export type LoggedRow = { readonly position: number } & (
  | { readonly kind: 'message'; readonly message: CallMessage }
  /** `spokenAt` is that of the message with the same number; null where nothing of it was heard. */
  | { readonly kind: 'turn'; readonly turn: CallTurn; readonly spokenAt: Date | null }
  | { readonly kind: 'tool_call'; readonly toolCall: CallToolCall }
);

export class CallLog extends Repository {
  /**
   * Adds rows with new numbers; a number that is there keeps its row, so that a job may send everything again after a lost answer. The
   * sums so far replace those of before.
   * @throws StoreError `conflict` for a call that doesn't exist
   */
  async add(
    { org, id }: CallRef,
    { messages = [], turns = [], toolCalls = [], takeovers = [], usage = [], redactions }: Partial<CallLogRows> & CallLogSums,
  ): Promise<void> {
    await this.database.asOrganization(org, async (transaction) => {
      if (messages.length > 0) {
        await transaction.query(
          `INSERT INTO parley.call_messages (org, call_id, seq, role, agent, content, spoken_at, interrupted, sources)
           SELECT $1, $2, m.* FROM jsonb_to_recordset($3) AS m (seq int, role text, agent text, content text, spoken_at timestamptz, interrupted boolean, sources jsonb)
           ON CONFLICT DO NOTHING`,
          [
            org,
            id,
            JSON.stringify(
              messages.map(({ seq, role, agent, content, spokenAt, interrupted, sources }) => ({
                seq,
                role,
                agent,
                content: storable(content),
                spoken_at: spokenAt.toISOString(),
                interrupted,
                ...(sources !== null && { sources }),
              })),
            ),
          ],
        );
      }
      if (turns.length > 0) {
        await transaction.query(
          `INSERT INTO parley.call_turns (org, call_id, seq, agent, eou, stt, llm_ttft, tts_ttfb, v2v)
           SELECT $1, $2, t.* FROM jsonb_to_recordset($3) AS t (seq int, agent text, eou real, stt real, llm_ttft real, tts_ttfb real, v2v real)
           ON CONFLICT DO NOTHING`,
          [
            org,
            id,
            JSON.stringify(
              turns.map(({ seq, agent, eou, stt, llmTtft, ttsTtfb, v2v }) => ({
                seq,
                agent,
                eou,
                stt,
                llm_ttft: llmTtft,
                tts_ttfb: ttsTtfb,
                v2v,
              })),
            ),
          ],
        );
      }
      const fresh = new Set<number>();
      if (toolCalls.length > 0) {
        const { rows } = await transaction.query<{ seq: number }>(
          `INSERT INTO parley.call_tool_calls (org, call_id, seq, agent, name, arguments, result, failed, began_at, duration_ms)
           SELECT $1, $2, t.* FROM jsonb_to_recordset($3)
             AS t (seq int, agent text, name text, arguments jsonb, result text, failed boolean, began_at timestamptz, duration_ms int)
           ON CONFLICT DO NOTHING RETURNING seq`,
          [
            org,
            id,
            storableJson(
              toolCalls.map(({ beganAt, durationMs, arguments: given, result, ...call }) => ({
                ...call,
                ...(given !== null && Buffer.byteLength(JSON.stringify(given)) <= LONGEST_MESSAGE && { arguments: given }),
                result: storable(result),
                began_at: beganAt.toISOString(),
                duration_ms: durationMs,
              })),
            ),
          ],
        );
        for (const { seq } of rows) fresh.add(seq);
      }
      if (redactions !== undefined)
        await transaction.query('UPDATE parley.calls SET redactions = $3 WHERE org = $1 AND id = $2', [
          org,
          id,
          JSON.stringify(redactions),
        ]);
      if (takeovers.length > 0) {
        await transaction.query(
          'UPDATE parley.call_agents SET took_over_at = now() WHERE org = $1 AND call_id = $2 AND agent_name = ANY ($3) AND took_over_at IS NULL',
          [org, id, takeovers.map(({ agent }) => agent)],
        );
      }
      // A hand-over that is sent again has its event already.
      const events = takeovers.flatMap(({ seq, events: own }) => (fresh.has(seq) ? own : []));
      if (events.length > 0) await insertEvents(transaction, events);
      // This comes last, because calls of one agent wait for each other in it.
      for (const rows of [usage].flat()) await storeUsage(transaction, { org, id }, rows);
    });
  }

  /** Returns rows in the order in which they were written, those behind a position; `limit` of them at most. */
  async after({ org, id }: CallRef, position: number, limit: number): Promise<readonly LoggedRow[]> {
    return this.database.asOrganization(
      org,
      async (transaction) => {
        const behind = 'org = $1 AND call_id = $2 AND position > $3 ORDER BY position LIMIT $4';
        const values = [org, id, position, limit];
        type Positioned = { readonly position: number } & Record<string, unknown>;
        const messages = await transaction.query<CallMessage & Positioned>(
          `SELECT position::float8, seq, role, agent, content, spoken_at AS "spokenAt", interrupted, sources FROM parley.call_messages WHERE ${behind}`,
          values,
        );
        const turns = await transaction.query<CallTurn & Positioned & { readonly spokenAt: Date | null }>(
          `SELECT position::float8, seq, agent, eou, stt, llm_ttft AS "llmTtft", tts_ttfb AS "ttsTtfb", v2v,
             (SELECT m.spoken_at FROM parley.call_messages m WHERE m.org = t.org AND m.call_id = t.call_id AND m.seq = t.seq) AS "spokenAt"
           FROM parley.call_turns t WHERE ${behind}`,
          values,
        );
        const toolCalls = await transaction.query<CallToolCall & Positioned>(
          `SELECT position::float8, seq, agent, name, arguments, result, failed, began_at AS "beganAt", duration_ms AS "durationMs"
           FROM parley.call_tool_calls WHERE ${behind}`,
          values,
        );
        const rows: readonly LoggedRow[] = [
          ...messages.rows.map((message) => ({ kind: 'message', position: message.position, message }) as const),
          ...turns.rows.map((turn) => ({ kind: 'turn', position: turn.position, turn, spokenAt: turn.spokenAt }) as const),
          ...toolCalls.rows.map((toolCall) => ({ kind: 'tool_call', position: toolCall.position, toolCall }) as const),
        ];
        return rows.toSorted((one, other) => one.position - other.position).slice(0, limit);
      },
      { snapshot: true },
    );
  }

  /** Returns the rows in the order of their numbers. */
  async read({ org, id }: CallRef): Promise<CallLogRows> {
    return this.database.asOrganization(
      org,
      async (transaction) => {
        const messages = await transaction.query<CallMessage & Record<string, unknown>>(
          `SELECT seq, role, agent, content, spoken_at AS "spokenAt", interrupted, sources FROM parley.call_messages
           WHERE org = $1 AND call_id = $2 ORDER BY seq`,
          [org, id],
        );
        const turns = await transaction.query<CallTurn & Record<string, unknown>>(
          `SELECT seq, agent, eou, stt, llm_ttft AS "llmTtft", tts_ttfb AS "ttsTtfb", v2v FROM parley.call_turns
           WHERE org = $1 AND call_id = $2 ORDER BY seq`,
          [org, id],
        );
        const toolCalls = await transaction.query<CallToolCall & Record<string, unknown>>(
          `SELECT seq, agent, name, arguments, result, failed, began_at AS "beganAt", duration_ms AS "durationMs" FROM parley.call_tool_calls
           WHERE org = $1 AND call_id = $2 ORDER BY seq`,
          [org, id],
        );
        return { messages: messages.rows, turns: turns.rows, toolCalls: toolCalls.rows };
      },
      { snapshot: true },
    );
  }
}

/** Makes text of an external STT storable: removes characters that Postgres refuses, and cuts long texts. */
function storable(content: string): string {
  const text = content.toWellFormed().replaceAll('\u0000', '');
  if (Buffer.byteLength(text) <= LONGEST_MESSAGE) return text;
  return Buffer.from(text)
    .subarray(0, LONGEST_MESSAGE)
    .toString()
    .replace(/\uFFFD{1,3}$/, '');
}
