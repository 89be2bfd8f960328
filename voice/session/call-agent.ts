/** LiveKit's agent, without speech that does not count as an interruption, and with a history of what was heard. */
import { stt, voice, type llm } from '@livekit/agents';
import type { AudioFrame } from '@livekit/rtc-node';
import { TransformStream, type ReadableStream } from 'node:stream/web';

import { sentenceOf } from './session-tts.ts';
import type { Synthesis } from './synthesis.ts';

export interface CallAgentOptions {
  readonly instructions: string;
  readonly tools: llm.ToolContextLike;
  /** Whether recognised text counts; other text is dropped. @param final its speech is over */
  readonly heeds: (text: string, final: boolean) => boolean;
  /** The last words were dropped: they will not count. */
  readonly onDropped: () => void;
  /** Of the speech that the caller's code makes. */
  readonly synthesize: () => Synthesis;
  /** Resolves when what was heard of interrupted speech is in the history. */
  readonly interrupted: () => Promise<void>;
}

const { SpeechEventType } = stt;

export class CallAgent extends voice.Agent {
  readonly #options: Omit<CallAgentOptions, 'instructions' | 'tools'>;

  constructor({ instructions, tools, ...options }: CallAgentOptions) {
    super({ instructions, tools });
    this.#options = options;
  }

  /** The session begins an answer while an interrupted one is being wound up: without this the model would not know what it has just said. */
  override async onUserTurnCompleted(chatCtx: llm.ChatContext): Promise<void> {
    await this.#addInterrupted(chatCtx);
  }

  override async llmNode(
    chatCtx: llm.ChatContext,
    tools: llm.ToolContext,
    settings: voice.ModelSettings,
  ): ReturnType<voice.Agent['llmNode']> {
    // An answer to words that may go on begins before the turn is completed.
    await this.#addInterrupted(chatCtx);
    const asked = chatCtx.copy({ excludeEmptyMessage: true });
    asked.items = inOrderOfCalls(resultsLast(asked.items));
    return super.llmNode(asked, tools, settings);
  }

  async #addInterrupted(chatCtx: llm.ChatContext): Promise<void> {
    await this.#options.interrupted();
    for (const item of this.chatCtx.items) {
      if (item.type === 'message' && item.interrupted && chatCtx.getById(item.id) === undefined) chatCtx.insert(item);
    }
  }

  override async ttsNode(
    text: ReadableStream<string> | AsyncIterable<string>,
    settings: voice.ModelSettings,
  ): Promise<ReadableStream<AudioFrame> | null> {
    const synthesis = this.#options.synthesize();
    synthesis.begin();
    const sound = await super.ttsNode(text, settings);
    return (
      sound?.pipeThrough(
        new TransformStream<AudioFrame, AudioFrame>({
          transform(frame, controller) {
            synthesis.addSound(frame.samplesPerChannel / frame.sampleRate, sentenceOf(frame));
            controller.enqueue(frame);
          },
          flush: () => synthesis.end(),
        }),
      ) ?? null
    );
  }

  override async sttNode(
    audio: ReadableStream<AudioFrame>,
    settings: voice.ModelSettings,
  ): Promise<ReadableStream<stt.SpeechEvent | string> | null> {
    const events = await super.sttNode(audio, settings);
    const { heeds, onDropped } = this.#options;
    return (
      events?.pipeThrough(
        new TransformStream<stt.SpeechEvent | string, stt.SpeechEvent | string>({
          transform(event, controller) {
            const final = typeof event !== 'string' && event.type === SpeechEventType.FINAL_TRANSCRIPT;
            if (typeof event === 'string' || !isTranscript(event) || heeds(event.alternatives?.[0].text ?? '', final))
              controller.enqueue(event);
            else if (final) onDropped();
          },
        }),
      ) ?? null
    );
  }
}

/**
 * What the agent says while tools work, of an answer before theirs, comes before their calls: some providers refuse a request whose last message is the
 * agent's (Mistral: "Expected last role User or Tool").
 */
export function resultsLast(items: readonly llm.ChatItem[]): llm.ChatItem[] {
  const end = items.findLastIndex((item) => item.type !== 'message' || item.role !== 'assistant') + 1;
  const from = items.slice(0, end).findLastIndex(({ type }) => type !== 'function_call' && type !== 'function_call_output') + 1;
  return [...items.slice(0, from), ...items.slice(end), ...items.slice(from, end)];
}

/**
 * Calls of one answer, and their results, in the order in which the model made them: the session has them as they began and ended, and another order in
 * each request keeps providers from using what they have cached.
 */
export function inOrderOfCalls(items: readonly llm.ChatItem[]): llm.ChatItem[] {
  const ordered = [...items];
  const calls = items.filter((item) => item.type === 'function_call');
  for (const group of Map.groupBy(calls, ({ id }) => id.split('/')[0]).values()) {
    const made = group.toSorted((a, b) => numberOf(a) - numberOf(b));
    const results = made.flatMap(({ callId }) => items.filter((item) => item.type === 'function_call_output' && item.callId === callId));
    for (const sorted of [made, results]) {
      const places = ordered.flatMap((item, at) => (sorted.includes(item as never) ? [at] : []));
      for (const [index, at] of places.entries()) ordered[at] = sorted[index]!;
    }
  }
  return ordered;
}

/** The session numbers the calls of an answer in their ids: `<answer>/fnc_<number>`. */
const numberOf = ({ id }: llm.FunctionCall): number => Number(/\/fnc_(\d+)$/.exec(id)?.[1] ?? 0);

function isTranscript({ type }: stt.SpeechEvent): boolean {
  return (
    type === SpeechEventType.INTERIM_TRANSCRIPT ||
    type === SpeechEventType.FINAL_TRANSCRIPT ||
    type === SpeechEventType.PREFLIGHT_TRANSCRIPT
  );
}
