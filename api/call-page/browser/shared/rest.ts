/** Calls the REST API for the pages. No other module keeps the key. */
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
  /** The key, for the part of an address that servers don't see. */
  readonly keyForLink: string;
}

interface SubscriptionPage {
  readonly data: readonly { readonly id: string; readonly name: string }[];
  readonly next_page_token: string | null;
}

const WEBHOOKS = '/v1/public/webhook';

export function restWith(key: string): Rest {
  const ask = async (method: 'GET' | 'POST', path: string, body?: object): Promise<Response> => {
    const response = await fetch(path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      cache: 'no-store',
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
    recording: async (id) => (await ask('POST', '/v1/call-recording/download', { call_id: id })).blob(),
  };
}
