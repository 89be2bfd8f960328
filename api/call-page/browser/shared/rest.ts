/** Calls the REST API for the pages. No other module keeps the key. */
import { serverEventsOf, type ServerEvent } from '../../../../platform/server-events.ts';
import type { PageAgent } from '../../session/chosen-agent.ts';
import { refusalText } from '../../session/failure.ts';
import type { ShownCall, ShownCallSummary, Delivery } from '../../session/record.ts';

/** Reports that the server refused a request. */
export class RestRefusalError extends Error {
  override readonly name = 'RestRefusalError';
  readonly status: number;
  readonly code: string | undefined;

  constructor(status: number, answer: unknown) {
    super(refusalText(status, answer));
    this.status = status;
    this.code = (answer as { readonly error?: string } | undefined)?.error;
  }
}

export interface ListedCalls {
  readonly calls: readonly ShownCallSummary[];
  readonly next_page_token: string | null;
  readonly total_count: number;
}

export interface ReceiverDeliveries {
  /** Name of the subscription, or a text that stands for the agent's own address. */
  readonly receiver: string;
  readonly deliveries: readonly Delivery[];
}

/** What a call is given, by the names of REST. */
export interface CallData {
  readonly native_llm_dynamic_data: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
}

export interface Rest {
  /** Returns the agents, sorted by name. */
  agents(): Promise<readonly PageAgent[]>;
  createCall(agent: string, data: CallData): Promise<ShownCall>;
  call(id: string): Promise<ShownCall>;
  recording(id: string): Promise<Blob>;
  /** @param query a result of `callsQuery` */
  calls(query: string): Promise<ListedCalls>;
  /** Returns what was sent about a call, to its agent's own address and to subscriptions. */
  deliveries(call: ShownCall, signal: AbortSignal): Promise<readonly ReceiverDeliveries[]>;
  /** Returns what the key may do with a call that goes on. */
  may(): Promise<{ readonly control: boolean; readonly listen: boolean }>;
  /** Has something done in a call that goes on. */
  command(id: string, command: 'say' | 'instructions' | 'mute', body: object): Promise<void>;
  /** Asks for the means to join the room of a call beside its user. */
  enter(id: string, how: 'listen' | 'take-over'): Promise<{ readonly access_token: string; readonly media_url: string }>;
  /** Reads the events of a call until the server ends them. */
  events(
    id: string,
    options: {
      /** Id of the last event that is known. */
      readonly after: string | undefined;
      readonly signal: AbortSignal;
      readonly onEvent: (event: ServerEvent) => void;
      readonly onId: (id: string) => void;
    },
  ): Promise<void>;
  /** The key, for the part of an address that servers don't see. */
  readonly keyForLink: string;
}

interface SubscriptionPage {
  readonly data: readonly { readonly id: string; readonly name: string }[];
  readonly next_page_token: string | null;
}

const WEBHOOKS = '/v1/public/webhook';

export function restWith(key: string): Rest {
  const ask = async (method: 'GET' | 'POST', path: string, body?: object, signal?: AbortSignal): Promise<Response> => {
    const response = await fetch(path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      cache: 'no-store',
      ...(signal !== undefined && { signal }),
    });
    if (response.ok) return response;
    throw new RestRefusalError(response.status, await response.json().catch(() => undefined));
  };
  const json = async <T>(...request: Parameters<typeof ask>): Promise<T> => (await (await ask(...request)).json()) as T;
  return {
    keyForLink: key,
    async agents() {
      const { data } = await json<{ readonly data: readonly PageAgent[] }>('GET', '/call/agents');
      return data.toSorted((left, right) => left.agent_name.localeCompare(right.agent_name));
    },
    createCall: (agent, data) => json('POST', '/v1/calls/create-web-call', { ai_agent_id: agent, ...data }),
    call: (id) => json('GET', `/v1/calls/${encodeURIComponent(id)}`),
    calls: (query) => json('GET', `/v1/calls?${query}`),
    async deliveries(call, signal) {
      const found: ReceiverDeliveries[] = [];
      const add = async (receiver: string, path: string): Promise<void> => {
        const query = `page_size=100&call_id=${encodeURIComponent(call._id)}`;
        const { data } = await json<{ readonly data: readonly Delivery[] }>('GET', `${WEBHOOKS}/${path}/deliveries?${query}`);
        if (data.length > 0) found.push({ receiver, deliveries: data });
      };
      const agent = call.override_ai_agent_id ?? call.ai_agent_id;
      await add("the agent's own webhook", `agent/${encodeURIComponent(agent)}`).catch((error: unknown) => {
        // The agent has been deleted.
        if (!(error instanceof RestRefusalError && error.status === 404)) throw error;
      });
      let token: string | null = '';
      while (token !== null) {
        const page: SubscriptionPage = await json(
          'GET',
          `${WEBHOOKS}/subscriptions?page_size=100${token && `&page_token=${encodeURIComponent(token)}`}`,
        );
        // The requests go one after the other: the key has a rate limit, and its other users come first.
        for (const { id, name } of page.data) {
          if (signal.aborted) return found;
          await add(name, `subscription/${encodeURIComponent(id)}`);
        }
        token = page.next_page_token;
      }
      return found;
    },
    may: () => json('GET', '/call/permissions'),
    command: async (id, command, body) => void (await ask('POST', `/v1/calls/${encodeURIComponent(id)}/${command}`, body)),
    enter: (id, how) => json('POST', `/v1/calls/${encodeURIComponent(id)}/${how}`),
    async events(id, { after, signal, onEvent, onId }) {
      const query = after === undefined ? '' : `?last_event_id=${after}`;
      const { body } = await ask('GET', `/v1/calls/${encodeURIComponent(id)}/events${query}`, undefined, signal);
      if (body === null) return;
      for await (const event of serverEventsOf(partsOf(body))) {
        if (event.id !== undefined) onId(event.id);
        onEvent(event);
      }
    },
    recording: async (id) => (await ask('POST', '/v1/call-recording/download', { call_id: id })).blob(),
  };
}

/** Yields the parts of a stream; not every browser iterates over streams. */
async function* partsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
}
