/** Figures about the calls of a revision. */
import type { FinishReason } from '../../platform/finish-reasons.ts';
import { Repository } from '../repository.ts';
import type { RevisionPage } from './release-history.ts';

export interface ReleaseFigures {
  /** That are over, of the latest 1,000. */
  readonly calls: number;
  /** Of them: ended as `error`. */
  readonly errors: number;
  readonly errorsByReason: Readonly<Partial<Record<FinishReason, number>>>;
  readonly failedToolCalls: number;
  /** 95th percentile over all turns, in milliseconds; null without an answer. */
  readonly p95VoiceToVoiceMs: number | null;
  /** Of the analysis that was asked for: how many results there are, and the percent of true ones or the mean of numbers. */
  readonly analysis: { readonly results: number; readonly value: number | null };
  /** Since `since`, by the clock of Postgres. */
  readonly elapsedMs: number;
}

interface OfAgent {
  readonly org: string;
  readonly agentName: string;
  /** The item of the post-call analysis that is counted. */
  readonly analysis?: string | undefined;
}

interface OfRevision {
  readonly revision: string;
  /** Counts the calls of all revisions that differ from it in the versions of Secrets and in labels alone. */
  readonly configHash?: string | undefined;
  /** Only calls that were registered since then. */
  readonly since?: Date | undefined;
}

export type FiguresOf = OfAgent & OfRevision;

interface FiguresOfEach extends OfAgent {
  readonly revisions: readonly OfRevision[];
}

/** What figures are made of at most: so many calls say enough, and asking every second stays cheap. */
const CALLS_COUNTED = 1_000;

/** Ends that no revision has a part in: the call got no agent, or its other end failed. They count as no calls. */
const NOT_ITS_CALLS: readonly FinishReason[] = [
  'concurrent_call_limit_reached',
  'invalid_payment',
  'potential_scam_detected',
  'carrier_error',
  'user_connection_failure',
];

export class AgentReleaseFigures extends Repository {
  async of({ org, agentName, analysis, ...revision }: FiguresOf): Promise<ReleaseFigures> {
    const [figures] = await this.#ofEach({ org, agentName, analysis, revisions: [revision] });
    return figures!;
  }

  /** Of each item of a page, in its order; of a canary since its calls began. */
  ofPage(org: string, { agentName, items, release }: RevisionPage, analysis?: string): Promise<readonly ReleaseFigures[]> {
    const { canary } = release ?? {};
    const revisions = items.map(({ revision }) => ({
      revision,
      ...(revision === canary?.revision && { since: canary.since, configHash: canary.configHash }),
    }));
    return this.#ofEach({ org, agentName, analysis, revisions });
  }

  async #ofEach({ org, agentName, revisions, analysis }: FiguresOfEach): Promise<readonly ReleaseFigures[]> {
    const { rows } = await this.database.queryAs<ReleaseFigures & Record<string, unknown>>(
      org,
      `SELECT figures.* FROM unnest($3::text[], $4::timestamptz[], $7::text[]) WITH ORDINALITY AS asked (revision, since, config_hash, place)
         CROSS JOIN LATERAL (
           WITH meant AS MATERIALIZED (
             SELECT asked.revision UNION SELECT h.revision FROM parley.agent_releases h
             WHERE h.org = $1 AND h.agent_name = $2 AND h.config_hash = asked.config_hash
           ), begun AS (
             SELECT id, status, finish_reason, ended_at, true AS began FROM parley.calls c
             WHERE org = $1 AND talking_agent = $2 AND c.revision = ANY (ARRAY(SELECT revision FROM meant)) AND ended_at IS NOT NULL
               AND test IS NULL AND (asked.since IS NULL OR (ended_at >= asked.since AND created_at >= asked.since)) AND finish_reason <> ALL ($5)
             ORDER BY ended_at DESC LIMIT ${CALLS_COUNTED}
           ), taken_over AS (
             SELECT c.id, c.status, c.finish_reason, c.ended_at, false AS began FROM parley.call_agents a
               JOIN parley.calls c ON c.org = a.org AND c.id = a.call_id
             WHERE a.org = $1 AND a.agent_name = $2 AND a.revision = ANY (ARRAY(SELECT revision FROM meant)) AND a.took_over_at IS NOT NULL
               AND c.ended_at IS NOT NULL AND c.test IS NULL
               AND (asked.since IS NULL OR (c.ended_at >= asked.since AND c.created_at >= asked.since)) AND c.finish_reason <> ALL ($5)
             ORDER BY c.ended_at DESC LIMIT ${CALLS_COUNTED}
           ), ended AS (
             SELECT * FROM (SELECT * FROM begun UNION ALL SELECT * FROM taken_over) of_both ORDER BY ended_at DESC LIMIT ${CALLS_COUNTED}
           ), reasons AS (
             SELECT finish_reason, count(*)::int AS n FROM ended WHERE status = 'error' GROUP BY 1
           ), judged AS (
             SELECT item->'result' AS result FROM ended e JOIN parley.call_analyses a ON a.org = $1 AND a.call_id = e.id AND e.began
               CROSS JOIN LATERAL jsonb_array_elements(a.items) AS item
             WHERE a.status <> 'processing' AND item->>'name' = $6 AND jsonb_typeof(item->'result') IN ('boolean', 'number')
           )
           SELECT (SELECT count(*)::int FROM ended) AS calls,
             (SELECT coalesce(sum(n), 0)::int FROM reasons) AS errors,
             (SELECT coalesce(jsonb_object_agg(finish_reason, n), '{}') FROM reasons) AS "errorsByReason",
             (SELECT count(*)::int FROM ended e JOIN parley.call_tool_calls t ON t.org = $1 AND t.call_id = e.id WHERE t.failed AND coalesce(t.agent, $2) = $2)
               AS "failedToolCalls",
             (SELECT percentile_cont(0.95) WITHIN GROUP (ORDER BY t.v2v) FROM ended e
              JOIN parley.call_turns t ON t.org = $1 AND t.call_id = e.id WHERE t.v2v IS NOT NULL AND coalesce(t.agent, $2) = $2) AS "p95VoiceToVoiceMs",
             (SELECT json_build_object('results', count(*), 'value',
                avg(CASE jsonb_typeof(result) WHEN 'boolean' THEN CASE WHEN result = 'true' THEN 100 ELSE 0 END ELSE result::float8 END))
              FROM judged) AS analysis,
             coalesce(extract(epoch FROM clock_timestamp() - asked.since) * 1000, 0)::float8 AS "elapsedMs"
         ) figures ORDER BY asked.place`,
      [
        org,
        agentName,
        revisions.map(({ revision }) => revision),
        revisions.map(({ since }) => since ?? null),
        NOT_ITS_CALLS,
        analysis ?? null,
        revisions.map(({ configHash }) => configHash ?? null),
      ],
    );
    return rows;
  }
}
