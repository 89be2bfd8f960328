/** Reports failures of the STT: LiveKit logs them and goes on as if the user had not spoken. */
import { stt, type APIConnectOptions, type AudioBuffer } from '@livekit/agents';

export interface FailureReportingSttOptions {
  readonly inner: stt.STT;
  /** Something said was not understood, after all attempts; what was thrown. */
  readonly onFailure: (error: unknown) => void;
}

export class FailureReportingStt extends stt.STT {
  readonly label: string;
  readonly #inner: stt.STT;
  readonly #onFailure: (error: unknown) => void;

  constructor({ inner, onFailure }: FailureReportingSttOptions) {
    super(inner.capabilities);
    this.label = inner.label;
    this.#inner = inner;
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

  /** The inner one measures, and its figures are passed on: measured here, too, they would count twice. */
  override async recognize(frame: AudioBuffer, signal?: AbortSignal): Promise<stt.SpeechEvent> {
    try {
      return await this._recognize(frame, signal);
    } catch (error) {
      if (signal?.aborted !== true) this.#onFailure(error);
      throw error;
    }
  }

  protected _recognize(frame: AudioBuffer, signal?: AbortSignal): Promise<stt.SpeechEvent> {
    return this.#inner.recognize(frame, signal);
  }

  stream(options?: { readonly connOptions?: APIConnectOptions }): stt.SpeechStream {
    return this.#inner.stream(options);
  }

  override close(): Promise<void> {
    return this.#inner.close();
  }
}
