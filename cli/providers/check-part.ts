/** Checks a part of a provider with the smallest request that a call would make, so that key, credit and model are known to be right. */
import { fetch, type Response as Answer } from 'undici';

import {
  CompletionRequest,
  failuresOf,
  llmEndpointOf,
  ModelQuirks,
  sttEndpointOf,
  toCallFailure,
  ttsEndpointOf,
  type ProviderEndpoint,
  type ProviderFetch,
  type ProviderPart,
} from '../../calls/provider-access/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { isObject, parseJson } from '../../platform/json.ts';
import { unobserved } from '../../platform/telemetry/gen-ai/model-requests.ts';
import { wavOf } from '../../platform/wav.ts';
import { chatRequestOf } from '../../voice/providers/llm/chat-request.ts';
import { sttProtocolOf, ttsProtocolOf } from '../../voice/providers/provider-table.ts';
import { cartesiaApi } from '../../voice/providers/protocol-support.ts';
import { knownProvider } from './catalogue.ts';
import type { ChosenPart } from './choose-parts.ts';
import {
  explainFailure,
  explainNonsense,
  explainRefusal,
  explainSlowness,
  isWebPage,
  type AskedPart,
  type PartProblem,
  type Refusal,
} from './explain-refusal.ts';
import type { ProviderKey } from './read-keys.ts';

/** A part that the provider has answered for. */
export interface CheckedPart extends ChosenPart {
  /** Milliseconds until the whole answer was there. */
  readonly tookMs: number;
}

export interface CheckOptions {
  readonly key: ProviderKey | undefined;
  readonly egress: Pick<Egress, 'dispatcher'>;
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Longest time for an answer, in milliseconds. A server of one's own may have to load its model first. */
const LIMIT_MS = 20_000;
const LOADING_LIMIT_MS = 180_000;
/** Reasoning models need some tokens before the first word. */
const MAX_TOKENS = 16;
/** Most bytes of a refusal that are read. */
const MAX_SAID = 16 * 1024;
/** The check needs no language of its own: this one is that of the example agent. */
const LANGUAGE = 'en-US';
/** One second without a word: some providers refuse less. */
const SILENCE = { samples: new Int16Array(16_000), sampleRate: 16_000 };
const SECRET = { name: 'checked', key: 'api-key' };

/** @returns the part as it can be used, or what is wrong with it */
export async function checkPart(chosen: ChosenPart, options: CheckOptions): Promise<CheckedPart | PartProblem> {
  const { key, clock, env } = options;
  const { part, name, baseURL } = chosen;
  const limitMs = typeof knownProvider(name).addresses[part] === 'string' && name !== 'ollama' ? LIMIT_MS : LOADING_LIMIT_MS;
  let asked: AskedPart = { part, name, baseURL, ...(chosen.model !== undefined && { model: chosen.model }), keyFrom: key?.from };
  const limit = new AbortController();
  const timer = clock.after(limitMs, () => limit.abort());
  let refusal: Refusal | undefined;
  let failure: unknown;
  const ask: ProviderFetch = async (url, { onSend, ...init } = {}) => {
    onSend?.();
    const failures = failuresOf({ part, provider: name });
    let answer: Answer;
    try {
      answer = await fetch(url, { ...init, dispatcher: options.egress.dispatcher, redirect: 'manual', signal: limit.signal });
    } catch (error) {
      failure = error;
      throw failures.connection(error);
    }
    const contentType = answer.headers.get('content-type') ?? '';
    if (answer.ok && !isWebPage(contentType)) return answer;
    const said = await beginningOf(answer);
    refusal = { status: answer.status, contentType, said };
    throw failures.status(answer.status, said);
  };
  try {
    const model = part === 'llm' ? (chosen.model ?? (await listedModel(asked, ask, key))) : undefined;
    if (typeof model === 'object') return model;
    asked = { ...asked, ...(model !== undefined && { model }) };
    const startedAt = clock.monotonic();
    await askFor[part]({ ...chosen, ...(model !== undefined && { model }) }, key, { ask, clock, signal: limit.signal });
    return { ...chosen, ...(model !== undefined && { model }), tookMs: clock.monotonic() - startedAt };
  } catch (error) {
    if (limit.signal.aborted) return explainSlowness(asked, limitMs);
    if (refusal !== undefined) return explainRefusal(asked, refusal);
    if (failure !== undefined) return explainFailure(asked, failure, env);
    if (error instanceof Error && error.name === 'ProviderError') return explainNonsense(asked);
    throw error;
  } finally {
    timer.cancel();
  }
}

async function beginningOf(answer: Answer): Promise<string> {
  let said = '';
  const decoder = new TextDecoder();
  try {
    for await (const bytes of answer.body ?? []) {
      said += decoder.decode(bytes as Uint8Array, { stream: true });
      if (said.length > MAX_SAID) break;
    }
  } catch {
    // The status says enough.
  }
  return said;
}

/** Takes the only model that the server has. A problem where it has none, or several. */
async function listedModel(asked: AskedPart, ask: ProviderFetch, key: ProviderKey | undefined): Promise<string | PartProblem> {
  const answer = await ask(`${asked.baseURL}/models`, { headers: key === undefined ? {} : { authorization: `Bearer ${key.value}` } });
  const list = parseJson(await answer.text());
  if (!isObject(list) || !Array.isArray(list['data'])) return explainNonsense(asked);
  const names = (list['data'] as readonly unknown[]).flatMap((model) =>
    isObject(model) && typeof model['id'] === 'string' ? [model['id']] : [],
  );
  const [only, another] = names;
  const { title } = knownProvider(asked.name);
  if (only === undefined)
    return {
      kind: 'model',
      message: `${title} has no model`,
      cure: asked.name === 'ollama' ? 'ollama pull qwen3, and run the command again' : 'load one, or name one with --model',
    };
  if (another === undefined) return only;
  return { kind: 'model', message: `${title} has several models`, cure: `choose one with --model: ${names.slice(0, 12).join(', ')}` };
}

interface Means {
  readonly ask: ProviderFetch;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}
type Ask = (chosen: ChosenPart, key: ProviderKey | undefined, means: Means) => Promise<void>;

const askFor: Readonly<Record<ProviderPart, Ask>> = {
  async llm(chosen, key, { ask, clock, signal }) {
    const wanted = { ...wantedOf(chosen, key), model: chosen.model! };
    const endpoint = await llmEndpointOf({ llm: wanted as Parameters<typeof llmEndpointOf>[0]['llm'], ...accessOf(key) });
    const history = [{ type: 'message', id: '1', role: 'user', text: 'Hello' }] as const;
    const request = chatRequestOf({
      endpoint,
      request: { instructions: '', history, tools: [], mayCall: false, mayBeEmpty: () => true },
      maxTokens: MAX_TOKENS,
    });
    const quirks = new ModelQuirks();
    // Some reasoning models spend all of these tokens before the first word.
    const completion = new CompletionRequest({
      endpoint,
      request,
      fetch: ask,
      quirks,
      clock,
      observer: unobserved,
      signal,
      mayBeEmpty: () => true,
    });
    for await (const event of completion.events()) void event;
  },
  async stt(chosen, key, { ask }) {
    const endpoint = await sttEndpointOf({ stt: wantedOf(chosen, key) as Parameters<typeof sttEndpointOf>[0]['stt'], ...accessOf(key) });
    if (chosen.name === 'cartesia' || chosen.name === 'assemblyai') return askForAccount(endpoint, ask);
    const protocol = sttProtocolOf({ endpoint, language: LANGUAGE });
    const { url, ...init } = protocol.requestFor(wavOf(SILENCE));
    const answer = parseJson(await (await ask(url, { method: 'POST', ...init })).text());
    if (protocol.textOf(answer) === undefined) throw toCallFailure(endpoint, 'payload', 'sent no transcript');
  },
  async tts(chosen, key, { ask }) {
    const endpoint = await ttsEndpointOf({ tts: wantedOf(chosen, key) as Parameters<typeof ttsEndpointOf>[0]['tts'], ...accessOf(key) });
    if (chosen.name === 'cartesia') return askForAccount(endpoint, ask);
    const { url, ...init } = ttsProtocolOf({ endpoint, language: LANGUAGE, temperature: 0.5 }).requestFor('Hello.');
    const sound = await (await ask(url, { method: 'POST', ...init })).arrayBuffer();
    if (sound.byteLength === 0) throw toCallFailure(endpoint, 'payload', 'sent no sound');
  },
};

/** Parley speaks with these over WebSockets only; their plain HTTP shows at least that the key is right. */
async function askForAccount(endpoint: ProviderEndpoint, ask: ProviderFetch): Promise<void> {
  if (endpoint.provider === 'cartesia') {
    const { baseURL, headers } = cartesiaApi(endpoint);
    await (await ask(`${baseURL}/voices?limit=1`, { headers })).text();
    return;
  }
  await (await ask(`${endpoint.baseURL}/v3/token?expires_in_seconds=60`, { headers: { authorization: endpoint.apiKey ?? '' } })).text();
}

const wantedOf = ({ name, baseURL }: ChosenPart, key: ProviderKey | undefined) => ({
  provider: knownProvider(name).provider,
  baseURL,
  ...(key !== undefined && { apiKeySecretRef: SECRET }),
});

const accessOf = (key: ProviderKey | undefined) => ({ org: '', keys: { read: () => Promise.resolve(key?.value ?? '') }, defaults: [] });
