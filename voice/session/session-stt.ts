/** The STT as a session hears with it: reports failures, which LiveKit logs to go on as if the user had not spoken, and knows whose words are to come. */
import { normalizeLanguage, stt, type APIConnectOptions, type AudioBuffer } from '@livekit/agents';

import { TurnCutter, type MeasuredVad } from '../livekit-patches/index.ts';
import type { Providers } from '../providers/index.ts';

export interface SessionSttOptions {
  readonly inner: Providers['stt'];
  /** Cuts out the turns for an STT that does not stream. */
  readonly vad: MeasuredVad;
  /** Something said was not understood, after all attempts; what was thrown. */
  readonly onFailure: (error: unknown) => void;
}

const NO_WORDS: stt.SpeechEvent = {
  type: stt.SpeechEventType.FINAL_TRANSCRIPT,
  alternatives: [{ text: '', language: normalizeLanguage('en'), startTime: 0, endTime: 0, confidence: 0 }],
};

export class SessionStt extends stt.STT {
  readonly label: string;
  readonly #inner: SessionSttOptions['inner'];
  readonly #vad: MeasuredVad;
  readonly #onFailure: (error: unknown) => void;
  /** Turns that were cut out, or are being spoken. */
  #turns = 0;
  /** Turns that are being recognised. */
  #asked = 0;

  constructor({ inner, vad, onFailure }: SessionSttOptions) {
    super({ ...inner.capabilities, streaming: true });
    this.label = inner.label;
    this.#inner = inner;
    this.#vad = vad;
    this.#onFailure = onFailure;
    inner.on('metrics_collected', (metrics) => this.emit('metrics_collected', metrics));
    // Not passed on: the session would close at once, before anything can be said.
    inner.on('error', ({ error, recoverable }) => {
      if (!recoverable) onFailure(error);
    });
  }

  override get model(): string {
    return this.#inner.model;
  }

  override get provider(): string {
    return this.#inner.provider;
  }

  /** Whether speech was heard whose words are not known yet. */
  get recognizes(): boolean {
    return this.#inner.capabilities.streaming ? this.#inner.recognizes : this.#turns > 0;
  }

  /** The same, without the speech that has just begun. */
  get owesWords(): boolean {
    return this.#inner.capabilities.streaming ? this.#inner.recognizes : this.#asked > 0;
  }

  /** The inner one measures, and its figures are passed on: measured here, too, they would count twice. */
  override async recognize(frame: AudioBuffer, signal?: AbortSignal): Promise<stt.SpeechEvent> {
    this.#asked += 1;
    try {
      return await this._recognize(frame, signal);
    } catch (error) {
      // The library would log what is thrown, at the end of each call in which the user has just spoken.
      if (signal?.aborted === true) return NO_WORDS;
      this.#onFailure(error);
      throw error;
    } finally {
      this.#asked -= 1;
      this.#turns = Math.max(0, this.#turns - 1);
    }
  }

  protected _recognize(frame: AudioBuffer, signal?: AbortSignal): Promise<stt.SpeechEvent> {
    return this.#inner.recognize(frame, signal);
  }

  stream(options?: { readonly connOptions?: APIConnectOptions }): stt.SpeechStream {
    if (this.#inner.capabilities.streaming) return this.#inner.stream(options);
    this.#turns = 0;
    return new stt.StreamAdapter(this, new TurnCutter(this.#vad, () => (this.#turns += 1))).stream(options);
  }

  override close(): Promise<void> {
    return this.#inner.close();
  }
}
