/** Calls as REST has them. */
import type { TurnLatencies } from '../../../voice/calls/turn-latencies.ts';
import { UserError } from '../../../platform/user-error.ts';
import { RestRefusal } from '../../../api/client/rest-client.ts';
import type { Api } from './api.ts';

export const callStates = ['registered', 'ongoing', 'ended', 'error'] as const;
export type CallState = (typeof callStates)[number];

export interface CallSummary {
  readonly _id: string;
  readonly call_type: string;
  readonly call_status: CallState;
  readonly call_finish_reason?: string;
  readonly ai_agent_id: string;
  readonly ai_agent_name: string;
  readonly override_ai_agent_id?: string;
  readonly created_at: string;
  readonly call_start_time?: string;
  readonly call_end_time?: string;
  readonly call_duration_seconds?: number;
  readonly direction?: string;
  readonly from_number?: string;
  readonly to_number?: string;
}

export interface Call extends CallSummary {
  readonly recorded_call_audio_url?: string;
  readonly messages: readonly { readonly role: string; readonly content: string; readonly timestamp: string }[];
  readonly turns: readonly TurnLatencies[];
  readonly post_call_analysis?: { readonly status: string; readonly items?: unknown };
}

export interface CallFilter {
  readonly agent?: string | undefined;
  /** `live`: registered and ongoing. */
  readonly status?: CallState | 'live' | undefined;
  readonly limit: number;
}

/** As large as a page of the API gets. */
export const maxCalls = 1_000;

/** Newest first. Without a state, live calls come whatever their age, and the newest others after them. */
export async function listCalls(api: Api, { agent, status, limit }: CallFilter): Promise<readonly CallSummary[]> {
  const ask = async (state?: CallState): Promise<readonly CallSummary[]> => {
    const query = new URLSearchParams({ page_size: String(limit) });
    if (agent !== undefined) query.set('ai_agent_ids', agent);
    if (state !== undefined) query.set('call_status', state);
    const { calls } = (await api.request('GET', `/v1/calls?${query.toString()}`)) as { readonly calls: readonly CallSummary[] };
    return calls;
  };
  if (status !== undefined && status !== 'live') return (await ask(status)).map(withoutToken);
  const lists = await Promise.all([ask('ongoing'), ask('registered'), ...(status === 'live' ? [] : [ask()])]);
  const each = new Map(lists.flat().map((call) => [call._id, call]));
  const live = ({ call_status: state }: CallSummary): boolean => state === 'ongoing' || state === 'registered';
  const sorted = [...each.values()].sort(
    (a, b) => Number(live(b)) - Number(live(a)) || Date.parse(b.created_at) - Date.parse(a.created_at),
  );
  return sorted.slice(0, limit).map(withoutToken);
}

/** @throws UserError when there is none in the organisation of the key */
export async function readCall(api: Api, id: string): Promise<Call> {
  try {
    return withoutToken((await api.request('GET', `/v1/calls/${encodeURIComponent(id)}`)) as Call);
  } catch (error) {
    if (!(error instanceof RestRefusal) || (error.status !== 404 && error.status !== 422 && error.status !== 400)) throw error;
    throw new UserError(`there is no call "${id}" in the organisation of the API key`, {
      cure: '`kubectl parley calls` lists them; a call of another organisation needs its key (-n <organisation>)',
      cause: error,
    });
  }
}

/** It opens the room of a call that waits for its user: nothing for a screen or a file. */
function withoutToken<T extends CallSummary>(call: T): T {
  const { access_token: _, ...rest } = call as T & { readonly access_token?: unknown };
  return rest as unknown as T;
}
