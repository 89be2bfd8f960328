/** An answer of a chat completion, from what a server sends and as what a server would send. */

export interface RecordedToolCall {
  readonly name: string;
  /** As the model wrote them: JSON, unless it made a mistake. */
  readonly arguments: string;
  readonly id: string;
  /** What else the provider adds, and wants to see again with the results. */
  readonly more?: Readonly<Record<string, unknown>> | undefined;
}

export interface RecordedAnswer {
  readonly text?: string;
  readonly toolCalls?: readonly RecordedToolCall[];
  readonly finishReason?: string;
  readonly usage?: unknown;
  /** The server refused the request with this status; the next form of it may be accepted. */
  readonly refused?: number;
}

type Fields = Readonly<Record<string, unknown>>;

interface Part {
  content?: unknown;
  tool_calls?: readonly ToolCallPart[];
}

interface ToolCallPart extends Fields {
  readonly index?: number;
  readonly id?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
}

interface Body {
  readonly choices?: readonly { readonly delta?: Part; readonly message?: Part; readonly finish_reason?: string | null }[];
  readonly usage?: unknown;
}

/** @returns undefined where it is no complete answer, which is not worth keeping */
export function readCompletion(text: string, { streamed }: { readonly streamed: boolean }): RecordedAnswer | undefined {
  const events = streamed ? eventsIn(text) : [parsed(text)];
  if (events.some((event) => event === undefined) || events.length === 0) return undefined;
  const calls = new Map<number, { id: string; name: string; arguments: string; more: Record<string, unknown> }>();
  let said = '';
  let finishReason: string | undefined;
  let usage: unknown;
  for (const event of events as readonly Body[]) {
    usage = event.usage ?? usage;
    const [choice] = event.choices ?? [];
    finishReason = choice?.finish_reason ?? finishReason;
    const part = choice?.delta ?? choice?.message;
    if (typeof part?.content === 'string') said += part.content;
    for (const [position, { index = position, id, type: _type, function: called, ...more }] of (part?.tool_calls ?? []).entries()) {
      const call = calls.get(index) ?? { id: '', name: '', arguments: '', more: {} };
      call.id ||= id ?? '';
      call.name += called?.name ?? '';
      call.arguments += called?.arguments ?? '';
      Object.assign(call.more, more);
      calls.set(index, call);
    }
  }
  if (finishReason === undefined) return undefined;
  const toolCalls = [...calls]
    .toSorted(([a], [b]) => a - b)
    .map(([, { id, name, arguments: args, more }]) => ({
      id,
      name,
      arguments: args,
      more: Object.keys(more).length > 0 ? more : undefined,
    }));
  return {
    ...(said !== '' && { text: said }),
    ...(toolCalls.length > 0 && { toolCalls }),
    finishReason,
    ...(usage != null && { usage }),
  };
}

function eventsIn(text: string): readonly (Body | undefined)[] {
  return text
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trim())
    .filter((data) => data !== '[DONE]' && data !== '')
    .map(parsed);
}

function parsed(text: string): Body | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** As a server that speaks OpenAI's protocol answers. */
export function writeCompletion(
  answer: RecordedAnswer,
  { streamed, model }: { readonly streamed: boolean; readonly model: string },
): Response {
  const common = { id: 'chatcmpl-recorded', created: 0, model };
  const calls = (answer.toolCalls ?? []).map(({ id, name, arguments: args, more = {} }, index) =>
    Object.assign(streamed ? { index } : {}, { id, type: 'function', function: { name, arguments: args } }, more),
  );
  const said = { role: 'assistant', content: answer.text ?? null, ...(calls.length > 0 && { tool_calls: calls }) };
  const finish_reason = answer.finishReason ?? 'stop';
  if (!streamed) {
    const choices = [{ index: 0, message: said, finish_reason }];
    return Response.json({ ...common, object: 'chat.completion', choices, usage: answer.usage });
  }
  const chunk = (more: object): string => `data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', ...more })}\n\n`;
  const body = [
    chunk({ choices: [{ index: 0, delta: said, finish_reason: null }] }),
    chunk({ choices: [{ index: 0, delta: {}, finish_reason }] }),
    ...(answer.usage === undefined ? [] : [chunk({ choices: [], usage: answer.usage })]),
    'data: [DONE]\n\n',
  ];
  return new Response(body.join(''), { headers: { 'content-type': 'text/event-stream' } });
}
