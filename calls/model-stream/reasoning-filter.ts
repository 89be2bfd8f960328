/**
 * Separates what a model says from the reasoning that servers leave in the text: `<think>…</think>`, `<thinking>…</thinking>`, Gemma's thought channel,
 * the channels of harmony (https://developers.openai.com/cookbook/articles/openai-harmony), and a `</think>` whose beginning was part of the prompt.
 */

export type Piece =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  /** A reasoning ended that was not seen to begin: all text so far belongs to it. */
  | { readonly type: 'retract' };

const CLOSERS: Readonly<Record<string, string>> = {
  '<think>': '</think>',
  '<thinking>': '</thinking>',
  '<|channel>thought': '<channel|>',
};
const OPENERS = Object.keys(CLOSERS);
const LONE_CLOSERS = ['</think>', '</thinking>'];
const MESSAGE = '<|message|>';
const HEADERS = ['<|start|>', '<|channel|>'];
const HARMONY = [...HEADERS, MESSAGE, '<|end|>', '<|return|>', '<|call|>'];

type State =
  | { readonly name: 'text' }
  /** It is text or reasoning: the end of the reasoning decides. */
  | { readonly name: 'undecided' }
  | { readonly name: 'reasoning'; readonly until: readonly string[] }
  /** A header comes before a message of harmony: its role, channel and recipient. */
  | { readonly name: 'header' };

const MARKERS: Readonly<Record<Exclude<State['name'], 'reasoning'>, readonly string[]>> = {
  text: [...OPENERS, ...LONE_CLOSERS, ...HARMONY],
  undecided: [...OPENERS, ...LONE_CLOSERS, ...HARMONY],
  header: [MESSAGE],
};

export class ReasoningFilter {
  #state: State;
  #buffer = '';
  /** Text of an undecided beginning, or of a header. */
  #held = '';
  #foundLoneEnd = false;

  /** @param options.beginsWithReasoning the model's answers are known to end a reasoning that they don't begin */
  constructor({ beginsWithReasoning }: { readonly beginsWithReasoning: boolean }) {
    this.#state = { name: beginsWithReasoning ? 'undecided' : 'text' };
  }

  /** Whether a reasoning ended that was not seen to begin. */
  get foundLoneEnd(): boolean {
    return this.#foundLoneEnd;
  }

  push(text: string): readonly Piece[] {
    this.#buffer += text;
    const pieces: Piece[] = [];
    for (;;) {
      const [at, marker] = firstOf(this.#markers, this.#buffer);
      if (marker === undefined) break;
      pieces.push(...this.#pass(this.#buffer.slice(0, at)), ...this.#enter(marker));
      this.#buffer = this.#buffer.slice(at + marker.length);
    }
    const passed = this.#buffer.length - openLength(this.#markers, this.#buffer);
    pieces.push(...this.#pass(this.#buffer.slice(0, passed)));
    this.#buffer = this.#buffer.slice(passed);
    return pieces.filter((piece) => piece.type === 'retract' || piece.text !== '');
  }

  /** Call it when the server gives the reasoning by itself: the text then has none. */
  decide(): readonly Piece[] {
    if (this.#state.name !== 'undecided') return [];
    this.#state = { name: 'text' };
    return [{ type: 'text', text: this.#take() }];
  }

  /** Call it when nothing follows: what might have become a marker is none. */
  flush(): readonly Piece[] {
    const pieces = [...this.#pass(this.#buffer), ...this.decide()];
    this.#buffer = '';
    return pieces.filter((piece) => piece.type === 'retract' || piece.text !== '');
  }

  get #markers(): readonly string[] {
    return this.#state.name === 'reasoning' ? this.#state.until : MARKERS[this.#state.name];
  }

  #pass(text: string): readonly Piece[] {
    const { name } = this.#state;
    if (name === 'text' || name === 'reasoning') return [{ type: name, text }];
    this.#held += text;
    return [];
  }

  #enter(marker: string): readonly Piece[] {
    const before = this.#state.name;
    const endsReasoning = before !== 'reasoning' && LONE_CLOSERS.includes(marker);
    this.#foundLoneEnd ||= endsReasoning;
    const ended: readonly Piece[] =
      before === 'undecided'
        ? [{ type: endsReasoning ? 'reasoning' : 'text', text: this.#take() }]
        : endsReasoning
          ? [{ type: 'retract' }]
          : [];
    const until = CLOSERS[marker];
    if (until !== undefined) this.#state = { name: 'reasoning', until: [until] };
    else if (HEADERS.includes(marker)) this.#state = { name: 'header' };
    else this.#state = marker === MESSAGE && before === 'header' ? stateOfMessage(this.#take()) : { name: 'text' };
    return ended;
  }

  #take(): string {
    const held = this.#held;
    this.#held = '';
    return held;
  }
}

/** The caller hears what is addressed to nobody else and is no analysis. */
function stateOfMessage(header: string): State {
  const channel = header.split('<|channel|>').at(-1)!.trim();
  return channel.startsWith('analysis') || channel.includes('to=') ? { name: 'reasoning', until: HARMONY } : { name: 'text' };
}

function firstOf(markers: readonly string[], text: string): readonly [number, string | undefined] {
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at + 1)) {
    const marker = markers.find((one) => text.startsWith(one, at));
    if (marker !== undefined) return [at, marker];
  }
  return [-1, undefined];
}

/** Returns how many characters of the end may become a marker. */
function openLength(markers: readonly string[], text: string): number {
  const at = text.lastIndexOf('<');
  return at >= 0 && markers.some((marker) => marker.startsWith(text.slice(at))) ? text.length - at : 0;
}
