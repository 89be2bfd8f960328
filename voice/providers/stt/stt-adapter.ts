/** STT through any provider's HTTP API, one request for each turn: the session's VAD cuts the turns out. */
import { mergeFrames, normalizeLanguage, stt, type AudioBuffer } from '@livekit/agents';

import { failureOf, type ProviderFetch } from '../../calls/provider-access/index.ts';
import type { Clock } from '../../../platform/clock.ts';
import { wavOf } from '../../../platform/wav.ts';
import { withRetries } from '../provider-errors.ts';
import type { SttProtocol } from './stt-protocols.ts';

export interface SttAdapterOptions {
  readonly provider: string;
  readonly protocol: SttProtocol;
  /** BCP 47. */
  readonly language: string;
  readonly fetch: ProviderFetch;
  readonly clock: Clock;
}

/** Between attempts, in milliseconds: short, for the user waits. */
const RETRY_DELAYS_MS = [100, 500] as const;
/** In seconds; some providers refuse shorter audio. */
const MIN_SPEECH_SECONDS = 0.1;

export class SttAdapter extends stt.STT {
  override label = 'parley.SttAdapter';
  readonly #options: SttAdapterOptions;
  readonly #closing = new AbortController();

  constructor(options: SttAdapterOptions) {
    super({ streaming: false, interimResults: false, alignedTranscript: false });
    this.#options = options;
  }

  override get model(): string {
    return this.#options.protocol.model;
  }

  override get provider(): string {
    return this.#options.provider;
  }

  override stream(): stt.SpeechStream {
    throw new Error('SttAdapter takes whole turns and cannot stream: wrap it in a StreamAdapter');
  }

  override async close(): Promise<void> {
    this.#closing.abort(new Error('the STT adapter is closed'));
  }

  /** @throws ProviderApiError after three attempts */
  protected override async _recognize(buffer: AudioBuffer, signal?: AbortSignal): Promise<stt.SpeechEvent> {
    const frame = mergeFrames(buffer);
    const text =
      frame.samplesPerChannel / frame.sampleRate < MIN_SPEECH_SECONDS
        ? ''
        : await this.#textOf(wavOf({ samples: frame.data, sampleRate: frame.sampleRate, channels: frame.channels }), signal);
    const language = normalizeLanguage(this.#options.language);
    return {
      type: stt.SpeechEventType.FINAL_TRANSCRIPT,
      alternatives: [{ text: text.trim(), language, startTime: 0, endTime: 0, confidence: 1 }],
    };
  }

  async #textOf(wav: Uint8Array, signal: AbortSignal | undefined): Promise<string> {
    const either = signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal]);
    const retries = { clock: this.#options.clock, signal: either, pauseMs: (failures: number) => RETRY_DELAYS_MS[failures] };
    return withRetries(retries, () => this.#ask(wav, either));
  }

  async #ask(wav: Uint8Array, signal: AbortSignal): Promise<string> {
    const { protocol, fetch, provider } = this.#options;
    const { url, headers, body } = protocol.requestFor(wav);
    const response = await fetch(url, { method: 'POST', headers, body: body as never, signal });
    const answer = await response.text();
    let parsed: unknown;
    try {
      parsed = JSON.parse(answer);
    } catch {
      parsed = undefined;
    }
    if (protocol.failed?.(parsed) === true)
      throw failureOf({ part: 'stt', provider }, 'runtime', 'reports that it failed to recognise speech');
    const text = protocol.textOf(parsed);
    if (text !== undefined) return text;
    throw failureOf({ part: 'stt', provider }, 'payload', 'sent something that is no transcript: check its address');
  }
}
