import { randomUUID } from 'node:crypto';

import { newCallId, type CallUsageRows, type NewCall, type Store, type UsageLine } from '../../../store/index.ts';

/** Returns a web call of an agent, as the facade registers them. */
export function aCall(org: string, change: Partial<NewCall> = {}): NewCall {
  const id = change.id ?? newCallId();
  return {
    org,
    id,
    callType: 'web_call',
    agentName: 'receptionist',
    agentDisplayName: 'Receptionist',
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

/** Returns the usage of one writer, with a line for each change: a request to a language model that costs a cent. */
export function someUsage(...changes: readonly Partial<UsageLine>[]): CallUsageRows {
  const line: UsageLine = {
    kind: 'llm',
    purpose: 'conversation',
    provider: 'openai',
    model: 'm',
    requests: 1,
    estimatedRequests: 0,
    inputTokens: 100,
    cachedInputTokens: 20,
    outputTokens: 10,
    reasoningTokens: 0,
    characters: 0,
    audioMilliseconds: 0,
    cost: { micros: 10_000n, currency: 'USD', priceVersion: 'v1' },
  };
  return { writer: randomUUID(), lines: changes.length === 0 ? [line] : changes.map((change) => Object.assign({ ...line }, change)) };
}
