/** One request to a model that speaks OpenAI's `/chat/completions`. */
import type { Clock } from '../../platform/clock.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { unobserved, type ModelRequestObserver } from '../../platform/telemetry/gen-ai/model-requests.ts';
import {
  CompletionRequest,
  createProviderFetch,
  toCallFailure,
  type FetchInterceptor,
  type llmEndpointOf,
  ModelQuirks,
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

/** Longest wait for the head of an answer, in milliseconds: an answer that isn't streamed begins when it is complete. */
const HEAD_TIMEOUT_MS = 90_000;

/** Longest answer, in characters. */
const MAX_LENGTH = 1024 * 1024;

/** Requests from the strictest to the one that every server accepts: some refuse a response format or a temperature. */
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
  /** Quirks of the models that are asked; by default none is known. */
  readonly quirks?: ModelQuirks;
}

export class Model {
  readonly #options: ModelOptions & { readonly quirks: ModelQuirks };

  constructor(options: ModelOptions) {
    this.#options = { quirks: new ModelQuirks(), ...options };
  }

  /** @returns what the model says, without its reasoning; an empty answer is one, too. @throws ProviderError, or the signal's own reason */
  async ask({ endpoint, messages, schema, signal }: Ask): Promise<string> {
    const { egress, clock, intercept = (unchanged) => unchanged, observer = unobserved, quirks } = this.#options;
    const fetch = intercept(createProviderFetch({ endpoint, egress, clock, headMs: HEAD_TIMEOUT_MS }), endpoint);
    const send = async (form: Readonly<Record<string, unknown>>): Promise<string> => {
      const request = { model: endpoint.model, messages, stream: false, ...form };
      const asked = new CompletionRequest({ endpoint, request, fetch, quirks, clock, observer, signal, mayBeEmpty: () => true });
      let text = '';
      for await (const event of asked.events()) {
        if (event.type === 'text') text += event.text;
        else if (event.type === 'retract') text = '';
        if (text.length > MAX_LENGTH) throw toCallFailure(endpoint, 'payload', `answered with more than ${MAX_LENGTH} characters`);
      }
      return text;
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
