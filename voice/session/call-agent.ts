/** LiveKit's agent, without speech that does not count as an interruption, and with the length of its own speech. */
import { stt, voice, type llm } from '@livekit/agents';
import type { AudioFrame } from '@livekit/rtc-node';
import { ReadableStream, TransformStream } from 'node:stream/web';

import type { Synthesis } from './played-text.ts';

export interface CallAgentOptions {
  readonly instructions: string;
  readonly tools: llm.ToolContextLike;
  /** Whether recognised text counts; other text is dropped. */
  readonly heeds: (text: string) => boolean;
}

const { SpeechEventType } = stt;

export class CallAgent extends voice.Agent {
  readonly #heeds: (text: string) => boolean;
  #synthesis: Synthesis | undefined;

  constructor({ heeds, ...options }: CallAgentOptions) {
    super(options);
    this.#heeds = heeds;
  }

  /** Of the present or the last speech, as far as it is known: sound is made faster than it is heard. */
  get synthesis(): Synthesis | undefined {
    return this.#synthesis;
  }

  override async ttsNode(
    text: ReadableStream<string> | AsyncIterable<string>,
    settings: voice.ModelSettings,
  ): Promise<ReadableStream<AudioFrame> | null> {
    let synthesis: Synthesis = { text: '', seconds: 0, complete: false };
    const becomes = (change: Partial<Synthesis>): void => {
      // A later speech replaces it.
      const current = this.#synthesis === synthesis || synthesis.seconds === 0;
      synthesis = { ...synthesis, ...change };
      if (current) this.#synthesis = synthesis;
    };
    const sound = await super.ttsNode(
      (text instanceof ReadableStream ? text : ReadableStream.from(text)).pipeThrough(
        new TransformStream<string, string>({
          transform(piece, controller) {
            becomes({ text: synthesis.text + piece });
            controller.enqueue(piece);
          },
        }),
      ),
      settings,
    );
    return (
      sound?.pipeThrough(
        new TransformStream<AudioFrame, AudioFrame>({
          transform(frame, controller) {
            becomes({ seconds: synthesis.seconds + frame.samplesPerChannel / frame.sampleRate });
            controller.enqueue(frame);
          },
          flush: () => becomes({ complete: true }),
        }),
      ) ?? null
    );
  }

  override async sttNode(
    audio: ReadableStream<AudioFrame>,
    settings: voice.ModelSettings,
  ): Promise<ReadableStream<stt.SpeechEvent | string> | null> {
    const events = await super.sttNode(audio, settings);
    const heeds = this.#heeds;
    return (
      events?.pipeThrough(
        new TransformStream<stt.SpeechEvent | string, stt.SpeechEvent | string>({
          transform(event, controller) {
            if (typeof event === 'string' || !isTranscript(event) || heeds(event.alternatives?.[0].text ?? '')) controller.enqueue(event);
          },
        }),
      ) ?? null
    );
  }
}

function isTranscript({ type }: stt.SpeechEvent): boolean {
  return (
    type === SpeechEventType.INTERIM_TRANSCRIPT ||
    type === SpeechEventType.FINAL_TRANSCRIPT ||
    type === SpeechEventType.PREFLIGHT_TRANSCRIPT
  );
}
