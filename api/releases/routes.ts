/** Answers which revisions serve or served. All is in Postgres: a rollback works while the Kubernetes API is away. */
import type { FastifyInstance } from 'fastify';

import { releaseEvents } from '../../events/release-events.ts';
import { StoreError, type ReleaseFigures, type ReleaseState, type RevisionSummary } from '../../store/index.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { present } from '../../platform/present.ts';
import { ApiError, ValidationError, notFound } from '../http/api-error.ts';
import type { Caller } from '../http/caller.ts';
import { addRoute } from '../http/route.ts';
import type { KindContext } from '../kinds/context.ts';
import { issues } from '../validation/issue.ts';
import { getRelease, getRevision, listRevisions, promote, rollBack } from './descriptions.ts';

const REVISION = /^[0-9a-f]{8,64}$/;

export function registerReleases(
  app: FastifyInstance,
  { pageTokens, views }: Pick<KindContext, 'pageTokens' | 'views'>,
  { store, clock }: Pick<ApiDependencies, 'store' | 'clock'>,
): void {
  const { agentReleases, releaseHistory, releaseFigures } = store;

  const requested = async (
    caller: Caller,
    agentName: string,
    change: 'rollback' | 'promote',
    body: { revision?: unknown; reason?: unknown },
  ) => {
    const { revision, reason } = body as { readonly revision?: string | null; readonly reason?: string | null };
    const options = {
      org: caller.org,
      agentName,
      by: caller.userId ?? caller.keyId,
      reason: reason ?? undefined,
      events: releaseEvents(clock.now()),
    };
    const state = await asAnswers(() =>
      change === 'rollback'
        ? agentReleases.rollback({ ...options, to: revision ?? undefined })
        : agentReleases.promote({ ...options, revision: revision ?? undefined }),
    );
    return releaseToRest(agentName, state);
  };

  addRoute(app, listRevisions, async ({ params: { ai_agent_id: agentName }, query, caller: { org }, timed }) => {
    const list = `revisions/${org}/${agentName}`;
    const [afterTime, afterRevision] = query.page_token === undefined ? [] : pageTokens.read(list, query.page_token);
    const after =
      afterTime === undefined || afterRevision === undefined ? undefined : { createdAt: new Date(afterTime), revision: afterRevision };
    const page = await timed('db', () => releaseHistory.list({ org, agentName, pageSize: query.page_size, after }));
    if (page === undefined) throw notFound('AI agent');
    const analysis = views.agents.newest(org, agentName)?.spec.release?.canary?.abortOn?.analysis?.name;
    const figures = await timed('db', () => releaseFigures.ofPage(org, page, analysis));
    const data = page.items.map((item, index) => summaryToRest(item, figures[index]!));
    const { next } = page;
    return { data, next_page_token: next === undefined ? null : pageTokens.write(list, [next.createdAt.toISOString(), next.revision]) };
  });

  addRoute(app, getRevision, async ({ params: { ai_agent_id: agentName, revision: prefix }, caller: { org }, timed }) => {
    const found = REVISION.test(prefix) ? await timed('db', () => releaseHistory.find({ org, agentName, prefix })) : undefined;
    if (found === undefined) throw notFound('Revision');
    return { revision: found.revision, created_at: found.createdAt.toISOString(), configuration: found.config };
  });

  addRoute(app, getRelease, async ({ params: { ai_agent_id: agentName }, caller: { org }, timed }) => {
    const page = await timed('db', () => releaseHistory.list({ org, agentName, pageSize: 1 }));
    if (page?.release === undefined) throw notFound('AI agent');
    return releaseToRest(agentName, page.release);
  });

  addRoute(app, rollBack, ({ params, body, caller, timed }) => timed('db', () => requested(caller, params.ai_agent_id, 'rollback', body)));
  addRoute(app, promote, ({ params, body, caller, timed }) => timed('db', () => requested(caller, params.ai_agent_id, 'promote', body)));
}

/** Translates the store's refusals. @throws ApiError and ValidationError */
async function asAnswers<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.kind === 'not_found') throw notFound('AI agent');
    if (error.kind === 'conflict') throw new ApiError('conflict', error.message, { cause: error });
    if (error.kind === 'invalid') throw new ValidationError([issues.value(['body', 'revision'], error.message)]);
    throw error;
  }
}

function releaseToRest(agentName: string, { revision, activeSince, canary, rolledBack }: ReleaseState) {
  return {
    ai_agent_id: agentName,
    serving_revision: revision,
    active_since: activeSince.toISOString(),
    ...(canary && { canary: { revision: canary.revision, percent: canary.percent, since: canary.since.toISOString() } }),
    rolled_back: rolledBack.map(({ revision: former, aborted, at, ...author }) => ({
      revision: former,
      aborted,
      ...authorToRest(author),
      at,
    })),
  };
}

function summaryToRest({ revision, createdAt, state, last }: RevisionSummary, figures: ReleaseFigures) {
  return {
    revision,
    created_at: createdAt.toISOString(),
    state,
    ...(last && { last_change: { change: last.change, at: last.at.toISOString(), ...authorToRest(last) } }),
    figures: figuresToRest(figures),
  };
}

function authorToRest({ reason, by }: { readonly reason: string | null; readonly by: string | null }) {
  return present({ reason: reason ?? undefined, requested_by: by ?? undefined });
}

function figuresToRest({ calls, errors, errorsByReason, failedToolCalls, p95VoiceToVoiceMs, analysis }: ReleaseFigures) {
  return present({
    calls,
    errors,
    errors_by_reason: errorsByReason,
    failed_tool_calls: failedToolCalls,
    p95_voice_to_voice_ms: p95VoiceToVoiceMs ?? undefined,
    analysis: present({ results: analysis.results, value: analysis.value ?? undefined }),
  });
}
