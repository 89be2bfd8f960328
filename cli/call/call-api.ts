/** Makes a call over REST, waits for it and fetches its recording. Every refusal names what it is about and what to do. */
import type { TurnLatencies } from '../../calls/turn-latencies.ts';
import { pollUntil, type PollOptions } from '../../platform/poll-until.ts';
import { UserError } from '../../platform/user-error.ts';
import { RestError, type RestClient } from '../../api/client/rest-client.ts';

export interface MadeCall {
  readonly id: string;
  readonly agentName: string;
  readonly token: string;
  readonly url: string;
}

export interface CallView {
  readonly _id: string;
  readonly ai_agent_name: string;
  readonly call_status: 'registered' | 'ongoing' | 'ended' | 'error';
  readonly call_finish_reason?: string;
  readonly call_duration_seconds?: number;
  readonly access_token?: string;
  readonly media_url?: string;
  readonly messages: readonly { readonly role: 'agent' | 'user'; readonly content: string; readonly timestamp: string }[];
  readonly turns: readonly TurnLatencies[];
}

export interface NewCallRequest {
  readonly agent: string;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
  readonly data: Readonly<Record<string, string>>;
}

const ASK_EVERY_MS = 250;

/** @throws UserError where no call can be made, or the signal's reason */
export async function makeCall(rest: RestClient, { agent, metadata, data }: NewCallRequest, signal: AbortSignal): Promise<MadeCall> {
  const body = {
    ai_agent_id: agent,
    ...(metadata !== undefined && { metadata }),
    ...(Object.keys(data).length > 0 && { native_llm_dynamic_data: data }),
  };
  const call = (await rest.request('POST', '/v1/calls/create-web-call', body, { signal }).catch((error: unknown) => {
    throw error instanceof RestError ? explain(error, agent) : error;
  })) as CallView;
  const { access_token: token, media_url: url } = call;
  if (token === undefined || url === undefined) throw new UserError(`call ${call._id} was created without an access token or a media URL`);
  return { id: call._id, agentName: call.ai_agent_name, token, url };
}

function explain(refusal: RestError, agent: string): UserError {
  const because = (message: string, cure: string): UserError => new UserError(message, { cure, cause: refusal });
  switch (refusal.status) {
    case 404:
      return because(
        `there is no agent "${agent}" in the organisation of this key`,
        '`kubectl get agents.parley.dev` lists the agents; the name of the resource is the id of the agent',
      );
    case 409:
      return because(`agent "${agent}" can't take calls: ${refusal.said}`, `\`parley explain agent ${agent}\` shows what is wrong with it`);
    case 422:
      return because(`the call can't be made: ${refusal.said}`, 'pass the dynamic data that the agent requires: --data name=value');
    case 503:
      return because(
        `no call can be made: ${refusal.said}`,
        'calls need a media server (LIVEKIT_URL of the api) and Postgres; `parley dev status` shows what runs here',
      );
    default:
      return refusal.code === 'concurrent_call_limit_reached'
        ? because(
            'the organisation reached its limit of live calls',
            'end one, or allow more: parley org limit <organisation> --live-calls <number>',
          )
        : refusal;
  }
}

/** The client limits how long one look may take. */
type Waiting = Omit<PollOptions, 'everyMs'>;

/** Returns the call when it is over; as it is when that takes too long. */
export function endOf(rest: RestClient, id: string, waiting: Waiting): Promise<CallView> {
  return pollUntil(
    () => rest.request('GET', `/v1/calls/${id}`) as Promise<CallView>,
    ({ call_status: status }) => status === 'ended' || status === 'error',
    { ...waiting, everyMs: ASK_EVERY_MS },
  );
}

/** Returns the recording once it is there; undefined when none has come. @throws UserError for a key that may not read it */
export function recordingOf(rest: RestClient, id: string, waiting: Waiting): Promise<Uint8Array | undefined> {
  const { signal } = waiting;
  const look = (): Promise<Uint8Array | undefined> =>
    rest.download('POST', '/v1/call-recording/download', { call_id: id }, { signal }).catch((error: unknown) => {
      // The call is not over, or its recording is not in the storage yet.
      const isLate = error instanceof RestError && (error.status === 404 || error.status === 409);
      if (!isLate && signal?.aborted !== true) throw error;
      return undefined;
    });
  return pollUntil(look, (recording) => recording !== undefined, { ...waiting, everyMs: ASK_EVERY_MS });
}
