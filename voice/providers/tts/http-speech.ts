/** Requests each sentence by itself, and passes the audio on as it arrives. */
import { parseJson } from '../../../platform/json.ts';
import { toCallFailure, type ProviderError, type ProviderFetch } from '../../../calls/provider-access/index.ts';
import type { SpokenSentence, SpeechSource } from './speech-source.ts';
import type { TtsProtocol } from './tts-protocols.ts';

export interface HttpSpeechOptions {
  readonly provider: string;
  readonly protocol: TtsProtocol;
  readonly fetch: ProviderFetch;
}

/** Requests at a time: for the sentence that is heard and the next. */
const AT_ONCE = 2;

export class HttpSpeech implements SpeechSource {
  readonly #options: HttpSpeechOptions;

  constructor(options: HttpSpeechOptions) {
    this.#options = options;
  }

  get model(): string {
    return this.#options.protocol.model;
  }

  get atOnce(): number {
    return this.#options.protocol.oneAtATime === true ? 1 : AT_ONCE;
  }

  /** Connects with a request whose status doesn't matter. */
  connect(signal: AbortSignal): void {
    const { fetch, protocol } = this.#options;
    fetch(new URL(protocol.requestFor('').url).origin, { method: 'HEAD', signal }).catch(() => undefined);
  }

  async *soundOf({ text, before }: SpokenSentence, signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
    const { fetch, protocol } = this.#options;
    const { url, headers, body } = protocol.requestFor(text, before);
    const response = await fetch(url, { method: 'POST', headers, body, signal });
    if (protocol.audioField !== undefined) {
      yield this.#soundIn(await response.text(), protocol.audioField);
      return;
    }
    if (/^(text\/|application\/(json|xml))/i.test(response.headers.get('content-type') ?? '')) {
      await response.body?.cancel();
      throw this.#withoutSound();
    }
    if (response.body !== null) yield* response.body as unknown as AsyncIterable<Uint8Array>;
  }

  close(): void {
    // Requests end with their signals.
  }

  #soundIn(text: string, field: string): Uint8Array {
    const sound = (parseJson(text) as Readonly<Record<string, unknown>> | null | undefined)?.[field];
    if (typeof sound !== 'string') throw this.#withoutSound();
    return Buffer.from(sound, 'base64');
  }

  #withoutSound(): ProviderError {
    const { provider } = this.#options;
    return toCallFailure({ part: 'tts', provider }, 'payload', 'sent something that is no sound: check its address');
  }
}
