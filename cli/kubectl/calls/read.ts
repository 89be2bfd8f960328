import type { TurnLatencies } from '../../../calls/turn-latencies.ts';
import { UserError } from '../../../platform/user-error.ts';
import { RestError } from '../../../api/client/rest-client.ts';
import type { CallStatus } from '../../../store/calls/call-state.ts';
import type { Api } from './api.ts';

export interface ShownCost {
  readonly amount: string;
  readonly currency: string;
}

export interface ListedCall {
  readonly _id: string;
  readonly call_type: string;
  readonly call_status: CallStatus;
  readonly call_finish_reason?: string;
  readonly ai_agent_id: string;
  readonly ai_agent_name: string;
  readonly override_ai_agent_id?: string;
  readonly agent_revision?: string;
  readonly created_at: string;
  readonly call_start_time?: string;
  readonly call_end_time?: string;
  readonly call_duration_seconds?: number;
  readonly direction?: string;
  readonly from_number?: string;
  readonly to_number?: string;
  readonly cost?: ShownCost;
}

export interface CallDetails extends ListedCall {
  readonly recorded_call_audio_url?: string;
  readonly messages: readonly { readonly role: string; readonly content: string; readonly timestamp: string }[];
  readonly turns: readonly TurnLatencies[];
  readonly post_call_analysis?: { readonly status: string; readonly items?: unknown };
}

export interface ListCallsOptions {
  readonly agent?: string | undefined;
  /** `live` means registered and ongoing. */
  readonly status?: CallStatus | 'live' | undefined;
  readonly limit: number;
}

/** A page of the API gets no larger. */
export const MAX_CALLS = 1_000;

/** Lists the newest first. Without a state, live calls come whatever their age, and the newest others after them. */
export async function listCalls(api: Api, { agent, status, limit }: ListCallsOptions): Promise<readonly ListedCall[]> {
  const ask = async (state?: CallStatus): Promise<readonly ListedCall[]> => {
    const query = new URLSearchParams({ page_size: String(limit) });
    if (agent !== undefined) query.set('ai_agent_ids', agent);
    if (state !== undefined) query.set('call_status', state);
    const { calls } = (await api.request('GET', `/v1/calls?${query.toString()}`)) as { readonly calls: readonly ListedCall[] };
    return calls;
  };
  if (status !== undefined && status !== 'live') return (await ask(status)).map(withoutToken);
  const lists = await Promise.all([ask('ongoing'), ask('registered'), ...(status === 'live' ? [] : [ask()])]);
  const each = new Map(lists.flat().map((call) => [call._id, call]));
  const live = ({ call_status: state }: ListedCall): boolean => state === 'ongoing' || state === 'registered';
  const sorted = [...each.values()].sort(
    (a, b) => Number(live(b)) - Number(live(a)) || Date.parse(b.created_at) - Date.parse(a.created_at),
  );
  return sorted.slice(0, limit).map(withoutToken);
}

/** @throws UserError when the organisation of the key has no such call */
export async function readCall(api: Api, id: string): Promise<CallDetails> {
  try {
    return withoutToken((await api.request('GET', `/v1/calls/${encodeURIComponent(id)}`)) as CallDetails);
  } catch (error) {
    if (!(error instanceof RestError) || (error.status !== 404 && error.status !== 422 && error.status !== 400)) throw error;
    throw new UserError(`there is no call "${id}" in the organisation of the API key`, {
      cure: '`kubectl parley calls` lists them; a call of another organisation needs its key (-n <organisation>)',
      cause: error,
    });
  }
}

/** Drops the token, which opens the room of a call that waits for its user: it is nothing for a screen or a file. */
function withoutToken<T extends ListedCall>(call: T): T {
  const { access_token: _, ...rest } = call as T & { readonly access_token?: unknown };
  return rest as unknown as T;
}
