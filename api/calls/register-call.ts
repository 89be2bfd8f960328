/** Registers the calls that clients of REST ask for. */
import { callSettingsOf, missingDynamicData } from '../../calls/call-settings.ts';
import type { CallLifecycle } from '../../calls/lifecycle.ts';
import { roomOf } from '../../calls/names.ts';
import type { Rooms } from '../../calls/rooms.ts';
import { servedBudget, storedBudget, type DailyBudget } from '../../calls/usage/budget.ts';
import type { Clock } from '../../platform/clock.ts';
import { newCallId, type CallRecord, type CallRef, type CallStore, type NewCall } from '../../store/index.ts';
import { ApiError, ValidationError } from '../http/api-error.ts';
import type { Caller } from '../http/caller.ts';
import { currentRequest } from '../http/request-state.ts';
import { issues } from '../validation/issue.ts';
import type { Admission } from './admission.ts';
import { callLimitReached, unjoinedLimitReached } from './call-limit.ts';
import type { OutboundCallCreate } from './schema.ts';
import type { ServedAgents } from './served-agents.ts';

export interface CallRegistration {
  readonly agents: Pick<ServedAgents, 'find' | 'others' | 'workspaceOf'>;
  readonly admission: Pick<Admission, 'admit'>;
  readonly lifecycle: Pick<CallLifecycle, 'register' | 'end'>;
  readonly usage: Pick<CallStore['usage'], 'spentSince'>;
  /** Value of PARLEY_UNJOINED_CALLS_PERCENT. */
  readonly unjoinedPercent: number;
  readonly clock: Pick<Clock, 'now'>;
  /** Undefined where there is no media server. */
  readonly rooms: Pick<Rooms, 'open'> | undefined;
}

interface AskedCall {
  /** The agent that was asked for; `override` names the one that is to talk in its stead. */
  readonly agentName: string;
  readonly override: string | undefined;
  readonly body: Pick<OutboundCallCreate, 'metadata' | 'native_llm_dynamic_data'>;
  /** Fields that only calls of this type have. */
  readonly own: Pick<NewCall, 'callType' | 'direction' | 'tokenTtlMs' | 'fromNumber' | 'toNumber'>;
}

/** Retry-After where the media server did not answer, in seconds. */
const RETRY_SECONDS = 5;

/** @throws ApiError `unavailable` without a media server */
export function requireMediaServer<T>(rooms: T | undefined): T {
  if (rooms !== undefined) return rooms;
  throw new ApiError('unavailable', 'no media server is configured: the operator of this installation has to set LIVEKIT_URL');
}

/**
 * Registers a call and opens its room.
 * @throws ApiError `not_found`, `conflict`, `concurrent_call_limit_reached`, `budget_exceeded`, `unavailable` where the media server is missing or doesn't
 *   answer, and with Retry-After where its user would not be welcomed in time
 */
export async function registerCall(
  { agents, admission, lifecycle, usage, unjoinedPercent, clock, ...server }: CallRegistration,
  { org, userId, keyId }: Caller,
  { agentName, override, body, own }: AskedCall,
): Promise<CallRecord> {
  const rooms = requireMediaServer(server.rooms);
  const id = newCallId(currentRequest()?.newUuid());
  const asked = await agents.find(org, agentName, id);
  const talking = override === undefined ? asked : await agents.find(org, override, id);
  const others = await agents.others(org, talking, id);
  const settings = callSettingsOf(talking.config);
  const budget = servedBudget(talking, clock.now());
  const dynamicData = body.native_llm_dynamic_data ?? {};
  const missing = missingDynamicData(settings, dynamicData);
  if (missing.length > 0) throw new ValidationError(missing.map((name) => issues.missing(['body', 'native_llm_dynamic_data', name])));
  await refuseOverBudget(usage, { org, agentName: talking.agentName, budget });
  const limited = { org, createdByKey: keyId, ...(own.callType === 'web_call' && { unjoinedPercent }) };
  await admission.admit(limited);
  const registration = await lifecycle.register({
    ...own,
    ...limited,
    id,
    agentName: asked.agentName,
    agentDisplayName: callSettingsOf(asked.config).displayName,
    overrideAgentName: override,
    revision: talking.revision,
    canary: talking.canary,
    others,
    workspace: agents.workspaceOf(org, talking.agentName),
    maxDurationMs: settings.maxDurationMs,
    ...storedBudget(budget),
    recordingEnabled: settings.recordingEnabled,
    recordingRetentionMs: settings.recordingRetentionMs,
    room: roomOf(id),
    metadata: body.metadata ?? {},
    dynamicData,
    createdBy: userId,
  });
  if (registration.outcome === 'budget_exceeded' && budget !== undefined) throw budgetExceeded(budget);
  if (registration.outcome === 'unjoined_limit_reached') throw unjoinedLimitReached(registration.limit);
  if (registration.outcome !== 'registered') throw callLimitReached();
  await openRoom({ rooms, lifecycle }, { org, id });
  return registration.call;
}

/** Refuses early and so spares the work before the registration, which decides. @throws ApiError `budget_exceeded` */
async function refuseOverBudget(
  usage: Pick<CallStore['usage'], 'spentSince'>,
  { org, agentName, budget }: { readonly org: string; readonly agentName: string; readonly budget: DailyBudget | undefined },
): Promise<void> {
  if (budget === undefined) return;
  const { micros, currency, since } = budget;
  if ((await usage.spentSince({ org, agentName, currency, since: new Date(since) })) >= micros) throw budgetExceeded(budget);
}

/** Makes the refusal of a call whose agent's calls have cost as much as they may in a day. */
function budgetExceeded({ amount, currency, until }: DailyBudget): ApiError {
  const reset = new Date(until).toISOString();
  return new ApiError(
    'budget_exceeded',
    `the calls of the agent have cost its daily budget of ${amount} ${currency}: raise its budget, or try again after ${reset}`,
  );
}

/**
 * Opens the room of a call that was just registered: rooms come from here and not from joining, so that the limits hold.
 * @throws ApiError `unavailable` when the media server doesn't answer; the call has ended then
 */
async function openRoom(
  { rooms, lifecycle }: { readonly rooms: Pick<Rooms, 'open'>; readonly lifecycle: Pick<CallLifecycle, 'end'> },
  { org, id }: CallRef,
): Promise<void> {
  try {
    await rooms.open(id);
  } catch (cause) {
    // No user can join a room that does not exist.
    await lifecycle.end({ org, id, reason: 'native_platform_internal_error' });
    throw new ApiError('unavailable', 'the media server does not answer, and there is no call; try again', {
      cause,
      retryAfterSeconds: RETRY_SECONDS,
    });
  }
}
