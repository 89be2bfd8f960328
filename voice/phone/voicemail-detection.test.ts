import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  initial,
  step,
  type CalleeCategory,
  type DetectionEffect,
  type DetectionEvent,
  type DetectionState,
} from './voicemail-detection.ts';

const ANSWERED_AT = 1_000_000;

/** Sound of the callee, in milliseconds after the answer. */
interface Heard {
  readonly at: number;
  readonly event: DetectionEvent;
}

const said = (from: number, until: number): readonly Heard[] => [
  { at: from + 100, event: { type: 'speaks', since: ANSWERED_AT + from } },
  { at: until + 250, event: { type: 'pauses', spokenMs: until - from } },
];

const words = (at: number, text: string, more = false): Heard => ({ at, event: { type: 'understood', text, more } });

interface Model {
  readonly afterMs: number;
  /** Classifies words; undefined where it can't tell. */
  readonly category: (text: string) => CalleeCategory | undefined;
}

/** Runs the timer and the model that the effects ask for, in virtual time. */
class Simulation {
  readonly decided: { readonly at: number; readonly category: CalleeCategory; readonly delayMs: number }[] = [];
  readonly asked: string[] = [];
  readonly #model: Model;
  #state: DetectionState;
  #timer: number | undefined;
  #answer: { readonly at: number; readonly text: string } | undefined;

  constructor(timeoutMs: number, model: Model) {
    this.#model = model;
    this.#state = initial({ timeoutMs });
  }

  /** Runs until a time. @param untilMs milliseconds after the answer */
  run(heard: readonly Heard[], untilMs = 200_000): this {
    for (const { at, event } of heard) {
      this.#advance(ANSWERED_AT + at);
      this.#step(event, ANSWERED_AT + at);
    }
    this.#advance(ANSWERED_AT + untilMs);
    return this;
  }

  get timerIsArmed(): boolean {
    return this.#timer !== undefined;
  }

  #advance(until: number): void {
    for (;;) {
      const [timer = Infinity, answer = Infinity] = [this.#timer, this.#answer?.at];
      const next = Math.min(timer, answer);
      if (next > until || next === Infinity) return;
      if (answer <= timer) {
        const { text } = this.#answer!;
        this.#answer = undefined;
        this.#step({ type: 'classified', text, category: this.#model.category(text) }, answer);
      } else {
        this.#step({ type: 'waited' }, timer);
      }
    }
  }

  #step(event: DetectionEvent, at: number): void {
    if (event.type === 'waited') this.#timer = undefined;
    const { state, effects } = step(this.#state, event, at);
    if (this.#state.over) expect(effects).toEqual([]);
    this.#state = state;
    for (const effect of effects) this.#happens(effect, at);
  }

  #happens(effect: DetectionEffect, at: number): void {
    switch (effect.type) {
      case 'wait':
        expect(effect.ms).toBeGreaterThan(0);
        // The timer isn't armed anew for the same time.
        expect(at + effect.ms).not.toBe(this.#timer);
        this.#timer = at + effect.ms;
        return;
      case 'stopWaiting':
        expect(this.#timer).toBeDefined();
        this.#timer = undefined;
        return;
      case 'classify':
        this.asked.push(effect.text);
        this.#answer = { at: at + this.#model.afterMs, text: effect.text };
        return;
      case 'decided':
        this.decided.push({ at: at - ANSWERED_AT, category: effect.category, delayMs: effect.delayMs });
    }
  }
}

const answered: Heard = { at: 0, event: { type: 'answered' } };
const tells = (category: CalleeCategory | undefined, afterMs = 300): Model => ({ afterMs, category: () => category });

interface Case {
  readonly heard: readonly Heard[];
  readonly model?: Model;
  readonly timeoutMs?: number;
  readonly at: number;
  readonly category: CalleeCategory;
  readonly asked?: readonly string[];
}

const cases: Readonly<Record<string, Case>> = {
  'who says nothing is a person': { heard: [], at: 2_500, category: 'human' },
  'who says hello is a person, and no model is asked': {
    heard: [...said(800, 1_400), words(1_700, 'Hello?')],
    at: 1_900,
    category: 'human',
  },
  'who says hello twice is a person': {
    heard: [...said(200, 600), ...said(950, 1_500)],
    at: 2_000,
    category: 'human',
  },
  'a pause that is known late counts from its beginning': {
    heard: [said(0, 1_000)[0]!, { at: 2_100, event: { type: 'pauses', spokenMs: 1_000 } }],
    at: 2_100,
    category: 'human',
  },
  'a recording is decided in the silence after it': {
    heard: [...said(0, 4_000), words(4_400, 'Leave a message.')],
    model: tells('voicemail'),
    at: 5_500,
    category: 'voicemail',
    asked: ['Leave a message.'],
  },
  'a recording that goes on is asked about again, with all its words': {
    heard: [...said(0, 3_000), words(3_300, 'The person you called'), ...said(3_800, 6_000), words(6_400, 'has no mailbox.')],
    model: tells('unavailable'),
    at: 7_500,
    category: 'unavailable',
    asked: ['The person you called', 'The person you called has no mailbox.'],
  },
  'words while it speaks are asked about in its pause': {
    heard: [
      said(0, 9_000)[0]!,
      words(5_000, 'For sales,', true),
      words(8_000, 'press one.'),
      { at: 9_250, event: { type: 'pauses', spokenMs: 9_000 } },
    ],
    model: tells('menu'),
    at: 10_500,
    category: 'menu',
    asked: ['For sales, press one.'],
  },
  'further words while it speaks are asked about in its next pause': {
    heard: [
      ...said(0, 3_000),
      words(3_300, 'Welcome.'),
      { at: 3_900, event: { type: 'speaks', since: ANSWERED_AT + 3_800 } },
      words(5_000, 'For sales,', true),
      words(6_000, 'press one.'),
      { at: 8_250, event: { type: 'pauses', spokenMs: 4_200 } },
    ],
    model: tells('menu'),
    at: 9_500,
    category: 'menu',
    asked: ['Welcome.', 'Welcome. For sales, press one.'],
  },
  'words during a short greeting make it no longer': {
    heard: [said(2_000, 3_000)[0]!, words(2_500, 'Hello', true), said(2_000, 3_000)[1]!],
    at: 3_500,
    category: 'human',
  },
  'an answer about other words does not count': {
    heard: [...said(0, 150_000).slice(0, 1), { at: 1_000, event: { type: 'classified', text: 'Never asked.', category: 'voicemail' } }],
    at: 90_000,
    category: 'unknown',
  },
  'a person may say more': {
    heard: [...said(0, 3_200), words(3_600, 'Harbour Bikes, this is Lisa, how can I help?')],
    model: tells('human'),
    at: 4_700,
    category: 'human',
  },
  'what the model cannot tell gets more time': {
    heard: [...said(0, 3_200), words(3_600, 'Thank you for calling.')],
    model: tells(undefined),
    at: 6_200,
    category: 'unknown',
  },
  'a late model is waited for': {
    heard: [...said(0, 3_200), words(3_600, 'Leave a message.')],
    model: tells('voicemail', 4_000),
    at: 7_600,
    category: 'voicemail',
  },
  'words that never come are not waited for': { heard: said(0, 3_200), at: 8_200, category: 'unknown', asked: [] },
  'words that are still to come are waited for': {
    heard: [...said(0, 3_200), words(3_600, 'Leave a', true), words(5_600, 'message.')],
    model: tells('voicemail'),
    at: 5_900,
    category: 'voicemail',
    asked: ['Leave a', 'Leave a message.'],
  },
  'words without sound are no silence': {
    heard: [words(2_400, 'Hello?')],
    at: 2_900,
    category: 'human',
  },
  'who speaks on and on is decided by the timeout': {
    heard: said(0, 150_000),
    at: 90_000,
    category: 'unknown',
  },
  'the timeout decides by what was classified until then': {
    heard: [...said(0, 4_000), words(4_400, 'Leave a message.'), ...said(5_000, 40_000)],
    model: tells('voicemail'),
    timeoutMs: 10_000,
    at: 10_000,
    category: 'voicemail',
  },
  'a timeout before anything is known decides nothing': { heard: [], timeoutMs: 1_000, at: 1_000, category: 'unknown' },
  'without time it is decided at once': { heard: [], timeoutMs: 0, at: 0, category: 'unknown' },
};

describe('an answered call', () => {
  it.each(Object.entries(cases))('%s', (_, { heard, model = tells('voicemail'), timeoutMs = 90_000, at, category, asked }) => {
    const { decided, asked: questions } = new Simulation(timeoutMs, model).run([answered, ...heard]);
    expect(decided).toMatchObject([{ at, category }]);
    if (asked !== undefined) expect(questions).toEqual(asked);
  });

  it('tells how long the callee has been silent', () => {
    const delayOf = (heard: readonly Heard[], timeoutMs = 90_000): number | undefined =>
      new Simulation(timeoutMs, tells('voicemail')).run([answered, ...heard]).decided[0]?.delayMs;
    expect(delayOf([])).toBe(2_500);
    expect(delayOf(said(0, 1_000))).toBe(500);
    expect(delayOf([...said(0, 4_000), words(4_400, 'Leave a message.')])).toBe(1_500);
    expect(delayOf(said(0, 9_000), 5_000)).toBe(0);
  });

  it('is not decided by what was heard before it was answered', () => {
    const ringing: readonly Heard[] = [...said(-9_000, -5_000), words(-4_000, 'Please hold the line.')];
    expect(new Simulation(90_000, tells('voicemail')).run([...ringing, answered]).decided).toMatchObject([
      { at: 2_500, category: 'human' },
    ]);
    // A sound that begins before the answer counts from the answer on.
    const tone = said(-1_000, -50);
    expect(new Simulation(90_000, tells('voicemail')).run([tone[0]!, answered, tone[1]!]).decided).toMatchObject([{ at: 2_500 }]);
    const [begins, ends] = said(-3_000, 1_200);
    expect(new Simulation(90_000, tells('voicemail')).run([begins!, answered, ends!]).decided).toMatchObject([
      { at: 1_700, category: 'human' },
    ]);
  });
});

describe('in any order of events', () => {
  type AnyEvent = DetectionEvent | { readonly type: 'begins'; readonly agoMs: number };
  const anEvent: fc.Arbitrary<AnyEvent> = fc.oneof(
    fc.record({ type: fc.constant('begins' as const), agoMs: fc.nat(300) }),
    fc.record({ type: fc.constant('pauses' as const), spokenMs: fc.nat(6_000) }),
    fc.record({
      type: fc.constant('understood' as const),
      text: fc.constantFrom('', 'Hello?', 'Leave a message', ' after the tone. '),
      more: fc.boolean(),
    }),
    fc.record({
      type: fc.constant('classified' as const),
      text: fc.constantFrom('', 'Hello?', 'never asked'),
      category: fc.constantFrom('human' as const, 'menu' as const, undefined),
    }),
    fc.constantFrom({ type: 'waited' as const }, { type: 'answered' as const }),
  );
  const events = fc.array(fc.tuple(fc.nat(4_000), anEvent), { maxLength: 40 });
  const model = fc.record({
    afterMs: fc.nat(8_000),
    answer: fc.constantFrom<CalleeCategory | undefined>('human', 'voicemail', 'unavailable', 'menu', 'unknown', undefined),
  });

  function timed(list: readonly (readonly [afterMs: number, event: AnyEvent])[]): readonly Heard[] {
    let at = 0;
    return list.map(([afterMs, event]) => {
      at += afterMs;
      return { at, event: event.type === 'begins' ? { type: 'speaks', since: ANSWERED_AT + at - event.agoMs } : event };
    });
  }

  it('is decided exactly once, within the timeout, and nothing is waited for afterwards', () => {
    fc.assert(
      fc.property(events, model, fc.nat(90_000), (list, { afterMs, answer }, timeoutMs) => {
        const simulation = new Simulation(timeoutMs, { afterMs, category: () => answer }).run([answered, ...timed(list)]);
        expect(simulation.decided).toHaveLength(1);
        expect(simulation.decided[0]!.at).toBeLessThanOrEqual(timeoutMs);
        expect(simulation.decided[0]!.delayMs).toBeGreaterThanOrEqual(0);
        expect(simulation.timerIsArmed).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is not decided once it was stopped', () => {
    fc.assert(
      fc.property(events, events, model, (before, after, { afterMs, answer }) => {
        const heard = timed([...before, [0, { type: 'stopped' }], ...after]);
        const stoppedAt = heard[before.length]!.at;
        const { decided, timerIsArmed } = new Simulation(90_000, { afterMs, category: () => answer }).run([answered, ...heard]);
        for (const { at } of decided) expect(at).toBeLessThanOrEqual(stoppedAt);
        expect(decided.length).toBeLessThanOrEqual(1);
        expect(timerIsArmed).toBe(false);
      }),
      { numRuns: 1_000 },
    );
  });
});
