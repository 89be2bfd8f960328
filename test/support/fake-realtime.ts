/**
 * One connection to OpenAI's Realtime API, played as its server plays it: it keeps the items of the conversation, writes down what it hears,
 * answers by a script, and refuses what the server refuses.
 */
import type { Clock, Timer } from '../../platform/clock.ts';

/** An answer of the model, word by word. */
export interface RealtimeAnswer {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly args?: string }[];
  /** Milliseconds to the first word; default 300. */
  readonly delayMs?: number;
  /** Milliseconds for each word; default 20. */
  readonly msPerWord?: number;
  /** Loses the connection after so many words. */
  readonly breaksAfter?: number;
}

/** What the model knows when it is asked. */
export interface RealtimeQuestion {
  readonly instructions: string;
  readonly toolNames: readonly string[];
  /** Items in the form `user: Hello`, `agent: Hi`, `call: find {}`, `result: "it"`. */
  readonly items: readonly string[];
  /** The user's last words. */
  readonly lastUser: string;
  /** How many of the user's items are sound. */
  readonly sounds: number;
  readonly mayCall: boolean;
}

export interface FakeRealtimeOptions {
  readonly clock: Clock;
  readonly send: (event: object) => void;
  /** Ends the connection without a word. */
  readonly drop: () => void;
  /** Returns the words of sound. @param pcm all that was appended since the last commit */
  readonly hear: (pcm: Buffer) => string;
  readonly answer: (question: RealtimeQuestion) => RealtimeAnswer;
  /** Milliseconds from a commit to its words; default 200. */
  readonly transcribesMs?: number;
  /** Names of events before the API was generally available. */
  readonly beta?: boolean;
}

interface Item {
  readonly id: string;
  readonly type: string;
  readonly role?: string;
  readonly isSound?: true;
  text: string;
  readonly name?: string;
  readonly callId?: string;
}

type Fields = Readonly<Record<string, unknown>>;
const asText = (value: unknown): string => (typeof value === 'string' ? value : '');
/** Less than this cannot be committed. */
const SHORTEST_COMMIT_MS = 100;

export class FakeRealtime {
  readonly #options: FakeRealtimeOptions;
  readonly #items: Item[] = [];
  #session: Fields = {};
  #buffer: Buffer[] = [];
  #made = 0;
  #response: { readonly id: string; readonly timers: Timer[]; readonly output: Item[] } | undefined;
  /** Questions, in the order in which they came. */
  readonly questions: RealtimeQuestion[] = [];
  /** Codes of errors that were sent. */
  readonly refused: string[] = [];

  constructor(options: FakeRealtimeOptions) {
    this.#options = options;
    this.#event('session.created', { session: { type: 'realtime', audio: { input: { turn_detection: { type: 'server_vad' } } } } });
  }

  /** The conversation as the server has it now. */
  get items(): readonly string[] {
    return this.#items.map(({ type, role, text, name }) => {
      if (type === 'function_call') return `call: ${name} ${text}`;
      return type === 'function_call_output' ? `result: ${text}` : `${role === 'user' ? 'user' : 'agent'}: ${text}`;
    });
  }

  receive({ type, event_id: eventId, ...fields }: Fields): void {
    const refuse = (code: string, message: string): void => {
      this.refused.push(code);
      this.#event('error', { error: { type: 'invalid_request_error', code, message, param: null, event_id: eventId ?? null } });
    };
    switch (type) {
      case 'session.update':
        this.#session = { ...this.#session, ...(fields['session'] as Fields) };
        return this.#event('session.updated', { session: { turn_detection: null, ...this.#session } });
      case 'input_audio_buffer.append':
        return void this.#buffer.push(Buffer.from(asText(fields['audio']), 'base64'));
      case 'input_audio_buffer.commit':
        return this.#commit(refuse);
      case 'conversation.item.create':
        return this.#create(fields, refuse);
      case 'conversation.item.delete': {
        const at = this.#items.findIndex(({ id }) => id === fields['item_id']);
        if (at < 0) return refuse('item_delete_invalid_item_id', 'Item does not exist.');
        this.#items.splice(at, 1);
        return this.#event('conversation.item.deleted', { item_id: fields['item_id'] });
      }
      case 'response.create':
        if (this.#response !== undefined)
          return refuse('conversation_already_has_active_response', 'Conversation already has an active response.');
        return this.#respond((fields['response'] ?? {}) as Fields);
      case 'response.cancel':
        if (this.#response === undefined) return refuse('response_cancel_not_active', 'There is no active response.');
        return this.#done('cancelled', { reason: 'client_cancelled' });
      default:
        return refuse('invalid_value', 'Invalid value.');
    }
  }

  /** Stops all that is still to come. */
  close(): void {
    for (const timer of this.#response?.timers ?? []) timer.cancel();
  }

  #commit(refuse: (code: string, message: string) => void): void {
    const pcm = Buffer.concat(this.#buffer.splice(0));
    const rate = (((this.#session['audio'] as Fields)['input'] as Fields)['format'] as Fields)['rate'] as number;
    if (pcm.length < (2 * rate * SHORTEST_COMMIT_MS) / 1_000)
      return refuse('input_audio_buffer_commit_empty', 'Error committing input audio buffer: buffer too small.');
    const item: Item = { id: this.#id('item'), type: 'message', role: 'user', isSound: true, text: '' };
    this.#items.push(item);
    this.#event('input_audio_buffer.committed', { item_id: item.id, previous_item_id: this.#items.at(-2)?.id ?? null });
    this.#event('conversation.item.added', { item: { id: item.id, type: 'message', role: 'user' } });
    item.text = this.#options.hear(pcm);
    this.#options.clock.after(this.#options.transcribesMs ?? 200, () =>
      this.#event('conversation.item.input_audio_transcription.completed', {
        item_id: item.id,
        content_index: 0,
        transcript: item.text,
        usage: { type: 'duration', seconds: pcm.length / (2 * rate) },
      }),
    );
  }

  #create(fields: Fields, refuse: (code: string, message: string) => void): void {
    const { id = this.#id('item'), type, role, content, name, arguments: args, call_id: callId, output } = fields['item'] as Fields;
    const before = fields['previous_item_id'] ?? this.#items.at(-1)?.id ?? 'root';
    const at = before === 'root' ? 0 : this.#items.findIndex((item) => item.id === before) + 1;
    if (before !== 'root' && at === 0) return refuse('invalid_previous_item_id', 'The previous item does not exist.');
    const text = (Array.isArray(content) ? (content as readonly { readonly text: string }[]) : []).map((part) => part.text).join('');
    const texts: Readonly<Record<string, string>> = { message: text, function_call: asText(args), function_call_output: asText(output) };
    this.#items.splice(at, 0, {
      id: asText(id),
      type: asText(type),
      role: asText(role),
      text: texts[asText(type)] ?? '',
      name: asText(name),
      callId: asText(callId),
    });
    this.#event('conversation.item.added', { item: fields['item'], previous_item_id: before });
  }

  #respond({ tool_choice: choice }: Fields): void {
    const tools = (this.#session['tools'] ?? []) as readonly { readonly name: string }[];
    const question: RealtimeQuestion = {
      instructions: asText(this.#session['instructions']),
      toolNames: tools.map(({ name }) => name),
      items: this.items,
      lastUser: this.#items.findLast(({ role }) => role === 'user')?.text ?? '',
      sounds: this.#items.filter(({ isSound }) => isSound).length,
      mayCall: choice !== 'none',
    };
    this.questions.push(question);
    const id = this.#id('resp');
    const response = { id, timers: [] as Timer[], output: [] as Item[] };
    this.#response = response;
    this.#event('response.created', { response: { id, status: 'in_progress', output: [] } });
    const { text = '', calls = [], delayMs = 300, msPerWord = 20, breaksAfter } = this.#options.answer(question);
    const words = text.match(/\S+\s*/gu) ?? [];
    const steps: (() => void)[] = words.map((word, index) => () => {
      if (index === breaksAfter) return this.#options.drop();
      this.#say(response, word);
    });
    for (const { name, args = '{}' } of calls) steps.push(() => this.#call(response, name, args));
    steps.push(() => this.#done('completed', {}));
    for (const [index, step] of steps.entries()) response.timers.push(this.#options.clock.after(delayMs + index * msPerWord, step));
  }

  #say(response: { readonly id: string; readonly output: Item[] }, word: string): void {
    let item = response.output.find(({ type }) => type === 'message');
    if (item === undefined) {
      item = { id: this.#id('item'), type: 'message', role: 'assistant', text: '' };
      response.output.push(item);
      this.#items.push(item);
      this.#event('response.output_item.added', {
        response_id: response.id,
        item: { id: item.id, type: 'message', role: 'assistant', content: [] },
      });
    }
    item.text += word;
    const type = this.#options.beta === true ? 'response.text.delta' : 'response.output_text.delta';
    this.#event(type, { response_id: response.id, item_id: item.id, content_index: 0, output_index: 0, delta: word });
  }

  #call(response: { readonly id: string; readonly output: Item[] }, name: string, args: string): void {
    const item: Item = { id: this.#id('item'), type: 'function_call', text: args, name, callId: this.#id('call') };
    response.output.push(item);
    this.#items.push(item);
    for (const [type, sent] of [
      ['added', ''],
      ['done', args],
    ] as const)
      this.#event(`response.output_item.${type}`, { response_id: response.id, item: { ...outputOf(item), arguments: sent } });
  }

  #done(status: string, details: Fields): void {
    const response = this.#response!;
    this.close();
    this.#response = undefined;
    this.#event('response.done', {
      response: {
        id: response.id,
        status,
        status_details: details,
        output: response.output.map(outputOf),
        usage: { total_tokens: 30, input_tokens: 20, output_tokens: 10, input_token_details: { cached_tokens: 5 } },
      },
    });
  }

  #id(of: string): string {
    return `${of}_${(this.#made += 1)}`;
  }

  #event(type: string, fields: object): void {
    this.#options.send({ type, event_id: this.#id('event'), ...fields });
  }
}

const outputOf = ({ id, type, text, name, callId }: Item) =>
  type === 'function_call'
    ? { id, type, name, call_id: callId, arguments: text }
    : { id, type, role: 'assistant', content: [{ type: 'output_text', text }] };
