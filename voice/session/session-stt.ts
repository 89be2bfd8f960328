/** Speech to text as LiveKit's session hears with it: the user's frames go to a recognition of ours, and its events come out in LiveKit's form. */
import { normalizeLanguage, stt } from '@livekit/agents';
import type { AudioFrame } from '@livekit/rtc-node';

import type { Providers, Recognition, RecognitionEvent } from '../providers/index.ts';

export interface SessionSttOptions {
  readonly inner: Providers['stt'];
  /** BCP 47. */
  readonly language: string;
  /** Something said was not understood, after all attempts; what was thrown. LiveKit would log it, and go on as if the user had not spoken. */
  readonly onFailure: (error: unknown) => void;
}

const { SpeechEventType } = stt;

export class SessionStt extends stt.STT {
  override label = 'parley.SessionStt';
  readonly #options: SessionSttOptions;
  readonly #streams = new Set<SessionSttStream>();

  constructor(options: SessionSttOptions) {
    super({ streaming: true, interimResults: true, alignedTranscript: false });
    this.#options = options;
  }

  override get model(): string {
    return this.#options.inner.model;
  }

  override get provider(): string {
    return this.#options.inner.provider;
  }

  /** Whether speech was heard whose words are not known yet. */
  get recognizes(): boolean {
    return [...this.#streams].some(({ recognition }) => recognition.recognizes);
  }

  /** @param unreadMs sound that has come, and that the VAD has not read yet; in milliseconds */
  userSpeaks(unreadMs: number): void {
    for (const { recognition } of this.#streams) recognition.speaks(unreadMs);
  }

  userPaused(): void {
    for (const { recognition } of this.#streams) recognition.pauses();
  }

  stream(): stt.SpeechStream {
    const onClose = (): void => void this.#streams.delete(stream);
    const stream = new SessionSttStream(this, { ...this.#options, onClose });
    this.#streams.add(stream);
    return stream;
  }

  /** @throws Error always: a session streams */
  protected override _recognize(): Promise<stt.SpeechEvent> {
    throw new Error('speech is recognised in streams only');
  }

  override close(): Promise<void> {
    return this.#options.inner.close();
  }
}

class SessionSttStream extends stt.SpeechStream {
  override label = 'parley.SessionSttStream';
  readonly recognition: Recognition;
  readonly #options: SessionSttOptions & { readonly onClose: () => void };
  readonly #ended = Promise.withResolvers<void>();

  constructor(owner: SessionStt, options: SessionSttOptions & { readonly onClose: () => void }) {
    super(owner);
    this.#options = options;
    this.recognition = options.inner.listen((event) => this.#take(event));
  }

  /** At once: the VAD reports pauses in the sound that was pushed so far. */
  override pushFrame(frame: AudioFrame): void {
    this.recognition.push(frame.data);
  }

  override close(): void {
    this.recognition.close();
    this.#options.onClose();
    this.#ended.resolve();
    super.close();
  }

  /** The stream ends with it. */
  protected override run(): Promise<void> {
    return this.#ended.promise;
  }

  #take(event: RecognitionEvent): void {
    switch (event.type) {
      case 'interim':
        return this.#put(SpeechEventType.INTERIM_TRANSCRIPT, event.text);
      case 'final':
        return this.#put(SpeechEventType.FINAL_TRANSCRIPT, event.text);
      case 'endOfTurn':
        return this.queue.put({ type: SpeechEventType.END_OF_SPEECH });
      case 'failed':
        this.#options.onFailure(event.error);
        return this.#ended.resolve();
      case 'settled':
        return;
      default:
        event satisfies never;
    }
  }

  #put(type: stt.SpeechEventType, text: string): void {
    const language = normalizeLanguage(this.#options.language);
    this.queue.put({ type, alternatives: [{ text, language, startTime: 0, endTime: 0, confidence: 1 }] });
  }
}
