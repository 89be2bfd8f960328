/** The REST API as the pages use it. The key is in here, and nowhere else. */
import type { PageAgent } from '../../session/chosen-agent.ts';
import { refusalText } from '../../session/failure.ts';
import type { CallRecord } from '../../session/record.ts';

/** The server said no. */
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

export interface Rest {
  /** In the order of their names. */
  agents(): Promise<readonly PageAgent[]>;
  createCall(agent: string, data: Readonly<Record<string, string>>): Promise<CallRecord>;
  call(id: string): Promise<CallRecord>;
  recording(id: string): Promise<Blob>;
  /** For the part of an address that servers don't see. */
  readonly keyForLink: string;
}

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
    createCall: (agent, data) => json('POST', '/v1/calls/create-web-call', { ai_agent_id: agent, native_llm_dynamic_data: data }),
    call: (id) => json('GET', `/v1/calls/${encodeURIComponent(id)}`),
    recording: async (id) => (await ask('POST', '/v1/call-recording/download', { call_id: id })).blob(),
  };
}
