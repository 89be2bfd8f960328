import { describe, expect, it } from 'vitest';

import { applyChange, type ReleaseChange, type ReleaseState } from './release-state.ts';
import type { RevisionParts } from './revision-parts.ts';

const now = new Date('2026-06-01T12:00:00Z');
const later = new Date('2026-06-01T13:00:00Z');
const serving: ReleaseState = {
  version: 3,
  revision: 'a',
  configHash: 'ha',
  activeSince: now,
  canary: null,
  rolledBack: [],
  retiredAt: null,
  promoted: null,
};
const canary = { revision: 'b', configHash: 'hb', percent: 10, since: now };
const trying: ReleaseState = { ...serving, canary };
const { version: _serving, ...rest } = serving;
const rolledBack = (letter: string, aborted = false) => ({
  revision: letter,
  configHash: `h${letter}`,
  changed: null,
  aborted,
  reason: null,
  by: null,
  at: '',
});
const apply = (state: ReleaseState, change: ReleaseChange, author = {}) => applyChange(state, change, { now: later, ...author });

describe('serving a revision', () => {
  it('changes nothing where it serves already', () => {
    expect(apply(serving, { type: 'serve', revision: 'a', configHash: 'ha' })).toBeUndefined();
  });

  it('ends a canary, and forgets nothing that was rolled back', () => {
    const before = { ...trying, rolledBack: [rolledBack('c')] };
    expect(apply(before, { type: 'serve', revision: 'd', configHash: 'hd' })).toEqual({
      state: { ...rest, revision: 'd', configHash: 'hd', activeSince: later, canary: null, rolledBack: [rolledBack('c')] },
      record: { change: 'served', revision: 'd', configHash: 'hd', replaced: 'a', percent: 100 },
    });
  });

  it('is pinned where the spec names it', () => {
    expect(apply(serving, { type: 'serve', revision: 'd', configHash: null, pinned: true })?.record?.change).toBe('pinned');
  });
});

describe('an agent that is deleted', () => {
  it('goes on as before when it is made again, with all that is remembered', () => {
    const before = { ...trying, rolledBack: [rolledBack('c')] };
    const retired = { ...apply(before, { type: 'retire' })!.state, version: 4 };
    expect(retired).toEqual({ ...before, version: 4, retiredAt: later });
    expect(apply(retired, { type: 'retire' })).toBeUndefined();
    const { version: _version, ...as } = before;
    expect(apply(retired, { type: 'revive' })).toEqual({
      state: { ...as, activeSince: later },
      record: { change: 'served', revision: 'a', configHash: 'ha', replaced: null, percent: 90 },
    });
    expect(apply(before, { type: 'revive' })).toBeUndefined();
    expect(apply(retired, { type: 'serve', revision: 'a', configHash: 'ha' })?.state).toMatchObject({ retiredAt: null, canary: null });
  });
});

describe('a canary', () => {
  it('begins next to what serves', () => {
    const { state, record } = apply(serving, { type: 'begin_canary', revision: 'b', configHash: 'hb', percent: 10 })!;
    expect(state).toMatchObject({ revision: 'a', activeSince: now, canary: { revision: 'b', percent: 10, since: later } });
    expect(record).toMatchObject({ change: 'canary_began', revision: 'b', percent: 10 });
  });

  it('began earlier where only a Secret was rotated meanwhile', () => {
    const begin = (configHash: string) => apply(trying, { type: 'begin_canary', revision: 'c', configHash, percent: 10 });
    expect(begin('hb')).toMatchObject({
      state: { canary: { revision: 'c', configHash: 'hb', since: now } },
      record: { change: 'canary_began', revision: 'c', replaced: 'b' },
    });
    expect(begin('hc')?.state.canary).toMatchObject({ revision: 'c', since: later });
  });

  it('is promoted', () => {
    expect(apply(trying, { type: 'promote' })).toMatchObject({
      state: { revision: 'b', configHash: 'hb', activeSince: later, canary: null },
      record: { change: 'promoted', revision: 'b', replaced: 'a' },
    });
  });

  it('is aborted, and remembered with the reason', () => {
    expect(apply(trying, { type: 'abort' }, { reason: 'too many errors' })).toMatchObject({
      state: { revision: 'a', canary: null, rolledBack: [{ revision: 'b', configHash: 'hb', aborted: true, reason: 'too many errors' }] },
      record: { change: 'aborted', revision: 'a', replaced: 'b', reason: 'too many errors' },
    });
  });

  it('ends without being remembered when the spec asks for something else', () => {
    expect(apply(trying, { type: 'end_canary' })).toMatchObject({
      state: { canary: null, rolledBack: [] },
      record: { change: 'canary_ended' },
    });
  });

  it.each(['abort', 'end_canary', 'promote'] as const)('is needed for %s', (type) => expect(apply(serving, { type })).toBeUndefined());
});

describe('a rollback', () => {
  it('ends the canary where there is one', () => {
    expect(apply(trying, { type: 'rollback', to: 'a', configHash: 'ha' }, { by: 'ada' })).toMatchObject({
      state: { revision: 'a', activeSince: now, canary: null, rolledBack: [{ revision: 'b', aborted: false, by: 'ada' }] },
      record: { change: 'rolled_back', revision: 'a', replaced: 'b' },
    });
  });

  it('remembers each revision that it went back from', () => {
    const first = apply({ ...serving, revision: 'c', configHash: 'hc' }, { type: 'rollback', to: 'b', configHash: 'hb' })!.state;
    const second = apply({ ...first, version: 1 }, { type: 'rollback', to: 'a', configHash: 'ha' })!.state;
    expect(second).toMatchObject({ revision: 'a', rolledBack: [{ revision: 'c' }, { revision: 'b' }] });
    const again = apply({ ...second, version: 2 }, { type: 'force_promote' }, { by: 'ada' })!;
    expect(again.state).toMatchObject({ revision: 'b', rolledBack: [{ revision: 'c' }], promoted: { by: 'ada' } });
    expect(apply({ ...second, version: 2 }, { type: 'force_promote', revision: 'c' })?.state).toMatchObject({
      revision: 'c',
      rolledBack: [{ revision: 'b' }],
    });
  });

  it('remembers what it was about: the agent where that changed, else the tools that did', () => {
    const parts: Record<string, RevisionParts> = {
      a: { agent: '1', tools: { t: '1', u: '1' } },
      b: { agent: '2', tools: {} },
      c: { agent: '1', tools: { t: '2', v: '1' } },
    };
    const changed = (from: string) =>
      apply(
        { ...serving, revision: from },
        { type: 'rollback', to: 'a', configHash: null },
        { partsOf: (revision: string) => parts[revision] },
      )?.state.rolledBack[0]?.changed;
    expect(changed('b')).toEqual({ agent: '2', tools: {} });
    expect(changed('c')).toEqual({ tools: { t: '2', u: null, v: '1' } });
    expect(changed('d')).toBeNull();
  });

  it('to one that was rolled back takes it out of those', () => {
    const before = { ...serving, rolledBack: [rolledBack('b', true)] };
    expect(apply(before, { type: 'rollback', to: 'b', configHash: 'hb' })?.state.rolledBack).toMatchObject([{ revision: 'a' }]);
  });
});
