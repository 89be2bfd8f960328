/** The language model as a session asks it: its conversation in our form, and the answer in LiveKit's. */
import { DEFAULT_API_CONNECT_OPTIONS, llm as llms } from '@livekit/agents';

import { argumentsToPass, rawArguments } from '../calls/model-stream/index.ts';
import { isObject, type JsonObject } from '../../platform/json.ts';
import type { AnswerEvent, AnswerRequest, HistoryItem, Providers } from '../providers/index.ts';
import { sessionErrorOf } from './session-error.ts';

export interface SessionLlmOptions {
  readonly inner: Pick<Providers['llm'], 'answer' | 'model' | 'provider'>;
  /** Whether an answer may be empty: the caller has heard what there is to say since their last words. */
  readonly mayBeEmpty: () => boolean;
}

type ChatOptions = Parameters<llms.LLM['chat']>[0];

export class SessionLlm extends llms.LLM {
  readonly #options: SessionLlmOptions;

  constructor(options: SessionLlmOptions) {
    super();
    this.#options = options;
  }

  override label(): string {
    return 'parley.SessionLlm';
  }

  override get model(): string {
    return this.#options.inner.model;
  }

  override get provider(): string {
    return this.#options.inner.provider;
  }

  override chat(chat: ChatOptions): llms.LLMStream {
    const { inner, mayBeEmpty } = this.#options;
    const request = answerRequestOf(chat, mayBeEmpty);
    return new SessionLlmStream(this, { ...chat, answer: (signal) => inner.answer(request, signal) });
  }
}

interface StreamOptions extends ChatOptions {
  readonly answer: (signal: AbortSignal) => AsyncIterable<AnswerEvent>;
}

class SessionLlmStream extends llms.LLMStream {
  readonly #answer: StreamOptions['answer'];

  constructor(owner: SessionLlm, { chatCtx, toolCtx, answer }: StreamOptions) {
    // The model itself tries again.
    const connOptions = { ...DEFAULT_API_CONNECT_OPTIONS, maxRetry: 0 };
    super(owner, { chatCtx, connOptions, ...(toolCtx !== undefined && { toolCtx }) });
    this.#answer = answer;
  }

  protected override async run(): Promise<void> {
    const { signal } = this.abortController;
    try {
      for await (const event of this.#answer(signal)) this.queue.put({ id: '', ...chunkOf(event) });
    } catch (error) {
      if (!signal.aborted) throw sessionErrorOf(error);
    }
  }
}

export function answerRequestOf({ chatCtx, toolCtx, toolChoice }: ChatOptions, mayBeEmpty: () => boolean): AnswerRequest {
  const { functionTools = {} } = llms.toToolContext(toolCtx) ?? {};
  return {
    instructions: chatCtx.items
      .filter(isInstruction)
      .map(({ rawTextContent = '' }) => rawTextContent)
      .join('\n\n'),
    history: chatCtx.items.flatMap(historyItemOf),
    tools: Object.entries(functionTools).map(([name, { description, parameters }]) => ({
      name,
      description,
      parameters: llms.toJsonSchema(parameters, true, false) as JsonObject,
    })),
    mayCall: toolChoice !== 'none',
    mayBeEmpty,
  };
}

const isInstruction = (item: llms.ChatItem): item is llms.ChatMessage =>
  item.type === 'message' && (item.role === 'system' || item.role === 'developer');

function historyItemOf(item: llms.ChatItem): readonly HistoryItem[] {
  const { id } = item;
  // The session puts it before the number of a call.
  const [answer = id] = id.split('/');
  switch (item.type) {
    case 'message': {
      const { role, rawTextContent: text = '', extra } = item;
      if (isInstruction(item)) return [];
      return [{ type: 'message', id, text, extra, ...(role === 'assistant' ? { role: 'agent', answer } : { role: 'user' }) }];
    }
    case 'function_call': {
      const { groupId, callId, name, args, extra } = item;
      return [{ type: 'call', id, answer: groupId ?? answer, callId, name, args, extra }];
    }
    case 'function_call_output': {
      const { callId, name, output, isError } = item;
      return [{ type: 'result', id, callId, name, output, isError }];
    }
    default:
      return [];
  }
}

function chunkOf(event: AnswerEvent): Omit<llms.ChatChunk, 'id'> {
  switch (event.type) {
    case 'text':
      return { delta: { role: 'assistant', content: event.text } };
    case 'extra':
      return { delta: { role: 'assistant', extra: event.extra } };
    case 'call':
      return { delta: { role: 'assistant', toolCalls: [functionCallOf(event)] } };
    case 'usage':
      return { usage: usageOf(event.usage) };
    default:
      return event satisfies never;
  }
}

const usageOf = ({ inputTokens, outputTokens, cachedTokens = 0 }: Extract<AnswerEvent, { readonly type: 'usage' }>['usage']) => ({
  promptTokens: inputTokens,
  completionTokens: outputTokens,
  promptCachedTokens: cachedTokens,
  totalTokens: inputTokens + outputTokens,
});

/** Nothing of a call that is incomplete may run: the model learns that when it gets its result. */
function functionCallOf({ call, complete }: Extract<AnswerEvent, { readonly type: 'call' }>): llms.FunctionCall {
  const { id: callId, name, arguments: text, extra: added } = call;
  const extra = added?.['extra_content'];
  const args = complete ? argumentsToPass(text) : rawArguments(text);
  return llms.FunctionCall.create({ callId, name, args, ...(isObject(extra) && { extra }) });
}
