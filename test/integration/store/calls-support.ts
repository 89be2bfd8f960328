import { newCallId, type NewCall, type Store } from '../../../store/index.ts';

/** A web call of an agent, as the facade registers them. */
export function aCall(org: string, change: Partial<NewCall> = {}): NewCall {
  const id = change.id ?? newCallId();
  return {
    org,
    id,
    callType: 'web_call',
    agentName: 'receptionist',
    agentDisplayName: 'Receptionist',
    agentUid: 'uid-receptionist',
    revision: 'a'.repeat(64),
    maxDurationMs: 1_800_000,
    room: id.replace('_', '-'),
    tokenTtlMs: 600_000,
    ...change,
  };
}

/** Registers a call, and fails where the limit is in the way. @returns its reference */
export async function registerCall(store: Store, org: string, change: Partial<NewCall> = {}): Promise<{ org: string; id: string }> {
  const registration = await store.calls.calls.register(aCall(org, change));
  if (registration.outcome !== 'registered') throw new Error('the limit of live calls is reached');
  return { org, id: registration.call.id };
}
