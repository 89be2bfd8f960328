/** The detector of speech, which tells how long what was said is: by the samples, and not by when they were looked at. */
import { inference, VADEventType, type VADEvent } from '@livekit/agents';

type VadStream = ReturnType<inference.VAD['stream']>;
/** Of `@livekit/agents` 1.9.0, `vad`; its type keeps this to those who inherit it. */
interface Sender {
  sendVADEvent: (event: VADEvent) => boolean;
}

export interface MeasuredVadOptions {
  /** In milliseconds, as those of {@link inference.VAD}. */
  readonly minSpeechDuration: number;
  readonly minSilenceDuration: number;
  /** Told at the end of each speech. @param ms of it, without the silence behind it */
  readonly onSpoken: (ms: number) => void;
}

export class MeasuredVad extends inference.VAD {
  readonly #onSpoken: (ms: number) => void;
  #measures = false;

  constructor({ onSpoken, ...durations }: MeasuredVadOptions) {
    super({ model: 'silero', ...durations });
    this.#onSpoken = onSpoken;
  }

  /** The session listens, and the one that cuts turns for speech to text: both hear the same, and one of them is measured. */
  override stream(): VadStream {
    const stream = super.stream();
    if (this.#measures) return stream;
    this.#measures = true;
    const sender = stream as unknown as Sender;
    const send = sender.sendVADEvent.bind(stream);
    sender.sendVADEvent = (event) => {
      if (event.type === VADEventType.END_OF_SPEECH) this.#onSpoken(event.speechDuration);
      return send(event);
    };
    return stream;
  }
}
