/** Calls over REST: registered, looked at and listed. All of it lives in Postgres. */
import { accessTokenOf, TOKEN_TTL_MS } from '../../voice/calls/access-token.ts';
import { callSettingsOf, missingDynamicData } from '../../voice/calls/call-settings.ts';
import { budgetOfRevision, storedBudget } from '../../voice/calls/usage/budget.ts';
import type { CallLifecycle } from '../../voice/calls/lifecycle.ts';
import type { MediaServer } from '../../voice/calls/media-server.ts';
import { roomOf } from '../../voice/calls/names.ts';
import type { Rooms } from '../../voice/calls/rooms.ts';
import type { Clock } from '../../platform/clock.ts';
import { newCallId, type CallRecord, type CallStore } from '../../store/index.ts';
import { ApiError, ValidationError, notFound } from '../http/api-error.ts';
import type { Caller } from '../http/caller.ts';
import { issues } from '../validation/issue.ts';
import type { Admission } from './admission.ts';
import { callRefused, refuseOverBudget } from './budget.ts';
import { openRoom } from './open-room.ts';
import { instantOf, type CallQuery, type WebCallCreate } from './schema.ts';
import type { ServedAgents } from './served-agents.ts';

export interface CallServiceOptions {
  readonly agents: ServedAgents;
  readonly admission: Pick<Admission, 'admit'>;
  readonly lifecycle: CallLifecycle;
  readonly store: Pick<CallStore, 'calls' | 'log' | 'list' | 'usage'>;
  readonly mediaServer: MediaServer | undefined;
  /** Of it. */
  readonly rooms: Pick<Rooms, 'open'> | undefined;
  readonly clock: Clock;
}

export interface CallAccess {
  readonly accessToken?: string;
  readonly mediaUrl?: string;
}

/** The same for an id of another organisation, an unknown one and an impossible one. */

export class CallService {
  readonly #agents: ServedAgents;
  readonly #admission: CallServiceOptions['admission'];
  readonly #lifecycle: CallLifecycle;
  readonly #store: CallServiceOptions['store'];
  readonly #mediaServer: MediaServer | undefined;
  readonly #rooms: CallServiceOptions['rooms'];
  readonly #clock: Clock;

  constructor(options: CallServiceOptions) {
    this.#agents = options.agents;
    this.#admission = options.admission;
    this.#lifecycle = options.lifecycle;
    this.#store = options.store;
    this.#mediaServer = options.mediaServer;
    this.#rooms = options.rooms;
    this.#clock = options.clock;
  }

  /** @throws ApiError `not_found`, `conflict`, `concurrent_call_limit_reached`, `budget_exceeded`, `unavailable` without a media server, and with Retry-After where its user would not be welcomed in time */
  async createWebCall({ org, userId, keyId }: Caller, body: WebCallCreate): Promise<CallRecord> {
    const rooms = this.#rooms;
    if (rooms === undefined)
      throw new ApiError('unavailable', 'no media server is configured: the operator of this installation has to set LIVEKIT_URL');
    const id = newCallId();
    const asked = await this.#agents.find(org, body.ai_agent_id, id);
    const override = body.override_ai_agent_id ?? undefined;
    const talking = override === undefined ? asked : await this.#agents.find(org, override, id);
    const settings = callSettingsOf(talking.config);
    const budget = budgetOfRevision(talking.config, this.#clock.now());
    const dynamicData = body.native_llm_dynamic_data ?? {};
    const missing = missingDynamicData(settings, dynamicData);
    if (missing.length > 0) throw new ValidationError(missing.map((name) => issues.missing(['body', 'native_llm_dynamic_data', name])));
    await refuseOverBudget(this.#store.usage, { org, agentUid: talking.agentUid, budget });
    await this.#admission.admit(org);
    const registration = await this.#lifecycle.register({
      org,
      id,
      callType: 'web_call',
      agentName: asked.agentName,
      agentDisplayName: callSettingsOf(asked.config).displayName,
      overrideAgentName: override,
      agentUid: talking.agentUid,
      revision: talking.revision,
      canary: talking.canary,
      workspace: settings.workspace,
      maxDurationMs: settings.maxDurationMs,
      ...storedBudget(budget),
      recordingEnabled: settings.recordingEnabled,
      recordingRetentionDays: settings.recordingRetentionDays,
      room: roomOf(id),
      tokenTtlMs: TOKEN_TTL_MS,
      metadata: body.metadata ?? {},
      dynamicData,
      createdBy: userId,
      createdByKey: keyId,
    });
    if (registration.outcome !== 'registered') throw callRefused(registration.outcome, budget);
    await openRoom({ rooms, lifecycle: this.#lifecycle }, { org, id });
    return registration.call;
  }

  /** @throws ApiError `not_found` */
  async get(org: string, id: string): Promise<CallRecord> {
    const call = await this.#store.calls.get({ org, id });
    if (call === undefined) throw notFound('Call');
    return call;
  }

  transcript({ org, id }: CallRecord): ReturnType<CallStore['log']['read']> {
    return this.#store.log.read({ org, id });
  }

  /** @param after id of the last call of the page before */
  list(org: string, query: CallQuery, after: string | undefined): ReturnType<CallStore['list']> {
    const time = (text: string | undefined) => (text === undefined ? undefined : instantOf(text));
    return this.#store.list({
      org,
      filter: {
        agentNames: query.ai_agent_ids?.flatMap((ids) => ids.split(',')).filter((id) => id !== ''),
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

  /** What the user of a web call joins with; nothing once the call has begun, or the token would be of no more use. */
  async accessTo({ id, status, tokenExpiresAt }: CallRecord): Promise<CallAccess> {
    const now = this.#clock.now();
    const server = this.#mediaServer;
    if (server === undefined || status !== 'registered' || tokenExpiresAt === null || tokenExpiresAt.getTime() <= now) return {};
    return { accessToken: await accessTokenOf(server, { callId: id, expiresAt: tokenExpiresAt, now }), mediaUrl: server.publicUrl };
  }
}
