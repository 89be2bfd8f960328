/** Reads and changes releases over the REST API, or in Postgres itself while everything else is away. */
import { userInfo } from 'node:os';

import { releaseEvents } from '../../../events/release-events.ts';
import { UserError } from '../../../platform/user-error.ts';
import { RestError } from '../../../api/client/rest-client.ts';
import type { ReleaseFigures, RevisionSummary, Store } from '../../../store/index.ts';
import type { Api } from '../calls/api.ts';

export interface ListedRevision {
  readonly revision: string;
  readonly created_at: string;
  readonly state: string;
  readonly last_change?: {
    readonly change: string;
    readonly at: string;
    readonly reason?: string | undefined;
    readonly requested_by?: string | undefined;
  };
  readonly figures: { readonly calls: number; readonly errors: number; readonly p95_voice_to_voice_ms?: number | undefined };
}

export interface Release {
  readonly serving_revision: string;
  readonly canary?: { readonly revision: string; readonly percent: number; readonly since: string };
}

export interface RevisionDetails {
  readonly revision: string;
  readonly configuration: unknown;
}

export interface ReleaseSource {
  history(agent: string, limit: number): Promise<{ readonly release: Release | undefined; readonly revisions: readonly ListedRevision[] }>;
  revision(agent: string, prefix: string): Promise<RevisionDetails>;
  rollback(agent: string, options: { readonly revision?: string | undefined; readonly reason?: string | undefined }): Promise<Release>;
  promote(agent: string, options: { readonly revision?: string | undefined; readonly reason?: string | undefined }): Promise<Release>;
}

/** @throws UserError with the API's message for a request that can't be carried out */
export function restSource(api: Api): ReleaseSource {
  const ask = async <T>(method: 'GET' | 'POST', agent: string, path: string, body?: object): Promise<T> => {
    try {
      return (await api.request(method, `/v2/ai-agents/${encodeURIComponent(agent)}${path}`, body)) as T;
    } catch (error) {
      if (error instanceof RestError && [404, 409, 422].includes(error.status))
        throw new UserError(`agent ${agent}: ${error.message}`, { cure: cureForRefusal(error), cause: error });
      throw error;
    }
  };
  return {
    async history(agent, limit) {
      const { data } = await ask<{ data: readonly ListedRevision[] }>('GET', agent, `/revisions?page_size=${limit}`);
      const served = data.some(({ state }) => state === 'serving');
      return { release: served ? await ask<Release>('GET', agent, '/release') : undefined, revisions: data };
    },
    revision: (agent, prefix) => ask('GET', agent, `/revisions/${encodeURIComponent(prefix)}`),
    rollback: (agent, body) => ask('POST', agent, '/rollback', body),
    promote: (agent, body) => ask('POST', agent, '/promote', body),
  };
}

function cureForRefusal({ said }: RestError): string {
  return said === 'AI agent not found'
    ? '`kubectl get agents.parley.dev` lists the agents'
    : '`parley history <agent>` lists the revisions';
}

/** Reaches new calls without the api and without Kubernetes. The operator reads it when it is back. */
export function storeSource({ agentReleases, releaseHistory, releaseFigures }: Store, org: string, now: number): ReleaseSource {
  const by = `${userInfo().username} (parley --store)`;
  const request = (agentName: string, reason: string | undefined) => ({ org, agentName, by, reason, events: releaseEvents(now) });
  const unknown = (agent: string, what: string): UserError =>
    new UserError(`agent ${agent}: there is no ${what} in organisation ${org}`, { cure: 'name the organisation with --org' });
  const shown = (state: Awaited<ReturnType<typeof agentReleases.promote>>): Release => ({
    serving_revision: state.revision,
    ...(state.canary && {
      canary: { revision: state.canary.revision, percent: state.canary.percent, since: state.canary.since.toISOString() },
    }),
  });
  const listed = ({ revision, createdAt, state, last }: RevisionSummary, figures: ReleaseFigures): ListedRevision => ({
    revision,
    created_at: createdAt.toISOString(),
    state,
    ...(last && {
      last_change: {
        change: last.change,
        at: last.at.toISOString(),
        reason: last.reason ?? undefined,
        requested_by: last.by ?? undefined,
      },
    }),
    figures: { calls: figures.calls, errors: figures.errors, p95_voice_to_voice_ms: figures.p95VoiceToVoiceMs ?? undefined },
  });
  return {
    async history(agentName, limit) {
      const page = await releaseHistory.list({ org, agentName, pageSize: limit });
      if (page === undefined) throw unknown(agentName, 'revision of it');
      const { release } = page;
      const figures = await releaseFigures.ofPage(org, page);
      return { release: release && shown(release), revisions: page.items.map((item, index) => listed(item, figures[index]!)) };
    },
    async revision(agentName, prefix) {
      const found = await releaseHistory.find({ org, agentName, prefix });
      if (found === undefined) throw unknown(agentName, `single revision ${prefix} of it`);
      return { revision: found.revision, configuration: found.config };
    },
    rollback: async (agent, { revision, reason }) => shown(await agentReleases.rollback({ ...request(agent, reason), to: revision })),
    promote: async (agent, { revision, reason }) => shown(await agentReleases.promote({ ...request(agent, reason), revision })),
  };
}
