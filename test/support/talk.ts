/** Plays a conversation as a table of events, for examples. */
import type { CallMessage } from '../../store/index.ts';
import type { ConversationEvent, Effect } from '../../voice/conversation/events.ts';
import { initialState, type ConversationSettings, type ConversationState } from '../../voice/conversation/state.ts';
import { step } from '../../voice/conversation/step.ts';

const SETTINGS: ConversationSettings = {
  agent: 'desk',
  handoffs: [],
  welcome: 'Hello, this is Harbour Bikes.',
  language: 'en-US',
  interruptions: { enabled: true, minSpeechMs: 500, minWords: 0 },
  turnEndMs: 500,
  silence: undefined,
  stoppedByInterruption: [],
};

/** Makes a conversation whose events come when the test says so; its timers fire in between. */
export function aTalk(change: Partial<ConversationSettings> = {}) {
  let state: ConversationState = initialState({ ...SETTINGS, ...change });
  let now = 0;
  const timers = new Map<string, number>();
  const effects: Effect[] = [];
  const messages: CallMessage[] = [];
  let answer = '';
  /** Number of the last speech. */
  let speech = 0;
  const happens = (event: ConversationEvent): void => {
    const next = step(state, event, now);
    state = next.state;
    for (const effect of next.effects) {
      if (effect.type === 'wait') timers.set(effect.timer, now + effect.ms);
      else if (effect.type === 'stopWaiting') timers.delete(effect.timer);
      else effects.push(effect);
      if (effect.type === 'record') messages.push(...effect.entries.flatMap(({ message }) => message ?? []));
      if (effect.type === 'ask') answer = effect.answer;
      if (effect.type === 'say') ({ speech } = effect);
    }
  };
  const at = (ms: number, ...events: readonly ConversationEvent[]): void => {
    for (;;) {
      const [timer, due] = [...timers].toSorted(([, one], [, other]) => one - other)[0] ?? ['', Infinity];
      if (due > ms) break;
      now = due;
      timers.delete(timer);
      happens({ type: 'waited', timer } as ConversationEvent);
    }
    now = ms;
    events.forEach(happens);
  };
  /** Returns what the conversation has done since the last look, besides what it has stored. */
  const done = (): readonly string[] =>
    effects.splice(0).flatMap((effect) => {
      if (effect.type === 'record') return [];
      if (effect.type === 'ask') {
        const last = effect.history.at(-1);
        return [`ask: ${last?.type === 'message' ? last.text : ''}`];
      }
      return [effect.type === 'say' ? `say: ${effect.text}` : effect.type === 'end' ? `end: ${effect.reason}` : effect.type];
    });
  /** Lets the model answer, and call a tool. */
  const says = (ms: number, text: string, tool?: string): void => {
    const call = { id: tool ?? '', name: tool ?? '', arguments: '{}' };
    const calls: readonly ConversationEvent[] = tool === undefined ? [] : [{ type: 'call', answer, call, complete: true }];
    at(ms, { type: 'words', answer, text }, ...calls, { type: 'answered', answer });
  };
  return {
    at,
    done,
    says,
    /** Returns the last answer that the model was asked for. */
    asked: () => answer,
    /** Reports that so many characters of the last speech were heard. */
    heard: (characters: number) => heard(characters, speech),
    silent: (): ConversationEvent => ({ type: 'silent', speech }),
    /** Returns when each stored message was said. */
    times: () => messages.map(({ spokenAt }) => spokenAt.getTime()),
    /** Returns the messages by their numbers, each with when it was said. */
    transcript: () =>
      messages
        .toSorted((one, other) => one.seq - other.seq)
        .map(({ spokenAt, role, content }) => `${spokenAt.getTime()} ${role}: ${content}`),
    history: () => state.history.map((item) => (item.type === 'message' ? `${item.role}: ${item.text}` : item.type)),
  };
}

export const begun: ConversationEvent = { type: 'begun' };
export const speaks = (since: number): ConversationEvent => ({ type: 'speaks', since });
export const lasts: ConversationEvent = { type: 'lasts' };
export const pauses = (spokenMs: number): ConversationEvent => ({ type: 'pauses', spokenMs });
export const interim = (text: string): ConversationEvent => ({ type: 'interim', text });
export const understood = (text: string): ConversationEvent => ({ type: 'understood', text, more: false });
export const heard = (characters: number, speech = 1): ConversationEvent => ({ type: 'heard', speech, characters });
export const silent: ConversationEvent = { type: 'silent', speech: 1 };
