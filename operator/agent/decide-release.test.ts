import { describe, expect, it } from 'vitest';

import type { ReleaseFigures, ReleaseState } from '../../store/index.ts';
import { decideRelease, decideSuspended, releaseProblems, REPLACED_WITHIN_MS, type ReleaseFacts, type Target } from './decide-release.ts';

type RolledBack = ReleaseState['rolledBack'][number];

const hex = (letter: string) => letter.repeat(64);
const since = new Date('2026-06-01T12:00:00Z');
const MINUTE = 60_000;

const named = (letter: string, configHash = `hash-${letter}`) => ({ revision: hex(letter), configHash });
const target = (letter: string, configHash?: string, tools: Target['parts']['tools'] = {}): Target => ({
  ...named(letter, configHash),
  parts: { agent: letter, tools },
});
const state = (letter: string, more: Partial<ReleaseState> = {}): ReleaseState => ({
  version: 1,
  revision: hex(letter),
  configHash: `hash-${letter}`,
  activeSince: since,
  canary: null,
  rolledBack: [],
  retiredAt: null,
  promoted: null,
  ...more,
});
const canaryOf = (letter: string, percent = 10) => ({ ...named(letter), percent, since });
const canary = { percent: 10, for: '30m', deadline: '168h', minCalls: 20 };
const limits = { errorPercent: 5, p95VoiceToVoice: '1500ms', analysis: { name: 'satisfied', below: '80' } };
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
const rolledBack = (letter: string, aborted = false, changed: RolledBack['changed'] = { agent: letter, tools: {} }) => ({
  ...named(letter),
  changed,
  aborted,
  reason: aborted ? 'too many errors' : null,
  by: aborted ? null : 'ada',
  at: '2026-06-01T12:00:00.123Z',
});
/** Facts without a target stand for one that may not be served. */
const decide = (facts: Partial<ReleaseFacts>) =>
  decideRelease({
    release: undefined,
    target: target('z'),
    open: facts.target !== undefined,
    state: undefined,
    now: since.getTime(),
    ...facts,
  });
const problemOf = (facts: Partial<ReleaseFacts>) =>
  releaseProblems(decide(facts), { release: undefined, target: target('z'), state: undefined, ...facts })[0];

describe('without a canary', () => {
  it('serves what may be served, at once', () => {
    expect(decide({ target: target('b') }).step).toEqual({ type: 'serve', ...named('b') });
    expect(decide({ target: target('b'), state: state('a') }).step).toEqual({ type: 'serve', ...named('b') });
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
    expect(decide({ release, target: target('b'), state: state('a') }).step).toEqual({ type: 'begin_canary', ...named('b'), percent: 10 });
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
    [{ errors: 2 }, '10 % of its 20 calls ended as error, above 5 % (errorPercent)'],
    [{ p95VoiceToVoiceMs: 1501 }, 'its p95 voice to voice is 1501ms over 20 calls, above 1500ms (p95VoiceToVoice)'],
    [{ analysis: { results: 20, value: 66.666 } }, 'the analysis satisfied is 66.7 over 20 calls, below 80 (analysis)'],
  ])('aborts on %j, with the numbers', (bad, reason) => {
    const facts = { release: { canary: { ...canary, abortOn: limits } }, target: target('b'), state: running };
    expect(decide({ ...facts, figures: figures({ ...bad, elapsedMs: 0 }) })).toMatchObject({ step: { type: 'abort' }, reason });
    expect(decide({ ...facts, figures: figures({ ...bad, calls: 19, elapsedMs: 0 }) }).step).toBeUndefined();
    // The figures count also while the spec asks for something that may not be served.
    expect(decide({ ...facts, open: false, figures: figures(bad) }).step).toEqual({ type: 'abort' });
  });

  it('gives up what lacks a figure at its deadline, and says all along what is missing', () => {
    const strict = { canary: { ...canary, abortOn: limits } };
    const facts = { release: strict, target: target('b'), state: running };
    const lacking = figures({ p95VoiceToVoiceMs: null, elapsedMs: 24 * 60 * MINUTE });
    expect(problemOf({ ...facts, figures: lacking })?.message).toContain('no p95VoiceToVoice yet');
    expect(decide({ ...facts, figures: { ...lacking, elapsedMs: 168 * 60 * MINUTE } })).toMatchObject({
      step: { type: 'abort' },
      reason: 'after 168h (deadline) it has no p95VoiceToVoice yet, for want of spoken answers',
    });
    // An unlimited one that is only waiting for its time.
    expect(decide({ ...facts, release: { canary: { ...canary, for: '168h', deadline: '1h' } }, figures: figures() }).step).toBeUndefined();
  });

  it('ends when something that every call of it needs is lost, and stays under its guard while the agent is suspended', () => {
    expect(decide({ release, target: target('b'), open: false, lost: true, state: running, figures: figures() }).step).toEqual({
      type: 'end_canary',
    });
    const guarded = { release: { canary: { ...canary, abortOn: limits } }, revision: hex('b'), state: running, now: 0 };
    expect(decideSuspended({ ...guarded, figures: figures({ errors: 9 }) }).step).toEqual({ type: 'abort' });
    expect(decideSuspended({ ...guarded, figures: figures() })).toEqual({ phase: { type: 'canary' } });
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
  it('is not served by itself, with another version of a Secret neither, until somebody names it', () => {
    const back = state('a', { rolledBack: [rolledBack('b', true)] });
    for (const again of [target('b'), target('d', 'hash-b')]) {
      const facts = { release: { canary }, target: again, state: back };
      expect(decide(facts).step).toBeUndefined();
      expect(problemOf(facts)).toEqual({
        reason: 'CanaryAborted',
        message: 'revision bbbbbbbbbbbb is not served, its canary was aborted at 2026-06-01T12:00:00Z: too many errors',
      });
    }
    expect(decide({ target: target('c'), state: back }).step).toMatchObject({ type: 'serve', revision: hex('c') });
  });

  it('says who did it, also where something else is wrong', () => {
    const byAda = state('a', { rolledBack: [rolledBack('b')] });
    expect(problemOf({ target: target('b'), open: false, state: byAda })).toMatchObject({
      reason: 'RolledBack',
      message: expect.stringContaining('it was rolled back by ada at 2026-06-01T12:00:00Z'),
    });
  });

  it('is not served with other tools, and neither is another agent with the tools that were', () => {
    const ofAgent = state('a', { rolledBack: [rolledBack('b')] });
    const withTool = { release: undefined, target: { ...target('c'), parts: { agent: 'b', tools: { t: '1' } } }, state: ofAgent };
    expect(decide(withTool).step).toBeUndefined();
    expect(problemOf(withTool)?.message).toContain(
      'revision cccccccccccc is not served, because it has the agent spec of revision bbbbbbbbbbbb',
    );
    const ofTool = state('a', { rolledBack: [rolledBack('b', false, { tools: { t: '1' } })] });
    const offering = (tools: Target['parts']['tools']) =>
      decide({ target: { ...target('c'), parts: { agent: 'a', tools } }, state: ofTool }).step;
    expect(offering({ t: '1', u: '1' })).toBeUndefined();
    expect(offering({ t: '2', u: '1' })?.type).toBe('serve');
    // What serves has been let through, whatever it shares.
    expect(decide({ target: target('d', 'hash-a', { t: '1' }), state: ofTool }).step?.type).toBe('serve');
  });

  it('may be tried again as a canary where its figures were bad, once the agent has been edited back', () => {
    const aborted = state('a', { rolledBack: [rolledBack('b', true)] });
    expect(decide({ release: { canary }, target: target('a'), state: aborted }).step).toEqual({ type: 'settle', configHash: 'hash-a' });
    const again = state('a', { rolledBack: [{ ...rolledBack('b', true), retry: true }] });
    expect(decide({ release: { canary }, target: target('b'), state: again }).step?.type).toBe('begin_canary');
    expect(decide({ target: target('b'), state: again }).step).toBeUndefined();
    // Tools come and go by themselves.
    const byTool = state('a', { rolledBack: [rolledBack('b', true, { tools: { t: '1' } })] });
    expect(decide({ release: { canary }, target: target('a'), state: byTool }).step).toBeUndefined();
  });
});

describe('a pin', () => {
  const pin = { revision: hex('c'), onMissing: 'Hold' } as const;
  const release = { pin, canary };

  it('serves the revision that it names, whatever else the spec asks for and however it is', () => {
    const step = { type: 'serve', ...named('c'), pinned: true };
    expect(decide({ release, target: target('b'), pinned: named('c'), state: state('a') }).step).toEqual(step);
    expect(decide({ release, pinned: named('c'), state: state('a', { canary: canaryOf('b') }) }).step).toEqual(step);
    expect(decide({ release, target: target('c'), state: state('a') }).step).toEqual(step);
    expect(decide({ release, target: target('b'), pinned: named('c'), state: state('c') })).toEqual({ phase: { type: 'pinned' } });
  });

  it('that names nothing lets nothing new into service, and says so', () => {
    expect(decide({ release, target: target('b') }).step).toBeUndefined();
    expect(decide({ release, target: target('b'), state: state('a') }).step).toBeUndefined();
    const message = expect.stringContaining('revision cccccccccccc has not served here, so nothing new comes into service and new calls');
    expect(problemOf({ release, target: target('b'), state: state('a') })).toMatchObject({ reason: 'PinNotFound', message });
    expect(problemOf({ release, target: target('b') })?.message).toContain('no call is taken');
  });

  it('that names nothing leaves a canary under its guard', () => {
    const facts = {
      release: { pin, canary: { ...canary, abortOn: limits } },
      target: target('b'),
      state: state('a', { canary: canaryOf('b') }),
    };
    expect(decide({ ...facts, figures: figures() })).toMatchObject({ phase: { type: 'canary' }, missing: pin });
    expect(decide({ ...facts, figures: figures() }).step).toBeUndefined();
    expect(decide({ ...facts, figures: figures({ errors: 9 }) }).step).toEqual({ type: 'abort' });
    expect(decide({ ...facts, open: false, lost: true, figures: figures() }).step).toEqual({ type: 'end_canary' });
  });

  it('that names nothing is passed over where it says so', () => {
    const facts = { release: { canary, pin: { ...pin, onMissing: 'Serve' as const } }, target: target('b') };
    expect(decide(facts).step).toEqual({ type: 'serve', ...named('b') });
    expect(decide({ ...facts, state: state('a') }).step?.type).toBe('begin_canary');
    expect(problemOf({ ...facts, state: state('b') })).toMatchObject({ reason: 'PinPassedOver' });
    // What keeps the revision out of service comes first.
    expect(problemOf({ ...facts, state: state('a', { rolledBack: [rolledBack('b')] }) })).toMatchObject({ reason: 'RolledBack' });
  });

  it('does not serve what was rolled back', () => {
    expect(decide({ release, pinned: named('c'), state: state('a', { rolledBack: [rolledBack('c')] }) })).toMatchObject({
      phase: { type: 'rolledBack' },
    });
  });
});

describe('an agent that was deleted and made again', () => {
  const retiredAt = since;
  const soon = since.getTime() + REPLACED_WITHIN_MS - 1;

  it('goes on from where it was, within an hour', () => {
    const running = state('a', { canary: canaryOf('b'), retiredAt });
    expect(decide({ release: { canary }, target: target('b'), state: running, now: soon }).step).toEqual({ type: 'revive' });
    expect(decideSuspended({ release: undefined, revision: hex('a'), state: running, figures: undefined, now: soon }).step).toEqual({
      type: 'revive',
    });
    expect(decide({ release: { canary }, target: target('b'), state: running, now: soon + 1 }).step?.type).toBe('serve');
  });

  it('never serves what was rolled back', () => {
    const facts = { target: target('b'), state: state('a', { rolledBack: [rolledBack('b')], retiredAt }), now: soon + 1 };
    expect(decide(facts).step).toBeUndefined();
    expect(problemOf(facts)).toMatchObject({ reason: 'RolledBack' });
  });
});
