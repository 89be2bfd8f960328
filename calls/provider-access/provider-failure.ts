/** Failures of LLM, STT and TTS providers. */
import type { OptionalParameter } from './model-quirks.ts';

export type ProviderPart = 'llm' | 'stt' | 'tts';

export type ProviderErrorKind =
  /** The provider is unusable as configured: unknown, no key, or it refuses (4xx but 408, 409, 425 and 429). */
  | 'refused'
  /** The answer had begun, and broke off. */
  | 'connection_lost'
  /** After the attempts, the provider still answers 5xx, 429 or the like. */
  | 'runtime'
  /** The response is unusable: no JSON, no events, no audio. */
  | 'payload'
  /** A language model has answered, and said and called nothing. */
  | 'empty'
  /** After the attempts, there is no connection, or no answer in time. */
  | 'unreachable';

export const PART_NAMES: Readonly<Record<ProviderPart, string>> = { llm: 'language model', stt: 'speech to text', tts: 'text to speech' };

/** The message names the part, the provider and what to do; never a key, speech, or text from the provider. */
export class ProviderError extends Error {
  override readonly name = 'ProviderError';
  readonly part: ProviderPart;
  readonly kind: ProviderErrorKind;
  readonly provider: string;
  /** Status of the HTTP response; absent without one. */
  readonly status?: number;
  /** The request used up the time limit: another attempt would come too late. */
  readonly slow: boolean;
  /** The request has more tokens than the model takes: a shorter one may succeed. */
  readonly tooLong: boolean;
  /** Parameters that the refusal of a request names: one without them may succeed. */
  readonly refusedParameters: readonly OptionalParameter[];

  constructor(options: {
    readonly part: ProviderPart;
    readonly kind: ProviderErrorKind;
    readonly provider: string;
    readonly status?: number;
    readonly slow?: boolean;
    readonly tooLong?: boolean;
    readonly refusedParameters?: readonly OptionalParameter[];
    readonly message: string;
    readonly cause?: unknown;
  }) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.part = options.part;
    this.kind = options.kind;
    this.provider = options.provider;
    this.slow = options.slow ?? false;
    this.tooLong = options.tooLong ?? false;
    this.refusedParameters = options.refusedParameters ?? [];
    if (options.status !== undefined) this.status = options.status;
  }
}

/** Returns one of few words, for spans and metrics. */
export const errorTypeOf = (error: unknown): string =>
  error instanceof ProviderError ? String(error.status ?? error.kind) : error instanceof Error ? error.name : 'unknown';

/** @param message completes `openai (language model) …` */
export function toCallFailure(
  { part, provider }: Pick<ProviderError, 'part' | 'provider'>,
  kind: ProviderErrorKind,
  message: string,
  more: {
    readonly status?: number;
    readonly slow?: boolean;
    readonly tooLong?: boolean;
    readonly refusedParameters?: readonly OptionalParameter[];
  } = {},
): ProviderError {
  return new ProviderError({ part, kind, provider, message: `${provider} (${PART_NAMES[part]}) ${message}`, ...more });
}
