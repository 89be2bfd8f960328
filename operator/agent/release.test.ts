import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { applyChange } from '../../store/releases/release-state.ts';
import type { ReleaseFigures, ReleaseState } from '../../store/index.ts';
import { decideRelease, releaseProblem, type ReleaseFacts } from './release.ts';

const hex = (letter: string) => letter.repeat(64);
const since = new Date('2026-06-01T12:00:00Z');
const MINUTE = 60_000;

const target = (letter: string, configHash = `hash-${letter}`) => ({ revision: hex(letter), configHash });
const state = (letter: string, more: Partial<ReleaseState> = {}): ReleaseState => ({
  version: 1,
  revision: hex(letter),
  configHash: `hash-${letter}`,
  activeSince: since,
  canary: null,
  rolledBack: [],
  ...more,
});
const canaryOf = (letter: string, percent = 10) => ({ ...target(letter), percent, since });
const canary = { percent: 10, for: '30m', minCalls: 20, abortOn: {} };
const limits = { errorRate: 5, p95VoiceToVoiceMs: 1500, analysis: { name: 'satisfied', below: 80 } };
const figures = (more: Partial<ReleaseFigures> = {}): ReleaseFigures => ({
  calls: 20,
  errors: 0,
  errorsByReason: {},
  failedToolCalls: 0,
  p95VoiceToVoiceMs: 900,
  analysis: { results: 20, value: 95 },
  elapsedMs: 30 * MINUTE,
  ...more,
});
const rolledBack = (letter: string, aborted = false) => ({
  ...target(letter),
  aborted,
  reason: aborted ? 'too many errors' : null,
  by: aborted ? null : 'ada',
  at: '2026-06-01T12:00:00.123Z',
});
const decide = (facts: Partial<ReleaseFacts>) => decideRelease({ release: undefined, target: undefined, state: undefined, ...facts });

describe('without a canary', () => {
  it('serves what may be served, at once', () => {
    expect(decide({ target: target('b') }).step).toEqual({ type: 'serve', ...target('b') });
    expect(decide({ target: target('b'), state: state('a') }).step).toEqual({ type: 'serve', ...target('b') });
  });

  it('does nothing where it serves, and where nothing may be served', () => {
    expect(decide({ target: target('a'), state: state('a') })).toEqual({ phase: { type: 'serving' } });
    expect(decide({ state: state('a') })).toEqual({ phase: { type: 'serving' } });
    expect(decide({})).toEqual({ phase: { type: 'serving' } });
  });

  it('notes once what a former version of Parley served', () => {
    expect(decide({ target: target('a'), state: state('a', { configHash: null }) }).step).toEqual({ type: 'settle', configHash: 'hash-a' });
  });
});

describe('with a canary', () => {
  const release = { canary };
  const running = state('a', { canary: canaryOf('b') });

  it('tries a new revision, but not the first one, a rotated Secret or what is missing', () => {
    expect(decide({ release, target: target('b'), state: state('a') }).step).toEqual({ type: 'begin_canary', ...target('b'), percent: 10 });
    expect(decide({ release, target: target('b') }).step?.type).toBe('serve');
    expect(decide({ release, target: target('b', 'hash-a'), state: state('a') }).step?.type).toBe('serve');
  });

  it('tries no rotated Secret while something new is missing, and tries that once it is there', () => {
    const rotated = { revision: hex('b'), configHash: 'hash-a' };
    expect(decide({ release, target: target('b', 'hash-c'), ownHash: 'hash-a', state: state('a') }).step).toEqual({
      type: 'serve',
      ...rotated,
    });
    expect(decide({ release, target: target('c'), ownHash: 'hash-c', state: state('a', rotated) }).step?.type).toBe('begin_canary');
  });

  it('waits for time and calls, and promotes', () => {
    for (const early of [undefined, figures({ elapsedMs: 30 * MINUTE - 1 }), figures({ calls: 19 })])
      expect(decide({ release, target: target('b'), state: running, figures: early })).toEqual({ phase: { type: 'canary' } });
    expect(decide({ release, target: target('b'), state: running, figures: figures() }).step).toEqual({ type: 'promote' });
  });

  it('waits for figures that its limits need', () => {
    const strict = { canary: { ...canary, abortOn: limits } };
    for (const lacking of [figures({ p95VoiceToVoiceMs: null }), figures({ analysis: { results: 19, value: 100 } })])
      expect(decide({ release: strict, target: target('b'), state: running, figures: lacking })).toEqual({ phase: { type: 'canary' } });
    expect(decide({ release: strict, target: target('b'), state: running, figures: figures() }).step).toEqual({ type: 'promote' });
  });

  it.each([
    [{ errors: 2 }, '10 % of its 20 calls ended as error, above 5 % (errorRate)'],
    [{ p95VoiceToVoiceMs: 1501 }, 'its p95 voice to voice is 1501 ms over 20 calls, above 1500 ms (p95VoiceToVoiceMs)'],
    [{ analysis: { results: 20, value: 66.666 } }, 'the analysis satisfied is 66.7 over 20 calls, below 80 (analysis)'],
  ])('aborts on %j, with the numbers', (bad, reason) => {
    const facts = { release: { canary: { ...canary, abortOn: limits } }, target: target('b'), state: running };
    expect(decide({ ...facts, figures: figures({ ...bad, elapsedMs: 0 }) })).toMatchObject({ step: { type: 'abort' }, reason });
    expect(decide({ ...facts, figures: figures({ ...bad, calls: 19, elapsedMs: 0 }) }).step).toBeUndefined();
    // Also while the spec asks for something that may not be served.
    expect(decide({ ...facts, target: undefined, figures: figures(bad) }).step).toEqual({ type: 'abort' });
  });

  it('keeps its limits: what equals one is within', () => {
    const at = figures({ errors: 1, p95VoiceToVoiceMs: 1500, analysis: { results: 20, value: 80 } });
    expect(
      decide({ release: { canary: { ...canary, abortOn: limits } }, target: target('b'), state: running, figures: at }).step?.type,
    ).toBe('promote');
  });

  it('tries another one when the spec changes, and goes back with it', () => {
    expect(decide({ release, target: target('c'), state: running }).step).toMatchObject({ type: 'begin_canary', revision: hex('c') });
    expect(decide({ release, target: target('a'), state: running }).step).toEqual({ type: 'end_canary' });
    expect(decide({ release: undefined, target: target('b'), state: running }).step?.type).toBe('serve');
    expect(decide({ release: { canary: { ...canary, percent: 50 } }, target: target('b'), state: running }).step).toEqual({
      type: 'set_percent',
      percent: 50,
    });
  });
});

describe('what was rolled back', () => {
  const back = state('a', { rolledBack: [rolledBack('b', true)] });

  it('is not served by itself, with another version of a Secret neither, until the spec changes', () => {
    for (const again of [target('b'), target('d', 'hash-b')]) {
      const decision = decide({ release: { canary }, target: again, state: back });
      expect(decision.step).toBeUndefined();
      expect(releaseProblem(decision, { release: { canary }, state: back })).toEqual({
        reason: 'CanaryAborted',
        message: 'revision bbbbbbbbbbbb is not served, its canary was aborted at 2026-06-01T12:00:00Z: too many errors',
      });
    }
    expect(decide({ target: target('c'), state: back }).step).toMatchObject({ type: 'serve', revision: hex('c') });
    expect(decide({ target: target('a'), state: back }).step).toEqual({ type: 'settle', configHash: 'hash-a' });
  });

  it('says who did it', () => {
    const byAda = state('a', { rolledBack: [rolledBack('b')] });
    const decision = decide({ target: target('b'), state: byAda });
    expect(releaseProblem(decision, { release: undefined, state: byAda })).toMatchObject({
      reason: 'RolledBack',
      message: expect.stringContaining('it was rolled back by ada at 2026-06-01T12:00:00Z'),
    });
  });
});

describe('a pin', () => {
  const release = { pin: hex('c').slice(0, 8), canary };

  it('serves the revision that it names, whatever else the spec asks for and however it is', () => {
    const step = { type: 'serve', ...target('c'), pinned: true };
    expect(decide({ release, target: target('b'), pinned: target('c'), state: state('a') }).step).toEqual(step);
    expect(decide({ release, pinned: target('c'), state: state('a', { canary: canaryOf('b') }) }).step).toEqual(step);
    expect(decide({ release, target: target('c'), state: state('a') }).step).toEqual(step);
    expect(decide({ release, target: target('b'), pinned: target('c'), state: state('c') })).toEqual({ phase: { type: 'pinned' } });
  });

  it('leaves everything where it names nothing, or what was rolled back', () => {
    const unknown = decide({ release, target: target('b'), state: state('a') });
    expect(unknown.step).toBeUndefined();
    expect(releaseProblem(unknown, { release, state: state('a') })).toMatchObject({ reason: 'PinNotFound' });
    expect(decide({ release, pinned: target('c'), state: state('a', { rolledBack: [rolledBack('c')] }) })).toMatchObject({
      phase: { type: 'rolledBack' },
    });
  });
});

describe('whatever happens in whatever order', () => {
  const letters = ['a', 'b', 'c', 'd'];
  const happening = fc.oneof(
    { weight: 4, arbitrary: fc.record({ type: fc.constant('spec' as const), letter: fc.constantFrom(...letters) }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('gate' as const), open: fc.boolean() }) },
    {
      weight: 3,
      arbitrary: fc.record({
        type: fc.constant('calls' as const),
        errors: fc.integer({ min: 0, max: 20 }),
        minutes: fc.integer({ min: 0, max: 60 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ type: fc.constant('pin' as const), letter: fc.option(fc.constantFrom(...letters), { nil: undefined }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        type: fc.constant('canary' as const),
        percent: fc.option(fc.integer({ min: 1, max: 99 }), { nil: undefined }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('rollback' as const) }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('crash' as const) }) },
  );

  it('comes to rest, serves only what may be served, and nothing again that was rolled back', () => {
    fc.assert(
      fc.property(fc.array(happening, { maxLength: 40 }), (happenings) => {
        let now = since;
        let current: ReleaseState | undefined;
        let wanted = 'a';
        let open = true;
        let pin: string | undefined;
        let percent: number | undefined = 10;
        let seen: ReleaseFigures = figures({ calls: 0, elapsedMs: 0 });
        /** Let through by the gate at some time. */
        const admitted = new Set<string>();
        /** Rolled back, and the spec has not asked for anything else since. */
        let banned = new Set<string>();
        const reconcile = (rounds: number): void => {
          for (let round = 0; round < rounds; round += 1) {
            if (open) admitted.add(hex(wanted));
            const pinned = pin !== undefined && admitted.has(hex(pin)) && current !== undefined ? target(pin) : undefined;
            const decision = decideRelease({
              release: {
                ...(pin !== undefined && { pin: hex(pin).slice(0, 8) }),
                ...(percent !== undefined && { canary: { ...canary, percent, abortOn: { errorRate: 5 } } }),
              },
              target: open ? target(wanted) : undefined,
              state: current,
              pinned,
              figures: current?.canary ? seen : undefined,
            });
            const { step } = decision;
            if (step === undefined) return;
            if (current === undefined) {
              expect(step.type).toBe('serve');
              current = state((step as { revision: string }).revision.slice(0, 1));
              continue;
            }
            const after = applyChange(current, step, { now, reason: decision.reason });
            expect(after, `${step.type} changes something`).toBeDefined();
            if (step.type === 'abort') banned.add(current.canary!.revision);
            if (step.type === 'begin_canary') seen = figures({ calls: 0, elapsedMs: 0 });
            current = { ...after!.state, version: current.version + 1 };
            for (const revision of [current.revision, current.canary?.revision]) {
              if (revision === undefined) continue;
              expect(admitted).toContain(revision);
              expect(banned).not.toContain(revision);
            }
          }
          expect.fail('it does not come to rest');
        };
        for (const what of happenings) {
          now = new Date(now.getTime() + MINUTE);
          if (what.type === 'spec') wanted = what.letter;
          else if (what.type === 'gate') open = what.open;
          else if (what.type === 'pin') pin = what.letter;
          else if (what.type === 'canary') percent = what.percent;
          else if (what.type === 'calls')
            seen = figures({
              calls: seen.calls + 20,
              errors: seen.errors + what.errors,
              elapsedMs: seen.elapsedMs + what.minutes * MINUTE,
            });
          else if (what.type === 'rollback' && current?.canary) {
            banned.add(current.canary.revision);
            const change = { type: 'rollback', to: current.revision, configHash: current.configHash } as const;
            current = { ...applyChange(current, change, { now })!.state, version: current.version + 1 };
          } else if (what.type === 'crash') continue; // Nothing is decided until the operator is back.
          reconcile(8);
          // At rest with something else that the spec asks for: what was rolled back may be asked for again.
          if (open && pin === undefined && !banned.has(hex(wanted))) banned = new Set();
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
