/** LiveKit's agent, which hears only what counts. */
import { stt, voice, type llm } from '@livekit/agents';
import type { AudioFrame } from '@livekit/rtc-node';
import { TransformStream, type ReadableStream } from 'node:stream/web';

export interface CallAgentOptions {
  readonly instructions: string;
  readonly tools: llm.ToolContextLike;
  /** Whether what was recognised is taken as said; what isn't was never said. */
  readonly heeds: (text: string) => boolean;
}

const { SpeechEventType } = stt;

export class CallAgent extends voice.Agent {
  readonly #heeds: (text: string) => boolean;

  constructor({ heeds, ...options }: CallAgentOptions) {
    super(options);
    this.#heeds = heeds;
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
