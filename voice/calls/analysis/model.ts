/** One request to a model that speaks OpenAI's `/chat/completions`. */
import type { Clock } from '../../../platform/clock.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import { parseJson } from '../../../platform/json.ts';
import { readBytes } from '../../../platform/read-bytes.ts';
import { CHAT } from '../../../platform/telemetry/gen-ai/conventions.ts';
import { unobserved, type ModelRequestObserver, type ObservedRequest } from '../../../platform/telemetry/gen-ai/model-requests.ts';
import { capturesContent } from '../../../platform/telemetry/tracing.ts';
import {
  chatAttributes,
  CompletionReader,
  createProviderFetch,
  errorTypeOf,
  failureOf,
  type FetchInterceptor,
  type llmEndpointOf,
  ProviderError,
} from '../provider-access/index.ts';
import type { ChatMessage } from './questions.ts';

export type ModelEndpoint = Awaited<ReturnType<typeof llmEndpointOf>>;

export interface Ask {
  readonly endpoint: ModelEndpoint;
  readonly messages: readonly ChatMessage[];
  /** JSON Schema of the answer, for models that support one. */
  readonly schema: object;
  readonly signal: AbortSignal;
}

/** In milliseconds: an answer that isn't streamed begins when it is complete. */
const HEAD_TIMEOUT_MS = 90_000;
/** Of an answer. */
const MAX_BYTES = 1024 * 1024;

/** From the strictest request to the one that every server accepts: some refuse a response format or a temperature. */
const FORMS: readonly ((schema: object) => Readonly<Record<string, unknown>>)[] = [
  (schema) => ({
    temperature: 0,
    response_format: { type: 'json_schema', json_schema: { name: 'call_analysis', strict: true, schema } },
  }),
  () => ({ temperature: 0, response_format: { type: 'json_object' } }),
  () => ({}),
];

interface ModelOptions {
  readonly egress: Pick<Egress, 'dispatcher'>;
  readonly clock: Clock;
  readonly intercept?: FetchInterceptor | undefined;
  readonly observer?: ModelRequestObserver | undefined;
}

export class Model {
  readonly #options: ModelOptions;

  constructor(options: ModelOptions) {
    this.#options = options;
  }

  /** @throws ProviderError, or the signal's own reason */
  async ask({ endpoint, messages, schema, signal }: Ask): Promise<string> {
    const { egress, clock, intercept = (unchanged) => unchanged, observer = unobserved } = this.#options;
    const fetch = intercept(createProviderFetch({ endpoint, egress, clock, headMs: HEAD_TIMEOUT_MS }), endpoint);
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(endpoint.apiKey !== undefined && { authorization: `Bearer ${endpoint.apiKey}` }),
    };
    const send = async (form: Readonly<Record<string, unknown>>): Promise<string> => {
      const request = { model: endpoint.model, messages, stream: false, ...form };
      const { provider, model, baseURL: address } = endpoint;
      const body = JSON.stringify(request);
      let observed: ObservedRequest | undefined;
      let reader: CompletionReader | undefined;
      const onSend = (): void => {
        observed = observer.begin({ operation: CHAT, provider, model, address, streams: false, body, attributes: chatAttributes(request) });
      };
      try {
        const response = await fetch(`${address}/chat/completions`, { method: 'POST', headers, body, signal, onSend });
        reader = new CompletionReader({ keepsWords: capturesContent() });
        const type = response.headers.get('content-type') ?? '';
        const text = completionText((await bodyOf(response, endpoint)).toString('utf8'), type, reader);
        if (text === undefined) throw failureOf(endpoint, 'payload', 'answered what is no chat completion: check its address');
        observed?.end('completed', reader.answer);
        return text;
      } catch (error) {
        observed?.end(signal.aborted ? 'cancelled' : { failure: errorTypeOf(error) }, reader?.answer);
        throw error;
      }
    };
    let refused: unknown;
    for (const form of FORMS) {
      try {
        return await send(form(schema));
      } catch (error) {
        if (!(error instanceof ProviderError) || (error.status !== 400 && error.status !== 422)) throw error;
        refused = error;
      }
    }
    throw refused;
  }
}

type Response = Awaited<ReturnType<ReturnType<typeof createProviderFetch>>>;

async function bodyOf(response: Response, endpoint: ModelEndpoint): Promise<Buffer> {
  const body = await readBytes(response.body ?? [], MAX_BYTES);
  if (body === undefined) throw failureOf(endpoint, 'payload', `answered with more than ${MAX_BYTES} bytes`);
  return body;
}

/** Of one JSON object or of a stream of events. @returns undefined for what is no chat completion */
function completionText(text: string, contentType: string, reader: CompletionReader): string | undefined {
  // Some servers stream whatever they were asked for.
  if (contentType.includes('text/event-stream')) {
    reader.push(text);
    return streamed(text);
  }
  reader.read(text);
  return whole(text);
}

interface Choice {
  readonly message?: { readonly content?: unknown };
  readonly delta?: { readonly content?: unknown };
}

function firstChoice(text: string): Choice | undefined {
  return (parseJson(text) as { readonly choices?: readonly Choice[] } | null | undefined)?.choices?.[0];
}

function whole(text: string): string | undefined {
  const choice = firstChoice(text);
  // An empty answer is one, too.
  return choice?.message === undefined ? undefined : textOf(choice.message.content);
}

function streamed(text: string): string | undefined {
  const choices = text
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => firstChoice(line.slice(5)));
  if (choices.every((choice) => choice === undefined)) return undefined;
  return choices.map((choice) => textOf(choice?.delta?.content)).join('');
}

/** A text, or the parts of one. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: unknown) => textOf((part as { readonly text?: unknown } | null)?.text)).join('');
}
