/** Results of post-call analyses. A trigger on the ends of calls inserts the rows. */
import { Repository } from '../repository.ts';
import { insertEvents } from '../webhooks/events.ts';
import type { NewEvent } from '../webhooks/types.ts';
import type { CallRef } from './call-record.ts';

export type AnalysisStatus = 'processing' | 'completed' | 'failed';

export type AnalysisValue = string | number | boolean;

/** The reason why there is no result: a code for programs and a message for people. */
export interface AnalysisError {
  readonly code: string;
  readonly message: string;
}

export interface AnalysisResult {
  readonly name: string;
  readonly type: 'string' | 'enum' | 'boolean' | 'number';
  /** The answer; null where the transcript has none, or with an error. */
  readonly result: AnalysisValue | null;
  readonly error: AnalysisError | null;
}

export interface AnalysisRecord {
  readonly status: AnalysisStatus;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
  /** The results of all items; null while the analysis is in process. */
  readonly items: readonly AnalysisResult[] | null;
  /** The error of an analysis that failed as a whole. */
  readonly error: AnalysisError | null;
}

export type AnalysisOutcome = Pick<AnalysisRecord, 'error'> & { readonly items: readonly AnalysisResult[] };

interface Row extends Omit<AnalysisRecord, 'error'>, Record<string, unknown> {
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
}

/** A due analysis of a call, with the trace that it belongs to. */
export interface DueAnalysis extends CallRef {
  readonly traceparent: string | null;
}

export class CallAnalyses extends Repository {
  /** @returns undefined for a call that isn't over, or whose agent asks for nothing */
  async get({ org, id }: CallRef): Promise<AnalysisRecord | undefined> {
    const { rows } = await this.database.queryAs<Row>(
      org,
      `SELECT status, created_at AS "createdAt", finished_at AS "finishedAt", items, error_code AS "errorCode", error_message AS "errorMessage"
       FROM parley.call_analyses WHERE org = $1 AND call_id = $2`,
      [org, id],
    );
    if (rows[0] === undefined) return undefined;
    const { errorCode, errorMessage, ...row } = rows[0];
    return { ...row, error: errorCode === null ? null : { code: errorCode, message: errorMessage ?? '' } };
  }

  /** Returns analyses of all organisations that are due to start; the longest due first. */
  async due({ limit }: { readonly limit: number }): Promise<readonly DueAnalysis[]> {
    const { rows } = await this.database.asDirectory((transaction) =>
      transaction.query<DueAnalysis & Record<string, unknown>>(
        `SELECT a.org, a.call_id AS id, c.traceparent FROM parley.call_analyses a JOIN parley.calls c ON c.org = a.org AND c.id = a.call_id
         WHERE a.status = 'processing' AND a.due_at <= now() ORDER BY a.due_at LIMIT $1`,
        [limit],
      ),
    );
    return rows;
  }

  /** Records the start of an analysis: a later sweep checks that it has ended. */
  async begun({ org, id, lookAgainInMs }: CallRef & { readonly lookAgainInMs: number }): Promise<void> {
    await this.database.queryAs(
      org,
      `UPDATE parley.call_analyses SET due_at = now() + $3 * interval '1 millisecond' WHERE org = $1 AND call_id = $2 AND status = 'processing'`,
      [org, id, lookAgainInMs],
    );
  }

  /** Ends an analysis, with its events; the first end counts. @returns false where it had ended before, or does not exist */
  async finish({ org, id, items, error, events }: CallRef & AnalysisOutcome & { readonly events: readonly NewEvent[] }): Promise<boolean> {
    return this.database.asOrganization(org, async (transaction) => {
      const { rowCount } = await transaction.query(
        `UPDATE parley.call_analyses SET status = $3, finished_at = now(), items = $4, error_code = $5, error_message = $6
         WHERE org = $1 AND call_id = $2 AND status = 'processing'`,
        [org, id, error === null ? 'completed' : 'failed', JSON.stringify(items), error?.code ?? null, error?.message ?? null],
      );
      if (rowCount > 0) await insertEvents(transaction, events);
      return rowCount > 0;
    });
  }
}
