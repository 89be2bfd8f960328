/**
 * A random conversation in virtual time: a user who speaks whenever it suits, a model, tools and a voice with delays, failures and late events. After each
 * event it is compared with what has to hold (docs/adr/0069).
 */
import { isDeepStrictEqual } from 'node:util';

import type { ConversationEvent, Effect, Failure } from '../../voice/conversation/events.ts';
import type { Entry } from '../../voice/conversation/records.ts';
import { requestHistory } from '../../voice/conversation/requests.ts';
import { initialState, isQuiet, type ConversationState } from '../../voice/conversation/state.ts';
import { step } from '../../voice/conversation/step.ts';
import type { HistoryItem } from '../../voice/providers/llm/history.ts';
import type { ModelCall } from '../../voice/calls/model-stream/index.ts';
import { mulberry } from '../../platform/mulberry.ts';

/** Names say what tools do. */
const TOOLS = ['look_up', 'book', 'wait_for_keys', 'end_call', 'made_up'] as const;
const WORDS = ['we', 'open', 'at', 'nine', 'and', 'close', 'at', 'six', 'of', 'course', 'I', 'see', 'you', 'tomorrow'];
const FAILURE: Failure = { part: 'llm', kind: 'unreachable', provider: 'openai' };
const CHARACTERS_PER_MS = 0.015;

interface Due {
  readonly at: number;
  readonly order: number;
  readonly happens: () => void;
}

/** The sound of one speech. */
interface Sound {
  text: string;
  complete: boolean;
  cancelled: boolean;
  played: number;
}

export class SimulatedConversation {
  readonly #random: () => number;
  readonly #seed: number;
  readonly #queue: Due[] = [];
  readonly #sounds = new Map<number, Sound>();
  /** Speeches that were told to be silent. */
  readonly #cancelled = new Set<string>();
  readonly #log: string[] = [];
  readonly #entries: Entry[] = [];
  /** What the user has said that counts, in order. */
  readonly #said: string[] = [];
  readonly #called = new Map<string, number>();
  #state: ConversationState;
  #order = 0;
  #now = 0;
  #asked: readonly HistoryItem[] = [];
  #asking: string | undefined;
  #calls = 0;
  #over = false;

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = mulberry(seed);
    this.#state = initialState({
      welcome: this.#chance(0.7) ? 'Hello, this is the desk.' : undefined,
      interruptions: this.#chance(0.8),
      stoppedByInterruption: ['wait_for_keys'],
    });
  }

  /** @throws Error that names the seed, what doesn't hold, and what happened until then */
  run(): void {
    this.#later(this.#ms(500), () => this.#happens({ type: 'begun' }));
    for (let turn = this.#count(6), at = 0; turn > 0; turn -= 1) {
      at += this.#ms(6_000);
      this.#later(at, () => this.#speak(`words ${turn}.`));
    }
    const end = this.#ms(60_000) + 5_000;
    if (this.#chance(0.3)) this.#later(this.#ms(20_000), () => this.#close());
    for (let due = this.#next(); due !== undefined; due = this.#next()) {
      this.#now = due.at;
      due.happens();
    }
    this.#now += end;
    this.#expectSettled();
    if (!this.#over) this.#close();
    for (let due = this.#next(); due !== undefined; due = this.#next()) {
      this.#now = due.at;
      due.happens();
    }
    this.#expectClosed();
  }

  // -- chance

  #chance(share: number): boolean {
    return this.#random() < share;
  }

  #count(most: number): number {
    return Math.floor(this.#random() * (most + 1));
  }

  /** Often at the same moment as something else. */
  #ms(most: number): number {
    return this.#chance(0.2) ? 0 : Math.floor(this.#random() * most);
  }

  #one<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)]!;
  }

  // -- time

  #later(ms: number, happens: () => void): void {
    this.#queue.push({ at: this.#now + ms, order: (this.#order += 1), happens });
  }

  #next(): Due | undefined {
    let first = 0;
    for (const [index, { at, order }] of this.#queue.entries()) {
      const best = this.#queue[first]!;
      if (at < best.at || (at === best.at && order < best.order)) first = index;
    }
    return this.#queue.splice(first, 1)[0];
  }

  // -- the world

  #speak(text: string): void {
    const { begun, closed } = this.#state;
    if (begun && !closed) this.#said.push(text);
    this.#happens({ type: 'turn', text });
  }

  #close(): void {
    this.#over = true;
    this.#happens({ type: 'closed' });
  }

  #happens(event: ConversationEvent): void {
    this.#log.push(`${this.#now} ${JSON.stringify(event)}`);
    const before = this.#state;
    const { state, effects } = step(before, event, this.#now);
    this.#state = state;
    for (const effect of effects) {
      this.#log.push(`    ${JSON.stringify(effect)}`);
      this.#carryOut(effect);
    }
    this.#expect(state.next >= before.next, 'numbers go up');
    this.#expect(
      state.speeches.every(({ number }, index, all) => index === 0 || all[index - 1]!.number < number),
      'speeches are in order',
    );
  }

  #carryOut(effect: Effect): void {
    switch (effect.type) {
      case 'ask':
        return this.#ask(effect);
      case 'cancelAnswer':
        this.#expect(this.#asking === effect.answer, 'only the answer that is given is cancelled');
        this.#asking = undefined;
        return undefined;
      case 'say': {
        const sound = this.#sounds.get(effect.speech) ?? { text: '', complete: false, cancelled: false, played: 0 };
        this.#expect(!sound.complete && !sound.cancelled, 'nothing is said after the end of a speech');
        sound.text += effect.text;
        this.#sounds.set(effect.speech, sound);
        return this.#play();
      }
      case 'sayNoMore':
        this.#sounds.get(effect.speech)!.complete = true;
        return this.#play();
      case 'cancelSpeech': {
        const sound = this.#sounds.get(effect.speech)!;
        sound.cancelled = true;
        this.#cancelled.add(String(effect.speech));
        return this.#later(this.#ms(80), () => {
          this.#report(effect.speech, sound.played);
          this.#happens({ type: 'silent', speech: effect.speech });
          this.#sounds.delete(effect.speech);
          this.#play();
        });
      }
      case 'run':
        return this.#run(effect.call);
      case 'stopTool':
        return this.#later(this.#ms(5), () => this.#ran(effect.callId, 'wait_for_keys', '{"error":"no keys"}'));
      case 'record':
        this.#entries.push(...effect.entries);
        return undefined;
      case 'end':
        this.#over = true;
        return effect.failed === undefined
          ? this.#later(this.#ms(20_000), () => this.#close())
          : this.#later(this.#ms(100), () => {
              this.#happens({ type: 'farewell', apology: this.#chance(0.8) ? 'I am sorry.' : undefined });
              this.#later(this.#ms(5_000), () => this.#close());
            });
    }
  }

  #ask({ answer, history, mayCall }: Extract<Effect, { readonly type: 'ask' }>): void {
    this.#expect(this.#asking === undefined, 'one answer at a time');
    this.#expectRequest(history);
    this.#asking = answer;
    this.#asked = history;
    const ends = (event: ConversationEvent): void => {
      if (this.#asking === answer) this.#asking = undefined;
      this.#happens(event);
    };
    let at = this.#ms(1_500);
    const then = (happens: () => void): void => {
      at += this.#ms(150);
      // What was cancelled may still come, once in a while.
      const late = this.#chance(0.3);
      this.#later(at, () => {
        if (late || this.#asking === answer) happens();
      });
    };
    for (let count = this.#chance(0.25) ? 0 : this.#count(12); count > 0; count -= 1)
      then(() => this.#happens({ type: 'words', answer, text: this.#chance(0.1) ? ' ' : ` ${this.#one(WORDS)}` }));
    if (this.#chance(0.03)) return then(() => ends({ type: 'failed', answer, failure: FAILURE }));
    if (this.#chance(0.05)) then(() => this.#happens({ type: 'extra', answer, extra: { google: 1 } }));
    if (mayCall && this.#chance(0.4)) {
      for (let count = this.#count(3); count > 0; count -= 1) {
        const call: ModelCall = { id: `call-${(this.#calls += 1)}`, name: this.#one(TOOLS), arguments: '{}' };
        then(() => this.#happens({ type: 'call', answer, call, complete: !this.#chance(0.05) }));
      }
    }
    then(() => ends({ type: 'answered', answer }));
  }

  #run({ id, name }: ModelCall): void {
    this.#expect(!this.#called.has(id), 'a call runs once');
    this.#called.set(id, 0);
    const ms = this.#ms(8_000);
    if (this.#chance(0.4)) this.#later(0, () => this.#happens({ type: 'announced', text: 'One moment. ', answers: false }));
    if (ms > 4_000 && this.#chance(0.5))
      this.#later(4_000, () => this.#happens({ type: 'announced', text: 'Still at it.', answers: false }));
    if (this.#chance(0.2)) this.#later(this.#ms(ms), () => this.#happens({ type: 'found', sources: [] }));
    if (name === 'wait_for_keys' && this.#chance(0.5)) return this.#later(30_000, () => this.#ran(id, name, '{"digits":""}'));
    this.#later(ms, () => {
      if (this.#called.get(id) !== 0) return;
      if (this.#chance(0.3)) this.#happens({ type: 'announced', text: 'Done.', answers: true });
      if (name === 'end_call') this.#happens({ type: 'ending' });
      this.#ran(id, name, name === 'end_call' ? undefined : '{"ok":true}');
    });
  }

  #ran(callId: string, name: string, output: string | undefined): void {
    const times = this.#called.get(callId) ?? 0;
    this.#called.set(callId, times + 1);
    if (times > 0) return;
    const record = { name, arguments: {}, result: output ?? 'null', failed: false, beganAt: new Date(this.#now), durationMs: 1 };
    this.#happens({ type: 'ran', callId, output, record });
  }

  /** Speeches are played one after the other. */
  #play(): void {
    const [number, sound] = [...this.#sounds].toSorted(([one], [other]) => one - other)[0] ?? [];
    if (number === undefined || sound === undefined || sound.cancelled) return;
    const piece = Math.min(sound.text.length - sound.played, 1 + this.#count(20));
    this.#later(piece / CHARACTERS_PER_MS, () => {
      if (sound.cancelled || this.#sounds.get(number) !== sound || piece === 0) return;
      // Two timers for the same sound play it once.
      const played = Math.min(sound.text.length, sound.played + piece);
      sound.played = played;
      this.#report(number, played);
      if (sound.complete && played === sound.text.length) this.#silent(number);
      this.#play();
    });
    if (piece === 0 && sound.complete) this.#later(0, () => !sound.cancelled && this.#sounds.get(number) === sound && this.#silent(number));
  }

  #silent(number: number): void {
    this.#sounds.delete(number);
    this.#happens({ type: 'silent', speech: number });
    this.#play();
  }

  #report(speech: number, characters: number): void {
    if (characters > 0) this.#happens({ type: 'heard', speech, characters });
  }

  // -- what has to hold

  #expectRequest(history: readonly HistoryItem[]): void {
    const { state } = this;
    this.#expect(isDeepStrictEqual(history, requestHistory({ ...state, unseen: 0 })), 'a request is the history');
    const last = history.at(-1);
    this.#expect(last?.type !== 'message' || last.role === 'user', 'the last message of a request is not the agent’s');
    const calls = history.flatMap((item) => (item.type === 'call' ? [item.callId] : []));
    const results = history.flatMap((item) => (item.type === 'result' ? [item.callId] : []));
    this.#expect(isDeepStrictEqual(calls, results), 'each call has one result, in the order of the calls');
    const known = new Set(history.map(({ id }) => id));
    const lasting = this.#asked.filter(({ id }) => id !== 'note' && !id.endsWith('/running') && known.has(id));
    const lost = this.#asked.filter(({ id }) => id !== 'note' && !id.endsWith('/running') && !known.has(id));
    this.#expect(
      lost.every(({ type }) => type === 'message'),
      'only words that nobody heard leave the history',
    );
    const order = history.map(({ id }) => id);
    this.#expect(
      lasting.every(({ id }, index) => index === 0 || order.indexOf(lasting[index - 1]!.id) < order.indexOf(id)),
      'a request keeps the order of the one before',
    );
    const others = history
      .slice(0, order.indexOf(lasting.at(-1)?.id ?? '') + 1)
      .filter(({ id }) => !this.#asked.some((item) => item.id === id));
    this.#expect(
      others.every(({ type }) => type === 'result'),
      'nothing but results is put before what was asked with',
    );
    this.#expect(
      lasting.every(
        (item) => this.#cancelled.has(item.id) || isDeepStrictEqual(textOf(item), textOf(history.find(({ id }) => id === item.id)!)),
      ),
      'only interrupted messages change',
    );
  }

  get state(): ConversationState {
    return this.#state;
  }

  /** When nothing happens any more, nothing is owed. */
  #expectSettled(): void {
    const { state } = this;
    this.#expect(isQuiet(state), 'nothing is under way when nothing happens any more');
    this.#expect(this.#over || !state.unanswered, 'what the user has said was answered');
  }

  #expectClosed(): void {
    const { history, speeches, answer, tools, turn } = this.#state;
    this.#expect(answer === undefined && speeches.length === 0 && tools.length === 0 && turn === undefined, 'nothing is left over');
    const messages = this.#entries.flatMap(({ message }) => message ?? []);
    const users = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
    this.#expect(isDeepStrictEqual(users, this.#said), 'each turn of the user is in one message');
    const stored = messages.toSorted((one, other) => one.seq - other.seq);
    const inHistory = history.flatMap((item) => (item.type === 'message' ? [item.text] : []));
    this.#expect(
      isDeepStrictEqual(stored.map(({ content }) => content).toSorted(), inHistory.toSorted()),
      'the transcript has the messages of the history',
    );
    this.#expect(
      stored.every(({ spokenAt }, index) => index === 0 || stored[index - 1]!.spokenAt.getTime() <= spokenAt.getTime()),
      'times never decrease in the transcript',
    );
    const seqs = this.#entries.flatMap(({ message, toolCall }) => message?.seq ?? toolCall?.seq ?? []);
    this.#expect(new Set(seqs).size === seqs.length, 'each number is used once');
    const turns = this.#entries.flatMap((entry) => entry.turn ?? []);
    const agents = new Set(messages.filter(({ role }) => role === 'agent').map(({ seq }) => seq));
    this.#expect(
      turns.every(({ seq }) => agents.has(seq)),
      'latencies are those of what was heard',
    );
    this.#expect(new Set(turns.map(({ seq }) => seq)).size === turns.length, 'a turn has one row');
  }

  #expect(holds: boolean, what: string): void {
    if (!holds) throw new Error(`seed ${this.#seed}: ${what}, but not after\n${this.#log.slice(-60).join('\n')}`);
  }
}

const textOf = (item: HistoryItem): string => (item.type === 'message' ? item.text : item.type === 'call' ? item.args : item.output);
