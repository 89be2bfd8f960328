/** Understands what the user says, a turn at a time: the session cuts them out, and each is sent when it is over. */
import { mergeFrames, normalizeLanguage, stt, type AudioBuffer } from '@livekit/agents';

import { partNames, ProviderFailure, type ProviderFetch } from '../calls/providers/index.ts';
import { sleep, type Clock } from '../../platform/clock.ts';
import { wavOf } from '../../platform/wav.ts';
import type { HearingProtocol } from './hearing-protocols.ts';
import { ProviderApiError } from './provider-api-error.ts';

export interface ListenerOptions {
  readonly provider: string;
  readonly protocol: HearingProtocol;
  /** BCP 47. */
  readonly language: string;
  readonly fetch: ProviderFetch;
  readonly clock: Clock;
}

/** Waits between attempts, in milliseconds: the user is waiting, too. */
const retriesMs = [100, 500] as const;
/** Speech shorter than this is none, in seconds; some providers refuse it. */
const shortest = 0.1;

export class Listener extends stt.STT {
  override label = 'parley.Listener';
  readonly #options: ListenerOptions;
  readonly #closing = new AbortController();

  constructor(options: ListenerOptions) {
    super({ streaming: false, interimResults: false, alignedTranscript: false });
    this.#options = options;
  }

  override get model(): string {
    return this.#options.protocol.model;
  }

  override get provider(): string {
    return this.#options.provider;
  }

  /** The session puts a detector of speech before it, which cuts the turns. */
  override stream(): stt.SpeechStream {
    throw new Error('this provider understands whole turns: put a StreamAdapter before it');
  }

  override async close(): Promise<void> {
    this.#closing.abort(new Error('the listener is closed'));
  }

  /** @throws ProviderApiError after three attempts */
  protected override async _recognize(buffer: AudioBuffer, signal?: AbortSignal): Promise<stt.SpeechEvent> {
    const frame = mergeFrames(buffer);
    const text =
      frame.samplesPerChannel / frame.sampleRate < shortest
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
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#ask(wav, either);
      } catch (error) {
        either.throwIfAborted();
        if (!(error instanceof ProviderFailure)) throw error;
        const wait = retriesMs[attempt];
        const failure = new ProviderApiError(error);
        if (wait === undefined || !failure.retryable) throw new ProviderApiError(error, { retryable: false });
        await sleep(this.#options.clock, wait, either);
      }
    }
  }

  async #ask(wav: Uint8Array, signal: AbortSignal): Promise<string> {
    const { protocol, fetch, provider } = this.#options;
    const { url, headers, body } = protocol.requestFor(wav);
    const response = await fetch(url, { method: 'POST', headers, body: body as never, signal });
    const answer = await response.text();
    let text: string | undefined;
    try {
      text = protocol.textOf(JSON.parse(answer));
    } catch {
      text = undefined;
    }
    if (text !== undefined) return text;
    const message = `${provider} (${partNames.stt}) sent something that is no transcript: check its address`;
    throw new ProviderFailure({ part: 'stt', kind: 'payload', provider, message });
  }
}
