/** STT through any provider: on one WebSocket for the whole call, or by one HTTP request for each turn, which the session's VAD cuts out. */
import { normalizeLanguage, stt, type APIConnectOptions, type AudioBuffer } from '@livekit/agents';
import type { AudioFrame } from '@livekit/rtc-node';

import { OUTPUT_MESSAGES, OUTPUT_TYPE, SPEECH_TO_TEXT } from '../../../platform/telemetry/gen-ai/conventions.ts';
import { messagesText } from '../../../platform/telemetry/gen-ai/content.ts';
import { unobserved, type ModelRequestObserver } from '../../../platform/telemetry/gen-ai/model-requests.ts';
import { capturesContent } from '../../../platform/telemetry/tracing.ts';
import { errorTypeOf, failureOf, type ProviderConnect, type ProviderFetch } from '../../calls/provider-access/index.ts';
import type { Clock } from '../../../platform/clock.ts';
import { wavOf } from '../../../platform/wav.ts';
import { countedTurn, type HeardMeter } from '../../calls/usage/heard-meter.ts';
import { joinFrames } from '../../join-frames.ts';
import { parseMessage } from '../protocol-support.ts';
import type { ProviderOrder } from '../../calls/fallback/provider-order.ts';
import { withRetries } from '../provider-errors.ts';
import { sessionErrorOf } from '../session-error.ts';
import { transcriptOf } from './observed-utterances.ts';
import type { SttStreaming } from './streaming/protocol.ts';
import { SttStream, type Recognizer, type SttStreamOptions } from './streaming/stt-stream.ts';
import type { SttProtocol } from './stt-protocols.ts';

export interface SttAdapterOptions {
  readonly provider: string;
  /** BCP 47. */
  readonly language: string;
  readonly speaks:
    | { readonly streaming: SttStreaming; readonly connect: ProviderConnect; readonly counted?: HeardMeter | undefined }
    | { readonly recognizers: ProviderOrder<Recognizer> }
    | { readonly protocol: SttProtocol; readonly fetch: ProviderFetch; readonly counted?: HeardMeter | undefined };
  readonly clock: Clock;
  readonly observer?: ModelRequestObserver | undefined;
}

/** Between attempts, in milliseconds: short, for the user waits. */
const RETRY_DELAYS_MS = [100, 500] as const;
/** In seconds; some providers refuse shorter audio. */
const MIN_SPEECH_SECONDS = 0.1;

const alone = (recognizer: Recognizer): SttStreamOptions['recognizers'] => ({
  all: [recognizer],
  order: [recognizer],
  answered: () => undefined,
});

export class SttAdapter extends stt.STT {
  override label = 'parley.SttAdapter';
  readonly #options: SttAdapterOptions;
  readonly #closing = new AbortController();
  readonly #streams = new Set<SttStream>();

  constructor(options: SttAdapterOptions) {
    const streaming = !('protocol' in options.speaks);
    super({ streaming, interimResults: streaming, alignedTranscript: false });
    this.#options = options;
  }

  override get model(): string {
    const { speaks } = this.#options;
    if ('recognizers' in speaks) return speaks.recognizers.current.model;
    return 'streaming' in speaks ? speaks.streaming.model : speaks.protocol.model;
  }

  override get provider(): string {
    const { speaks, provider } = this.#options;
    return 'recognizers' in speaks ? speaks.recognizers.current.provider : provider;
  }

  /** @throws Error for a provider without a stream: LiveKit's StreamAdapter cuts out turns for it */
  override stream({ connOptions }: { readonly connOptions?: APIConnectOptions } = {}): SttStream {
    const { speaks, ...options } = this.#options;
    if ('protocol' in speaks) throw new Error(`${this.model} takes whole turns and cannot stream: wrap it in a StreamAdapter`);
    const recognizers = 'recognizers' in speaks ? speaks.recognizers : alone({ provider: options.provider, model: this.model, ...speaks });
    const stream = new SttStream(this, { ...options, recognizers, onClose: () => this.#streams.delete(stream) }, connOptions);
    this.#streams.add(stream);
    return stream;
  }

  /** Whether a stream has heard words that it may still change, or was asked for words that have not come. */
  get recognizes(): boolean {
    return [...this.#streams].some((stream) => stream.recognizes);
  }

  /** The user has begun to speak. @param unreadMs sound that has come, and that the VAD has not read yet; in milliseconds */
  userSpeaks(unreadMs?: number): void {
    for (const stream of this.#streams) stream.userSpeaks(unreadMs);
  }

  /** The user has paused: streams ask for the final transcript at once, instead of waiting for the provider to notice. */
  userPaused(): void {
    for (const stream of this.#streams) stream.userPaused();
  }

  override async close(): Promise<void> {
    this.#closing.abort(new Error('the STT adapter is closed'));
    for (const stream of this.#streams) stream.close();
  }

  /** @throws an error that LiveKit does not retry once more, after three attempts */
  protected override async _recognize(buffer: AudioBuffer, signal?: AbortSignal): Promise<stt.SpeechEvent> {
    const frame = joinFrames(buffer);
    const text = await this.#textOf(frame, signal).catch((error: unknown) => {
      throw sessionErrorOf(error);
    });
    const language = normalizeLanguage(this.#options.language);
    return {
      type: stt.SpeechEventType.FINAL_TRANSCRIPT,
      alternatives: [{ text: text.trim(), language, startTime: 0, endTime: 0, confidence: 1 }],
    };
  }

  async #textOf(frame: AudioFrame, signal: AbortSignal | undefined): Promise<string> {
    const { speaks, clock } = this.#options;
    if (!('protocol' in speaks)) return this.#streamed(frame);
    const seconds = frame.samplesPerChannel / frame.sampleRate;
    if (seconds < MIN_SPEECH_SECONDS) return '';
    const wav = wavOf({ samples: frame.data, sampleRate: frame.sampleRate, channels: frame.channels });
    const either = signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal]);
    const retries = { clock, signal: either, pauseMs: (failures: number) => RETRY_DELAYS_MS[failures] };
    return withRetries(retries, () => this.#observed(speaks.protocol, either, () => this.#ask(speaks, { wav, seconds }, either)));
  }

  async #observed(protocol: SttProtocol, signal: AbortSignal, ask: () => Promise<string>): Promise<string> {
    const { provider, observer = unobserved } = this.#options;
    const { model } = protocol;
    const observed = observer.begin({ operation: SPEECH_TO_TEXT, provider, model, streams: false, attributes: { [OUTPUT_TYPE]: 'text' } });
    try {
      const text = await ask();
      const content = capturesContent() && { attributes: { [OUTPUT_MESSAGES]: messagesText([transcriptOf(text)]) } };
      observed.end('completed', content || {});
      return text;
    } catch (error) {
      observed.end(signal.aborted ? 'cancelled' : { failure: errorTypeOf(error) });
      throw error;
    }
  }

  /** All finals of one stream. */
  async #streamed(frame: AudioFrame): Promise<string> {
    const stream = this.stream();
    let failed: Error | undefined;
    const onError = ({ error }: { readonly error: Error }): void => void (failed = error);
    this.on('error', onError);
    const finals: string[] = [];
    try {
      stream.userSpeaks();
      stream.pushFrame(frame);
      stream.endInput();
      for await (const { type, alternatives } of stream)
        if (type === stt.SpeechEventType.FINAL_TRANSCRIPT) finals.push(alternatives?.[0].text ?? '');
    } finally {
      this.off('error', onError);
      stream.close();
    }
    if (failed !== undefined) throw failed;
    return finals.join(' ');
  }

  async #ask(
    { protocol, fetch, counted }: Extract<SttAdapterOptions['speaks'], { protocol: SttProtocol }>,
    { wav, seconds }: { readonly wav: Uint8Array; readonly seconds: number },
    signal: AbortSignal,
  ): Promise<string> {
    const { provider } = this.#options;
    const { url, headers, body } = protocol.requestFor(wav);
    const answer = await countedTurn({ counted, milliseconds: seconds * 1_000, signal }, async () => {
      const response = await fetch(url, { method: 'POST', headers, body: body as never, signal });
      return response.text();
    });
    const text = protocol.textOf(parseMessage(answer));
    if (text !== undefined) return text;
    throw failureOf({ part: 'stt', provider }, 'payload', 'sent something that is no transcript: check its address');
  }
}
