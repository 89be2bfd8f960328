/** Makes what an installation has when it is upgraded, and checks that it still has it. */
import { eventually } from '../support/eventually.ts';
import { Servers, startEndpoint } from '../support/http-servers.ts';
import type { TestStackEnv } from '../support/stack.ts';

/** The examples have this knowledge base. */
const exampleBase = 'workshop-handbook';

export interface Receiver {
  readonly url: string;
  /** Ids of events that were taken, in the order in which they came. */
  readonly taken: readonly string[];
  readonly refused: readonly string[];
  /** Takes events from now on, instead of answering 503. */
  open(): void;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const taken: string[] = [];
  const refused: string[] = [];
  let open = false;
  const servers = new Servers();
  const { url } = await startEndpoint(servers, (response, { headers }) => {
    (open ? taken : refused).push(String(headers['webhook-id']));
    response.writeHead(open ? 204 : 503).end();
  });
  return {
    url: `${url}/upgrade`,
    taken,
    refused,
    open: () => (open = true),
    close: () => servers.stop(),
  };
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

type Rest = (method: string, path: string, body?: object | FormData) => Promise<Answer>;

export function restOf({ PARLEY_URL: url, PARLEY_API_KEY: key }: TestStackEnv): Rest {
  return async (method, path, body) => {
    const isForm = body instanceof FormData;
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(body !== undefined && !isForm && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: (text.startsWith('{') ? JSON.parse(text) : { text }) as Answer['body'] };
  };
}

export interface LiveData {
  readonly agentId: string;
  readonly subscriptionId: string;
  readonly callId: string;
  /** The agent as it was answered. */
  readonly agent: Answer['body'];
}

/** Makes an agent, a subscription whose receiver is unavailable, and the call of the first start; documents come with the examples. */
export async function makeLiveData(rest: Rest, receiver: Receiver): Promise<LiveData> {
  const agent = await must(rest, 201, 'POST', '/v2/ai-agents', {
    agent_name: 'Survivor',
    llm: { model_name: 'gpt-4o-mini', system_prompt: 'You are the one who outlives upgrades.' },
    stt: { provider: 'deepgram' },
    tts: { provider: 'elevenlabs' },
  });
  const hook = await must(rest, 201, 'POST', '/v1/public/webhook/subscription', {
    name: 'Upgrade',
    url: receiver.url,
    enable_signed_webhooks: true,
    retry_policy: { retryStrategy: 'FIXED_DELAY', maxRetryAttempts: 10, maxRetryDelayMs: 60_000 },
  });
  const calls = await eventually(async () => {
    const found = await must(rest, 200, 'GET', '/v1/calls?ai_agent_ids=receptionist&sort_direction=asc&page_size=1');
    const [first] = found['calls'] as readonly { readonly _id: string; readonly call_status: string }[];
    if (first?.call_status !== 'ended') throw new Error('the first call is not over');
    return first;
  });
  await searched(rest);
  const agentId = agent['ai_agent_id'] as string;
  return {
    agentId,
    subscriptionId: hook['id'] as string,
    callId: calls._id,
    agent: await must(rest, 200, 'GET', `/v2/ai-agents/${agentId}`),
  };
}

/** Checks that everything that was there is there, and can be changed. */
export async function checkLiveData(rest: Rest, data: LiveData): Promise<void> {
  await eventually(async () => {
    const agent = await must(rest, 200, 'GET', `/v2/ai-agents/${data.agentId}`);
    for (const [name, value] of Object.entries(data.agent))
      // Another version compiles another revision.
      if (!name.startsWith('updated') && name !== 'state' && !isKept(value, agent[name]))
        throw new Error(`the agent's ${name} was ${JSON.stringify(value)} and is ${JSON.stringify(agent[name])}`);
  });
  await must(rest, 200, 'GET', `/v1/public/webhook/subscription/${data.subscriptionId}`);
  await must(rest, 200, 'GET', `/v1/public/webhook/subscription/${data.subscriptionId}/deliveries`);
  const call = await must(rest, 200, 'GET', `/v1/calls/${data.callId}`);
  if (call['call_status'] !== 'ended' || (call['messages'] as readonly unknown[]).length === 0)
    throw new Error('the call is not what it was');
  const recording = await rest('POST', '/v1/call-recording/download', { call_id: data.callId });
  if (recording.status !== 200) throw new Error(`the recording answers ${recording.status}`);
  await searched(rest);
}

/** Tells whether a value is what it was. A newer version may know more of an object. */
function isKept(before: unknown, now: unknown): boolean {
  if (typeof before !== 'object' || before === null || typeof now !== 'object' || now === null) return before === now;
  if (Array.isArray(before) && (!Array.isArray(now) || before.length !== now.length)) return false;
  return Object.entries(before).every(([name, value]) => isKept(value, (now as Readonly<Record<string, unknown>>)[name]));
}

/** Writes something of every kind that other roles work on. */
export async function work(rest: Rest, round: string): Promise<void> {
  const form = new FormData();
  form.set('file', new Blob([`The password of ${round} is swordfish-${round}.`], { type: 'text/plain' }), `${round}.txt`);
  const uploaded = await rest('POST', `/api/v1/knowledge-bases/${exampleBase}/documents/file`, form);
  if (uploaded.status >= 300) throw new Error(`an upload answers ${uploaded.status}: ${JSON.stringify(uploaded.body)}`);
  await eventually(async () => {
    const found = await must(rest, 200, 'POST', '/api/v1/vector/search', {
      knowledge_base_id: exampleBase,
      query: `password of ${round}`,
      top_k: 5,
    });
    if (!JSON.stringify(found).includes(`swordfish-${round}`)) throw new Error(`what was uploaded during ${round} is not found`);
  });
}

async function searched(rest: Rest): Promise<void> {
  await eventually(async () => {
    const found = await must(rest, 200, 'POST', '/api/v1/vector/search', {
      knowledge_base_id: exampleBase,
      query: 'when is the chain to be replaced?',
      top_k: 3,
    });
    if (!JSON.stringify(found).includes('bicycle-care.pdf')) throw new Error('the example documents are not found');
  });
}

export async function must(rest: Rest, status: number, method: string, path: string, body?: object): Promise<Answer['body']> {
  const answer = await rest(method, path, body);
  if (answer.status !== status) throw new Error(`${method} ${path} answers ${answer.status}: ${JSON.stringify(answer.body).slice(0, 500)}`);
  return answer.body;
}
