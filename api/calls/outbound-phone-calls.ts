/** Calls that go out by phone, as REST begins them: registered, and handed to an agent that rings. */
import type { Rooms } from '../../voice/calls/rooms.ts';
import { callSettingsOf, missingDynamicData } from '../../voice/calls/call-settings.ts';
import { budgetOfRevision, storedBudget } from '../../voice/calls/usage/budget.ts';
import type { CallLifecycle } from '../../voice/calls/lifecycle.ts';
import { roomOf } from '../../voice/calls/names.ts';
import type { Clock } from '../../platform/clock.ts';
import { newCallId, type CallRecord, type CallStore, type PhoneRoutes } from '../../store/index.ts';
import { ApiError, ValidationError, notFound } from '../http/api-error.ts';
import type { Caller } from '../http/caller.ts';
import { issues } from '../validation/issue.ts';
import type { Admission } from './admission.ts';
import { callRefused, refuseOverBudget } from './budget.ts';
import { openRoom } from './open-room.ts';
import type { OutboundCallCreate } from './schema.ts';
import type { ServedAgents } from './served-agents.ts';

export interface OutboundPhoneCallsOptions {
  readonly agents: Pick<ServedAgents, 'find'>;
  readonly admission: Pick<Admission, 'admit'>;
  readonly lifecycle: Pick<CallLifecycle, 'register' | 'end'>;
  readonly usage: Pick<CallStore['usage'], 'spentSince'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly routes: Pick<PhoneRoutes, 'get'>;
  /** Undefined where there is no media server. */
  readonly rooms: Pick<Rooms, 'open'> | undefined;
}

export class OutboundPhoneCalls {
  readonly #options: OutboundPhoneCallsOptions;

  constructor(options: OutboundPhoneCallsOptions) {
    this.#options = options;
  }

  /**
   * Asks Postgres and the media server: calls are made while the Kubernetes API is unavailable.
   *
   * @throws ApiError `not_found` for a number or an agent that isn't there, `conflict` for a number that can't call,
   * `concurrent_call_limit_reached`, `budget_exceeded`, `unavailable` where the media server is missing or doesn't answer,
   * or no voice server has room for one more call
   */
  async dial({ org, userId, keyId }: Caller, body: OutboundCallCreate): Promise<CallRecord> {
    const { agents, admission, lifecycle, usage, routes, rooms, clock } = this.#options;
    if (rooms === undefined)
      throw new ApiError('unavailable', 'no media server is configured: the operator of this installation has to set LIVEKIT_URL');
    const { from_number: fromNumber, to_number: toNumber } = body;
    const route = await routes.get({ org, number: fromNumber });
    if (route === undefined) throw notFound('Phone number');
    const override = body.override_ai_agent_id ?? undefined;
    const askedFor = route.outboundAgent ?? override;
    if (askedFor === undefined)
      throw new ApiError('conflict', `no agent calls from ${fromNumber}: set its outbound_agent_id, or name one in override_ai_agent_id`);
    if (route.outboundTrunk === null)
      throw new ApiError(
        'conflict',
        `${fromNumber} is connected to no trunk that it could call through: set its sip_termination_uri, and see the condition Synced of PhoneNumber ${route.name}`,
      );
    const id = newCallId();
    const asked = await agents.find(org, askedFor, id);
    const talking = override === undefined || override === askedFor ? asked : await agents.find(org, override, id);
    const settings = callSettingsOf(talking.config);
    const budget = budgetOfRevision(talking.config, clock.now());
    const dynamicData = body.native_llm_dynamic_data ?? {};
    const missing = missingDynamicData(settings, dynamicData);
    if (missing.length > 0) throw new ValidationError(missing.map((name) => issues.missing(['body', 'native_llm_dynamic_data', name])));
    await refuseOverBudget(usage, { org, agentUid: talking.agentUid, budget });
    await admission.admit(org);
    const registration = await lifecycle.register({
      org,
      id,
      callType: 'phone_call',
      direction: 'outbound',
      agentName: asked.agentName,
      agentDisplayName: callSettingsOf(asked.config).displayName,
      overrideAgentName: talking === asked ? undefined : talking.agentName,
      agentUid: talking.agentUid,
      revision: talking.revision,
      canary: talking.canary,
      workspace: settings.workspace,
      maxDurationMs: settings.maxDurationMs,
      ...storedBudget(budget),
      recordingEnabled: settings.recordingEnabled,
      recordingRetentionDays: settings.recordingRetentionDays,
      room: roomOf(id),
      fromNumber,
      toNumber,
      metadata: body.metadata ?? {},
      dynamicData,
      createdBy: userId,
      createdByKey: keyId,
    });
    if (registration.outcome !== 'registered') throw callRefused(registration.outcome, budget);
    await openRoom({ rooms, lifecycle }, { org, id });
    return registration.call;
  }
}
