/** A VAD that reports how long each utterance was: by its samples, not by when a busy machine looked at them. */
import { inference, VADEventType, type VADEvent } from '@livekit/agents';

type VadStream = ReturnType<inference.VAD['stream']>;
/** Its type hides this from others than its subclasses. */
interface EventSender {
  sendVADEvent: (event: VADEvent) => boolean;
}

export interface MeasuredVadOptions {
  /** In milliseconds, as those of {@link inference.VAD}. */
  readonly minSpeechDuration: number;
  readonly minSilenceDuration: number;
  /** @param ms length of an utterance that has ended, without the silence after it */
  readonly onSpoken: (ms: number) => void;
  readonly onSpeaking?: () => void;
}

export class MeasuredVad extends inference.VAD {
  readonly #onSpoken: (ms: number) => void;
  readonly #onSpeaking: (() => void) | undefined;
  #measures = false;

  constructor({ onSpoken, onSpeaking, ...durations }: MeasuredVadOptions) {
    super({ model: 'silero', ...durations });
    this.#onSpoken = onSpoken;
    this.#onSpeaking = onSpeaking;
  }

  /** The session and the turn cutter of the STT each open a stream of the same audio: only the first is measured. */
  override stream(): VadStream {
    const stream = super.stream();
    if (this.#measures) return stream;
    this.#measures = true;
    const sender = stream as unknown as EventSender;
    const send = sender.sendVADEvent.bind(stream);
    sender.sendVADEvent = (event) => {
      if (event.type === VADEventType.START_OF_SPEECH) this.#onSpeaking?.();
      if (event.type === VADEventType.END_OF_SPEECH) this.#onSpoken(event.speechDuration);
      return send(event);
    };
    return stream;
  }
}
