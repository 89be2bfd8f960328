/** Registers, reads and lists calls over REST. All of their data is in Postgres. */
import { accessTokenOf, TOKEN_TTL_MS } from '../../calls/access-token.ts';
import type { MediaServer } from '../../calls/media-server.ts';
import type { CallRecord, CallStore } from '../../store/index.ts';
import { notFound } from '../http/api-error.ts';
import type { Caller } from '../http/caller.ts';
import { instantOf } from '../validation/instant.ts';
import { registerCall, type CallRegistration } from './register-call.ts';
import { agentNamesIn, type CallQuery, type WebCallCreate } from './schema.ts';

export interface CallServiceOptions extends CallRegistration {
  readonly store: Pick<CallStore, 'calls' | 'log' | 'list'>;
  readonly mediaServer: MediaServer | undefined;
}

export interface CallAccess {
  readonly accessToken?: string;
  readonly mediaUrl?: string;
}

export class CallService {
  readonly #options: CallServiceOptions;

  constructor(options: CallServiceOptions) {
    this.#options = options;
  }

  /** @throws ApiError `not_found`, `conflict`, `concurrent_call_limit_reached`, `budget_exceeded`, `unavailable` without a media server, and with Retry-After where its user would not be welcomed in time */
  async createWebCall(caller: Caller, body: WebCallCreate): Promise<CallRecord> {
    return registerCall(this.#options, caller, {
      agentName: body.ai_agent_id,
      override: body.override_ai_agent_id ?? undefined,
      body,
      own: { callType: 'web_call', tokenTtlMs: TOKEN_TTL_MS },
    });
  }

  /** @throws ApiError `not_found` */
  async get(org: string, id: string): Promise<CallRecord> {
    const call = await this.#options.store.calls.get({ org, id });
    if (call === undefined) throw notFound('Call');
    return call;
  }

  transcript({ org, id }: CallRecord): ReturnType<CallStore['log']['read']> {
    return this.#options.store.log.read({ org, id });
  }

  /** @param after id of the last call of the page before */
  list(org: string, query: CallQuery, after: string | undefined): ReturnType<CallStore['list']> {
    const time = (text: string | undefined) => (text === undefined ? undefined : instantOf(text));
    return this.#options.store.list({
      org,
      filter: {
        agentNames: agentNamesIn(query.ai_agent_ids),
        status: query.call_status,
        startedFrom: time(query.start_time_after),
        startedTo: time(query.start_time_before),
        endedFrom: time(query.end_time_after),
        endedTo: time(query.end_time_before),
      },
      direction: query.sort_direction === 'asc' ? 'ascending' : 'descending',
      pageSize: query.page_size,
      after,
    });
  }

  /** Returns the means to join a web call; none once the call has begun, or when the token would be of no more use. */
  async accessTo({ id, status, tokenExpiresAt }: CallRecord): Promise<CallAccess> {
    const now = this.#options.clock.now();
    const server = this.#options.mediaServer;
    if (server === undefined || status !== 'registered' || tokenExpiresAt === null || tokenExpiresAt.getTime() <= now) return {};
    return { accessToken: await accessTokenOf(server, { callId: id, expiresAt: tokenExpiresAt, now }), mediaUrl: server.publicUrl };
  }
}
