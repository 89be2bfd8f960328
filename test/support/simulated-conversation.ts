/**
 * Simulates a random conversation in virtual time: a user who speaks whenever it suits, one agent or five that hand over to each other, their models,
 * tools and voices with delays, failures and late events. After each event it is compared with what has to hold (docs/adr/0069).
 */
import { isDeepStrictEqual } from 'node:util';

import type { ConversationEvent, Effect, Failure, TimerName } from '../../voice/conversation/events.ts';
import type { Entry } from '../../voice/conversation/entry.ts';
import { requestHistory } from '../../voice/conversation/requests.ts';
import { MAX_HANDOVERS } from '../../voice/conversation/handover.ts';
import {
  initialState,
  isQuiet,
  isSaid,
  type ConversationSettings,
  type ConversationState,
  type HandOver,
  type Speech,
} from '../../voice/conversation/state.ts';
import { step } from '../../voice/conversation/step.ts';
import { chatMessagesOf } from '../../voice/providers/llm/chat-messages.ts';
import type { HistoryItem } from '../../voice/providers/llm/history.ts';
import type { ModelCall } from '../../calls/model-stream/index.ts';
import type { JsonObject } from '../../platform/json.ts';
import { mulberry } from '../../platform/mulberry.ts';

/** The names say what the tools do. */
const TOOLS = ['look_up', 'book', 'wait_for_keys', 'end_call', 'transfer', 'made_up'] as const;
/** The model isn't asked to go on after these tools. */
const SILENT: ReadonlySet<string> = new Set(['end_call', 'transfer']);
const AGENTS = ['desk', 'billing', 'dentist', 'repairs', 'night'] as const;
const HAND_OVER = 'hand_over_to_';
const WORDS = ['we', 'open', 'at', 'nine', 'and', 'close', 'at', 'six', 'of', 'course', 'I', 'see', 'you', 'tomorrow'];
/** These events end a silence. */
const ACTS: ReadonlySet<string> = new Set(['speaks', 'pauses', 'turn', 'heard', 'silent', 'announced', 'key']);
const REMINDERS = [5_000, 6_000, 9_000].map((afterMs) => ({ afterMs, text: 'Are you there?' }));
const FAILURE: Failure = { part: 'llm', kind: 'unreachable', provider: 'openai' };
const NO_SOUND: Sound = { text: '', complete: true, cancelled: false, played: 0 };
const APOLOGY = 'I am sorry.';
const CHARACTERS_PER_MS = 0.015;

interface Due {
  readonly at: number;
  readonly order: number;
  readonly happens: () => void;
}

interface ChatMessage {
  readonly role: string;
  readonly content?: string;
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly tool_call_id?: string;
}

/** Sound of one speech. */
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
  readonly #log: unknown[] = [];
  readonly #entries: Entry[] = [];
  /** Words of the user that count, in order. */
  readonly #said: string[] = [];
  readonly #called = new Map<string, number>();
  readonly #timers = new Map<TimerName, object>();
  /** Words that count because the agent was silent. */
  readonly #counting = new Set<string>();
  /** Time at which anybody last did anything. */
  #activeAt = 0;
  /** Words that speech to text has given. */
  readonly #understood = new Set<string>();
  /** Last sound of the user. */
  #talk: { readonly since: number; readonly spokenMs: number; readonly speaking: boolean; readonly words: boolean } | undefined;
  readonly #late = new Set<string>();
  /** Number of sounds whose words are to come. */
  #recognized = 0;
  /** True if the user's open turn began over the agent. */
  #beganOver = false;
  #paused = false;
  #state: ConversationState;
  #order = 0;
  #now = 0;
  /** The last request of each agent. */
  readonly #askedOf = new Map<string, readonly HistoryItem[]>();
  /** Settings of all agents that take part. */
  readonly #agents: readonly ConversationSettings[];
  /** Names of the agents that were asked for each answer, and that made each call. */
  readonly #agentOf = new Map<string, string>();
  /** The call that hands over, while the other agent isn't ready. */
  #handing: string | undefined;
  #handovers = 0;

  /** True if the user has said something since the last hand-over. */
  #spokeSince = true;
  #asking: string | undefined;
  #calls = 0;
  /** Number of answers that called tools since the user's last words. */
  #steps = 0;
  /** Last words of the last request. */
  #open = '';
  /** True if the last request was taken back. */
  #askedAgain = false;
  /** True for a model that hardly ever stops calling tools. */
  readonly #eager: boolean;
  #over = false;
  #closes = false;
  /** True once text to speech has failed. */
  #mute = false;
  #goodbyeAt = Infinity;

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = mulberry(seed);
    this.#eager = this.#chance(0.05);
    const names = this.#chance(0.6) ? AGENTS : AGENTS.slice(0, 1);
    const length = { minSpeechMs: this.#one([50, 500, 1_500]), minWords: this.#one([0, 0, 2]) };
    this.#agents = names.map((agent) => ({
      agent,
      handoffs: names.filter((name) => name !== agent).map((name) => `${HAND_OVER}${name}`),
      welcome: this.#chance(0.7) ? 'Hello, this is the desk.' : undefined,
      language: 'en-US',
      // A sound that goes on while another agent takes over is as long as it is for both.
      interruptions: { enabled: this.#chance(0.8), ...length },
      turnEndMs: this.#one([0, 500, 3_000]),
      silence: this.#chance(0.3) ? { endAfterMs: 10_000, reminders: REMINDERS.slice(0, this.#one([0, 1, 3])) } : undefined,
      stoppedByInterruption: ['wait_for_keys'],
    }));
    this.#state = initialState(this.#agents[0]!);
  }

  /** @throws Error that names the seed, the broken rule, and what happened until then */
  run(): void {
    if (this.#chance(0.1)) {
      this.#happens({ type: 'screening' });
      this.#later(this.#ms(5_000), () => this.#happens({ type: 'screened' }));
    }
    this.#later(this.#ms(500), () => this.#happens({ type: 'begun' }));
    const spoken = this.#chance(0.7);
    for (let turn = this.#count(6), at = 0; turn > 0; turn -= 1) {
      at += this.#ms(6_000);
      // Who speaks may press keys as well.
      if (spoken && !this.#chance(0.1)) at += this.#sound(at, turn);
      else this.#later(at, () => this.#write(`words ${turn}.`));
    }
    const end = this.#ms(60_000) + 5_000;
    if (this.#chance(0.2)) this.#later(this.#ms(20_000), () => this.#close());
    if (this.#chance(0.05)) this.#later(this.#ms(20_000), () => this.#happens({ type: 'key' }));
    if (this.#chance(0.03)) this.#later(this.#ms(20_000), () => this.#lose(this.#one(['deaf', 'mute'])));
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

  /** Returns a random delay, which is often zero: at the same moment as something else. */
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

  /**
   * Makes a sound from `at` on: words, a sign that somebody listens, or noise. Speech to text revises, is late, or knows nothing.
   * @returns how long it takes, in milliseconds
   */
  #sound(at: number, turn: number): number {
    const ms = 50 + this.#ms(2_500);
    const word = `word${turn}`;
    const text = this.#one([`${word} and more`, `${word} please`, word, 'uh-huh', '']);
    this.#later(at, () => {
      const since = this.#now;
      const late = this.#ms(50);
      this.#later(late, () => {
        if (this.#state.closed) return;
        this.#talk = { since, spokenMs: 0, speaking: true, words: false };
        this.#happens({ type: 'speaks', since });
        const { minSpeechMs } = this.#state.settings.interruptions;
        if (ms >= minSpeechMs) this.#later(Math.max(0, minSpeechMs - late), () => this.#happens({ type: 'lasts' }));
      });
      const words = text.split(' ');
      for (let count = this.#count(3); count > 0; count -= 1)
        this.#later(this.#ms(ms) + 51, () => this.#hears({ type: 'interim', text: words.slice(0, count).join(' ') }));
      // The words sometimes come before the silence is long enough for a pause.
      const fast = this.#chance(0.15);
      if (fast) this.#later(ms + 50, () => this.#hears({ type: 'understood', text, more: this.#recognized > 0 }));
      this.#later(ms + 51, () => {
        if (this.#talk !== undefined) this.#talk = { ...this.#talk, speaking: false, spokenMs: ms };
        this.#happens({ type: 'pauses', spokenMs: ms });
        if (this.#chance(0.5)) this.#later(this.#ms(400), () => this.#happens({ type: 'turnEnds', afterMs: this.#ms(3_000) }));
        if (fast) this.#hears({ type: 'understood', text: '', more: this.#recognized > 0 });
        else if (this.#chance(0.9)) {
          this.#recognized += 1;
          // The words come far too late once in a while, when they were taken as they were known.
          const tooLate = this.#chance(0.05);
          if (tooLate) this.#late.add(word);
          this.#later(this.#ms(tooLate ? 9_000 : 1_000), () => {
            this.#recognized -= 1;
            this.#hears({ type: 'understood', text, more: this.#recognized > 0 });
          });
        }
      });
    });
    // The next sound may come before the words of this one.
    return ms + 110;
  }

  #hears(event: Extract<ConversationEvent, { readonly type: 'interim' | 'understood' }>): void {
    const { hearing, begun, closed, speeches } = this.#state;
    for (const word of event.text.split(' ')) {
      if (!word.startsWith('word')) continue;
      this.#understood.add(word);
      if (event.type === 'understood' && !hearing.over && speeches.length === 0 && begun && !closed) this.#counting.add(word);
    }
    if (event.text !== '' && this.#talk !== undefined) this.#talk = { ...this.#talk, words: true };
    this.#happens(event);
  }

  #write(text: string): void {
    const { begun, closed } = this.#state;
    if (begun && !closed) this.#said.push(text);
    this.#happens({ type: 'turn', text });
  }

  #close(): void {
    this.#over = true;
    if (this.#closes) return;
    this.#closes = true;
    // Their last words may still come.
    const late = this.#chance(0.3) ? this.#ms(3_000) : 0;
    if (late === 0) return this.#happens({ type: 'closed' });
    this.#happens({ type: 'closing' });
    return this.#later(late, () => this.#happens({ type: 'closed' }));
  }

  #happens(event: ConversationEvent): void {
    this.#log.push([this.#now, event]);
    const before = this.#state;
    this.#beganOver = before.hearing.place !== undefined && before.hearing.over;
    const { state, effects } = step(before, event, this.#now);
    this.#state = state;
    const isLate = 'speech' in event && !before.speeches.some(({ number }) => number === event.speech);
    if (ACTS.has(event.type) && !isLate) this.#activeAt = this.#now;
    if (event.type === 'silent') this.#expectHeard(event.speech, effects);
    if (event.type === 'ran' && before.caller !== state.caller && state.unseen > 0)
      this.#expect(state.ending || state.goodbye.said, 'results are asked about as soon as all of an answer are there');
    // The call may close in the middle of anything.
    if (this.#chance(0.002)) this.#later(this.#ms(100), () => this.#close());
    for (const effect of effects) {
      this.#log.push(effect);
      this.#carryOut(effect);
    }
    if (effects.some(({ type }) => type === 'run')) this.#steps += 1;
    if (before.answer?.early === true) this.#expectEarly(before.answer.id, effects);
    this.#expect(state.next >= before.next, 'numbers go up');
    this.#expect(
      state.speeches.every(({ number }, index, all) => index === 0 || all[index - 1]!.number < number),
      'speeches are in order',
    );
    this.#expect(!state.closing || state.speeches.every(({ interrupted }) => interrupted), 'all falls silent at the end');
    this.#expect(!state.ending || !state.hearing.paused, 'nothing is paused where nothing is answered');
    const isOpen = ({ number, complete, interrupted }: Speech): boolean => !complete && !interrupted && number !== state.answer?.speech;
    this.#expect(!state.speeches.some(isOpen), 'a speech without an end is that of the answer');
    this.#expectAsked();
  }

  #carryOut(effect: Effect): void {
    switch (effect.type) {
      case 'ask':
        return this.#ask(effect);
      case 'cancelAnswer':
        this.#expect(this.#asking === effect.answer, 'only the answer that is given is cancelled');
        this.#asking = undefined;
        this.#askedAgain = true;
        return undefined;
      case 'say': {
        this.#expect(!this.#state.closing, 'nothing is said after the end');
        this.#expect(!this.#state.screening, 'nothing is said to a machine');
        const sound = this.#sounds.get(effect.speech) ?? { ...NO_SOUND, complete: false };
        this.#expect(!sound.complete && !sound.cancelled, 'nothing is said after the end of a speech');
        sound.text += effect.text;
        this.#sounds.set(effect.speech, sound);
        this.#expectSpeaker(effect.speech);
        return this.#play();
      }
      case 'sayNoMore':
        this.#sounds.get(effect.speech)!.complete = true;
        return this.#play();
      case 'cancelSpeech': {
        const sound = this.#sounds.get(effect.speech)!;
        const { closing, settings } = this.#state;
        this.#expect(closing || (settings.interruptions && sound.text !== APOLOGY), 'only what may be interrupted is');
        sound.cancelled = true;
        this.#cancelled.add(String(effect.speech));
        return this.#later(this.#ms(this.#chance(0.3) ? 2_000 : 80), () => {
          this.#report(effect.speech, sound.played);
          this.#silent(effect.speech);
        });
      }
      case 'pausePlayout':
        this.#expectPause();
        this.#paused = true;
        return undefined;
      case 'resumePlayout':
        this.#expect(this.#paused, 'only what was paused goes on');
        this.#paused = false;
        return this.#play();
      case 'wait': {
        const timer = {};
        this.#timers.set(effect.timer, timer);
        return this.#later(effect.ms, () => {
          if (this.#timers.get(effect.timer) !== timer) return;
          this.#timers.delete(effect.timer);
          this.#happens({ type: 'waited', timer: effect.timer });
        });
      }
      case 'stopWaiting':
        this.#timers.delete(effect.timer);
        return undefined;
      case 'run':
        return this.#run(effect);
      case 'takeOver':
        return this.#takenOver();
      case 'stopTool':
        return this.#later(this.#ms(5), () => this.#ran(effect.callId, 'wait_for_keys', '{"error":"no keys"}'));
      case 'record':
        this.#entries.push(...effect.entries);
        if (effect.entries.some(({ message }) => message?.role === 'user')) {
          this.#steps = 0;
          this.#spokeSince = true;
        }
        return undefined;
      case 'end':
        this.#over = true;
        this.#expectSilence(effect.reason);
        this.#expectGoodbye(effect.reason);
        return effect.failed === undefined
          ? this.#later(this.#ms(20_000), () => this.#close())
          : this.#later(this.#ms(100), () => {
              this.#happens({ type: 'farewell', apology: !this.#mute && this.#chance(0.8) ? APOLOGY : undefined });
              this.#later(this.#ms(5_000), () => this.#close());
            });
    }
  }

  #ask({ answer, history, mayCall }: Extract<Effect, { readonly type: 'ask' }>): void {
    this.#expect(this.#asking === undefined, 'one answer at a time');
    this.#expect(!this.#over, 'nothing is asked after the end');
    this.#expect(this.#handing === undefined, 'nobody is asked while another agent is about to take over');
    const early = history.at(-1)?.id === 'open';
    this.#expect(mayCall === (early || this.#steps < 8), 'tools may be called eight times in a row');
    this.#expectRequest(history);
    this.#asking = answer;
    this.#askedAgain = false;
    const { agent, handoffs } = this.#state.settings;
    this.#askedOf.set(agent, history);
    this.#agentOf.set(answer, agent);
    const [open] = history.slice(-1);
    this.#open = open?.type === 'message' ? open.text : '';
    const ends = (event: ConversationEvent): void => {
      if (this.#asking === answer) this.#asking = undefined;
      this.#happens(event);
    };
    let at = this.#ms(1_500);
    const then = (happens: () => void): void => {
      at += this.#ms(150);
      // An answer that was cancelled may still come, once in a while.
      const late = this.#chance(0.3);
      this.#later(at, () => {
        if (late || this.#asking === answer) happens();
      });
    };
    for (let count = this.#chance(0.25) ? 0 : this.#count(12); count > 0; count -= 1)
      then(() => this.#happens({ type: 'words', answer, text: this.#chance(0.1) ? ' ' : ` ${this.#one(WORDS)}` }));
    const fails = this.#chance(0.03);
    if (this.#chance(0.05)) then(() => this.#happens({ type: 'extra', answer, extra: { google: 1 } }));
    if (mayCall && this.#chance(this.#eager ? 0.98 : 0.4)) {
      for (let count = this.#eager ? 1 : this.#count(3); count > 0; count -= 1) {
        const name = this.#eager ? 'look_up' : this.#one(this.#chance(0.6) && handoffs.length > 0 ? handoffs : TOOLS);
        const call: ModelCall = { id: `call-${(this.#calls += 1)}`, name, arguments: '{}' };
        this.#agentOf.set(call.id, agent);
        then(() => this.#happens({ type: 'call', answer, call, complete: !this.#chance(0.05) }));
      }
    }
    then(() => ends(fails ? { type: 'failed', answer, failure: FAILURE } : { type: 'answered', answer }));
  }

  /** Another agent has taken over. */
  #takenOver(): void {
    this.#handovers += 1;
    this.#expect(this.#handovers <= MAX_HANDOVERS, 'a call is handed over so often and no more');
    this.#expect(this.#spokeSince, 'the user says something between two hand-overs');
    this.#spokeSince = false;
    this.#steps = 0;
    const { unanswered, waiting, goodbye, answer, ending } = this.#state;
    this.#expect(unanswered || waiting.length > 0 || goodbye.said || answer !== undefined || ending, 'the new agent answers');
  }

  /** Prepares another agent, which may be refused, and may take its time. */
  #handOver({ id, name }: ModelCall): void {
    this.#handing = id;
    const settings = this.#agents.find(({ agent }) => name === `${HAND_OVER}${agent}`)!;
    this.#later(this.#ms(3_000), () => {
      this.#handing = undefined;
      if (this.#chance(0.2)) return this.#ran(id, name, '{"error":"it is closed"}');
      const handover = {
        id,
        settings,
        say: this.#chance(0.5) ? 'One moment, please.' : '',
        note: `You are ${settings.agent} now.`,
        context: this.#one(['All', 'Summary', 'None'] as const),
        ...(this.#chance(0.5) && { summary: 'It was about the weather.' }),
      };
      return this.#ran(id, name, `{"handed_over_to":"${settings.agent}"}`, handover);
    });
  }

  #run({ call: { id, name, ...call }, complete, refused }: Extract<Effect, { readonly type: 'run' }>): void {
    this.#expect(this.#agentOf.get(id) === this.#state.settings.agent, 'tools are run for the agent that talks');
    this.#expect(!this.#called.has(id), 'a call runs once');
    this.#called.set(id, 0);
    const { agent } = this.#state.settings;
    if (name.startsWith(HAND_OVER)) {
      const isUnderWay = this.#handing !== undefined;
      this.#expect(
        !complete || refused !== undefined || (!isUnderWay && this.#spokeSince),
        'one hand-over at a time, after words of the user',
      );
      if (complete && refused === undefined) return this.#handOver({ id, name, ...call });
      return this.#later(0, () => this.#ran(id, name, '{"error":"refused"}'));
    }
    const ms = this.#ms(this.#eager ? 500 : 8_000);
    if (this.#chance(0.4)) this.#later(0, () => this.#happens({ type: 'announced', text: 'One moment. ', answers: false, agent }));
    if (this.#chance(0.3))
      this.#later(this.#ms(ms), () => this.#happens({ type: 'announced', text: 'Still at it.', answers: false, agent }));
    if (this.#chance(0.2)) this.#later(this.#ms(ms), () => this.#happens({ type: 'found', sources: [], agent }));
    if (name === 'wait_for_keys' && this.#chance(0.5)) return this.#later(30_000, () => this.#ran(id, name, '{"digits":""}'));
    this.#later(ms, () => {
      // A tool that was stopped may not have noticed.
      if (this.#called.get(id) !== 0 && this.#chance(0.8)) return;
      if (this.#chance(0.3)) this.#happens({ type: 'announced', text: 'Done.', answers: true, agent });
      if (name === 'end_call') this.#sayGoodbye(agent);
      this.#ran(id, name, SILENT.has(name) ? undefined : '{"ok":true}');
    });
  }

  #sayGoodbye(agent: string): void {
    const { goodbye, ending, settings } = this.#state;
    if (!goodbye.said && !ending && agent === settings.agent) this.#goodbyeAt = this.#now;
    this.#happens({ type: 'ending', agent });
  }

  #ran(callId: string, name: string, output: string | undefined, handover?: HandOver): void {
    this.#called.set(callId, (this.#called.get(callId) ?? 0) + 1);
    const record = { name, arguments: {}, result: output ?? 'null', failed: false, beganAt: new Date(this.#now), durationMs: 1 };
    this.#happens({ type: 'ran', callId, output, record, ...(handover !== undefined && { handover }) });
  }

  /** Plays speeches one after the other. */
  #play(): void {
    const [number, sound] = [...this.#sounds].toSorted(([one], [other]) => one - other)[0] ?? [];
    if (number === undefined || sound === undefined || sound.cancelled || this.#paused) return;
    // The first word takes a while.
    if (sound.played === 0 && this.#chance(0.2)) this.#report(number, 0);
    const piece = Math.min(sound.text.length - sound.played, 1 + this.#count(20));
    this.#later(piece / CHARACTERS_PER_MS, () => {
      if (sound.cancelled || this.#sounds.get(number) !== sound || piece === 0 || this.#paused) return;
      // Two timers for the same sound play it once.
      const played = Math.min(sound.text.length, sound.played + piece);
      sound.played = played;
      this.#report(number, played);
      this.#play();
    });
    if (piece > 0 || !sound.complete) return;
    // A user who cuts in now cuts nothing off.
    this.#later(this.#ms(200), () => !sound.cancelled && !this.#paused && this.#sounds.get(number) === sound && this.#silent(number));
  }

  #silent(number: number): void {
    this.#happens({ type: 'silent', speech: number });
    this.#sounds.delete(number);
    if (this.#chance(0.02)) this.#later(this.#ms(100), () => this.#happens({ type: 'silent', speech: number }));
    this.#play();
  }

  #report(speech: number, characters: number): void {
    this.#happens({ type: 'heard', speech, characters });
  }

  /** Makes a provider of speech work no more. */
  #lose(type: 'deaf' | 'mute'): void {
    this.#mute ||= type === 'mute';
    this.#happens({ type, failure: { ...FAILURE, part: type === 'deaf' ? 'stt' : 'tts' } });
  }

  // -- what has to hold

  /** The agent hangs up when it has been heard, and nobody says anything. */
  #expectGoodbye(reason: string): void {
    if (reason !== 'agent_ended_call') return;
    const { goodbye, hearing, waiting } = this.#state;
    const late = this.#now - this.#goodbyeAt >= 20_000;
    this.#expect(late || isSaid(this.#state), 'a goodbye is heard to its end');
    this.#expect(
      late || goodbye.calledOff || (hearing.place === undefined && waiting.length === 0),
      'nobody is cut off by a first goodbye',
    );
  }

  #expectRequest(history: readonly HistoryItem[]): void {
    const early = history.at(-1)?.id === 'open';
    this.#expect(early || isDeepStrictEqual(history, requestHistory({ ...this.#state, unseen: 0 })), 'a request is the history');
    const { agent } = this.#state.settings;
    const askedBefore = this.#askedOf.get(agent) ?? [];
    const last = history.at(-1);
    this.#expect(last?.type !== 'message' || last.role === 'user', 'the last message of a request is not the agent’s');
    const asked = new Set(askedBefore.map(({ id }) => id));
    const isNew = (item: HistoryItem): boolean =>
      item.type === 'message' && item.role === 'user' && item.isNote !== true && (item.id === 'open' || !asked.has(item.id));
    this.#expect(!history.some(isNew) || last?.id !== 'note', 'the user’s own words are what is answered');
    const takesOver = (item: HistoryItem): boolean => item.type === 'message' && item.handover?.to === agent && !asked.has(item.id);
    const hasCome = (item: HistoryItem): boolean => item.type === 'result' && item.isPending !== true && !asked.has(item.id);
    this.#expect(
      this.#askedAgain || history.some((item) => isNew(item) || hasCome(item) || takesOver(item)),
      'a request has words of the user, or a result, that are new',
    );
    this.#expect(
      history.every((item) => item.type === 'message' || this.#agentOf.get(item.callId) === agent),
      'an agent sees no tools of another',
    );
    const calls = history.flatMap((item) => (item.type === 'call' ? [item.callId] : []));
    const results = history.flatMap((item) => (item.type === 'result' ? [item.callId] : []));
    this.#expect(isDeepStrictEqual(calls, results), 'each call has one result, in the order of the calls');
    const isMarked = (item: HistoryItem): boolean => item.type !== 'result' || (item.isPending === true) === item.id.endsWith('/running');
    this.#expect(history.every(isMarked), 'a result that is still to come says so');
    this.#expectMessages(chatMessagesOf({ instructions: '', history }) as readonly (JsonObject & ChatMessage)[]);
    const known = new Set(history.map(({ id }) => id));
    const lasting = askedBefore.filter(({ id }) => isKept(id) && known.has(id));
    const lost = askedBefore.filter(({ id }) => isKept(id) && !known.has(id));
    this.#expect(
      lost.every((item) => item.type === 'message' || (item.type === 'call' && SILENT.has(item.name))),
      'only words that nobody heard leave the history, and calls without a result',
    );
    const order = history.map(({ id }) => id);
    this.#expect(
      lasting.every(({ id }, index) => index === 0 || order.indexOf(lasting[index - 1]!.id) < order.indexOf(id)),
      'a request keeps the order of the one before',
    );
    const others = history.slice(0, order.indexOf(lasting.at(-1)?.id ?? '') + 1).filter(({ id }) => !asked.has(id));
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

  /** Expects no messages that OpenAI and Mistral refuse. */
  #expectMessages(messages: readonly ChatMessage[]): void {
    this.#expect(messages.at(-1)?.role !== 'assistant', 'the last message is the user’s, or a result');
    for (const [index, { role, content = '', tool_calls: calls = [] }] of messages.entries()) {
      this.#expect(content !== '' || calls.length > 0, 'no message is empty');
      const results = messages.slice(index + 1, index + 1 + calls.length).map((each) => each.tool_call_id);
      this.#expect(
        role === 'tool' ||
          isDeepStrictEqual(
            results,
            calls.map(({ id }) => id),
          ),
        'the results of calls follow them',
      );
      this.#expect(messages[index + 1 + calls.length]?.role !== 'tool' || role === 'tool', 'results follow their calls');
    }
  }

  /** Expects a speech of a model to be that of the agent that was asked. */
  #expectSpeaker(number: number): void {
    const { speeches, answer } = this.#state;
    const speech = speeches.find((each) => each.number === number);
    if (answer?.speech !== number || speech === undefined) return;
    this.#expect(speech.agent === this.#agentOf.get(answer.id), 'a speech is that of the agent whose model has written it');
  }

  /** Expects a message to say what was heard. */
  #expectHeard(speech: number, effects: readonly Effect[]): void {
    const { text, played, cancelled, complete } = this.#sounds.get(speech) ?? NO_SOUND;
    const said = effects.flatMap((effect) =>
      effect.type === 'record' ? effect.entries.flatMap(({ message }) => (message?.role === 'agent' ? [message] : [])) : [],
    );
    const heard = text.slice(0, played).trim();
    this.#expect(
      heard === ''
        ? said.length === 0
        : said.length === 1 && said[0]!.content === heard && said[0]!.interrupted === (cancelled && !(complete && played === text.length)),
      'a message is what was heard, and says whether it was interrupted',
    );
  }

  /** Expects an owed answer to be asked for as soon as nothing is in the way. */
  #expectAsked(): void {
    const { begun, screening, ending, goodbye, unanswered, unseen, waiting, speeches, tools, hearing, handover } = this.#state;
    // Whoever speaks gets one answer, to all that they say.
    if (!begun || screening || ending || goodbye.said || hearing.heeded || handover.callId !== undefined) return;
    const falls = speeches.some(({ interrupted }) => interrupted) || tools.some(({ stopping }) => stopping);
    this.#expect(!unanswered || falls, 'the user’s words are asked about at once');
    // Nor is anything heard while they speak without a word that is known.
    const isOwed = !hearing.paused && (unseen > 0 || waiting.length > 0);
    this.#expect(!isQuiet(this.#state) || !isOwed, 'nothing is owed where nothing is under way');
  }

  /** Expects nothing to be owed when nothing happens any more. */
  #expectSettled(): void {
    const { hearing } = this.#state;
    this.#expect(isQuiet(this.#state), 'nothing is under way when nothing happens any more');
    this.#expect(!this.#paused && hearing.place === undefined, 'nothing is paused, and no turn is open');
    this.#expect(this.#timers.size === 0, 'no timer waits');
  }

  #expectClosed(): void {
    const { history, speeches, answer, tools, turn } = this.#state;
    this.#expect(answer === undefined && speeches.length === 0 && tools.length === 0 && turn === undefined, 'nothing is left over');
    const messages = this.#entries.flatMap(({ message }) => message ?? []);
    const users = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
    this.#expect(
      this.#said.every((text) => users.filter((user) => user === text).length === 1),
      'each turn that the user has written is in one message',
    );
    const times = (word: string): number =>
      users
        .join(' ')
        .split(' ')
        .filter((each) => each === word).length;
    for (const word of this.#understood) this.#expect(times(word) <= (this.#late.has(word) ? 2 : 1), 'each word is in one message');
    for (const word of this.#counting) this.#expect(times(word) >= 1, 'words are heard that are said while the agent is silent');
    const stored = messages.toSorted((one, other) => one.seq - other.seq);
    const inHistory = history.flatMap((item) => (item.type === 'message' && item.isNote !== true ? [item.text] : []));
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
    this.#expect(this.#entries.filter(({ toolCall }) => toolCall !== undefined).length === this.#called.size, 'each call has one result');
    this.#expect(
      messages.every(({ role, agent }) => (role === 'agent') === (typeof agent === 'string')),
      'the words of agents are those of an agent',
    );
    this.#expect(
      this.#entries.filter(({ takeover }) => takeover !== undefined).length === this.#handovers,
      'each hand-over is written down',
    );
    const turns = this.#entries.flatMap((entry) => entry.turn ?? []);
    this.#expect(
      turns.every(({ seq, agent }) => messages.find((message) => message.seq === seq)?.agent === agent),
      'a turn is that of the agent who answered',
    );
    const agents = new Set(messages.filter(({ role }) => role === 'agent').map(({ seq }) => seq));
    this.#expect(
      turns.every(({ seq }) => agents.has(seq)),
      'latencies are those of what was heard',
    );
    this.#expect(new Set(turns.map(({ seq }) => seq)).size === turns.length, 'a turn has one row');
  }

  /** Expects an early answer to be that of the words it was asked about. */
  #expectEarly(id: string, effects: readonly Effect[]): void {
    const said = effects.flatMap((effect) => (effect.type === 'record' ? effect.entries.flatMap(({ message }) => message ?? []) : []));
    const user = said.find(({ role }) => role === 'user');
    const { answer } = this.#state;
    const isGiven = (answer?.id === id && !answer.early) || effects.some(({ type }) => type === 'say' || type === 'run');
    this.#expect(user === undefined || !isGiven || user.content === this.#open, `${id} answers what was said`);
  }

  #expectSilence(reason: string): void {
    const { endAfterMs, reminders } = this.#state.settings.silence ?? { endAfterMs: 0, reminders: [] };
    const ms = endAfterMs - (reminders.at(-1)?.afterMs ?? 0);
    this.#expect(reason !== 'inactivity_timeout' || this.#now - this.#activeAt + 1 >= ms, 'only silence ends a call for silence');
  }

  /** Expects noise to pause nothing: only sound that is long enough does, or words. */
  #expectPause(): void {
    const { interruptions } = this.#state.settings;
    const { since = 0, spokenMs = 0, speaking = false } = this.#talk ?? {};
    const ms = speaking ? this.#now - since : spokenMs;
    const { words } = this.#talk ?? {};
    const isLong = ms + 32 >= interruptions.minSpeechMs;
    const counted = this.#state.hearing.heeded || (words === true && (!this.#beganOver || this.#sounds.size === 0));
    this.#expect(!this.#paused && interruptions.enabled && (isLong || counted), 'only a long sound pauses');
  }

  #expect(holds: boolean, what: string): void {
    if (!holds)
      throw new Error(
        `seed ${this.#seed}: ${what}, but not after\n${this.#log
          .slice(-60)
          .map((each) => JSON.stringify(each))
          .join('\n')}`,
      );
  }
}

/** Tells whether an item stays: some stand for something in one request only. */
const isKept = (id: string): boolean => id !== 'note' && id !== 'open' && !id.endsWith('/running');

const textOf = (item: HistoryItem): string => (item.type === 'message' ? item.text : item.type === 'call' ? item.args : item.output);
