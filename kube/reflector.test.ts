import assert from 'node:assert/strict';

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { FakeClock, settle } from '../test/support/fake-clock.ts';
import { MemorySource, type MemoryObject } from '../test/support/memory-source.ts';
import { WatchCache, type CacheChange } from './cache.ts';
import { Reflector } from './reflector.ts';
import type { Stored } from './types.ts';

const stateOf = (cache: WatchCache<MemoryObject>): readonly string[] =>
  cache
    .list()
    .map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)
    .sort();

/** Follows the changes as a listener does, and refuses those that don't fit what it knows. */
class Mirror {
  readonly log: string[] = [];
  readonly #objects = new Map<string, Stored<MemoryObject>>();

  readonly take = (changes: readonly CacheChange<Stored<MemoryObject>>[], { initial }: { readonly initial: boolean }): void => {
    for (const change of changes) {
      const { name, uid } = change.object.metadata;
      const known = this.#objects.get(name);
      assert.equal(known?.metadata.uid, change.type === 'added' ? undefined : uid);
      assert(change.type !== 'modified' || change.previous === known);
      if (change.type === 'deleted') this.#objects.delete(name);
      else this.#objects.set(name, change.object);
      this.log.push(`${initial ? 'initial ' : ''}${change.type} ${name}`);
    }
  };

  get state(): readonly string[] {
    return [...this.#objects.values()].map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`).sort();
  }
}

const setUp = (options: { readonly transform?: (object: Stored<MemoryObject>) => Stored<MemoryObject> } = {}) => {
  const clock = new FakeClock();
  const source = new MemorySource();
  const cache = new WatchCache<MemoryObject>();
  const mirror = new Mirror();
  const reflector = new Reflector<MemoryObject>({
    client: source,
    cache,
    onChanges: mirror.take,
    transform: options.transform ?? ((object) => object),
    clock,
    random: () => 0,
  });
  const stop = new AbortController();
  const start = (): Promise<void> => reflector.run(stop.signal);
  return { clock, source, cache, mirror, reflector, stop, start };
};

type SetUp = ReturnType<typeof setUp>;

const finish = async ({ stop, source, clock }: SetUp, running: Promise<void>): Promise<void> => {
  stop.abort(new Error('over'));
  await running;
  expect([source.openWatches, clock.timers]).toEqual([0, 0]);
};

describe('Reflector', () => {
  it('lists by one WatchList and goes on with the same stream', async () => {
    const all = setUp();
    const { source, cache, mirror, clock } = all;
    source.put('a', 1);
    source.put('b', 1);
    const running = all.start();
    await settle();
    source.put('a', 2);
    source.delete('b');
    source.put('c', 1);
    await settle();
    expect(source.calls).toEqual(['watch-list']);
    expect(stateOf(cache)).toEqual(source.state);
    expect(mirror.log).toEqual(['initial added a', 'initial added b', 'modified a', 'deleted b', 'added c']);
    expect(cache.resourceVersion).toBe(source.resourceVersion);
    expect(clock.timers).toBe(1); // the limit to silence, and nothing that polls
    await finish(all, running);
  });

  it.each(['refused', 'failing-in-stream'] as const)(
    'falls back to pages when the WatchList is %s, and asks no more for one',
    async (how) => {
      const all = setUp();
      const { source, cache } = all;
      source.watchLists = how;
      for (let n = 0; n < 5; n++) source.put(`w${n}`, n);
      const version = source.resourceVersion;
      const running = all.start();
      await settle();
      expect(source.calls).toEqual(['watch-list', 'list', 'list more', 'list more', `watch ${version}`]);
      expect(stateOf(cache)).toEqual(source.state);
      source.breakWatches(410);
      await all.clock.advance(1000);
      expect(source.calls.slice(5)).toEqual(['list', 'list more', 'list more', `watch ${version}`]);
      await finish(all, running);
    },
  );

  it('takes up a broken watch from the last event, without listing', async () => {
    const all = setUp();
    const { source, cache, clock } = all;
    const running = all.start();
    await settle();
    source.put('a', 1);
    await settle();
    const version = source.resourceVersion;
    source.breakWatches(0);
    await settle();
    source.put('b', 1);
    source.delete('a');
    await clock.advance(800);
    expect(source.calls).toEqual(['watch-list', `watch ${version}`]);
    expect(stateOf(cache)).toEqual(source.state);
    await finish(all, running);
  });

  it.each(['status', 'in-stream'] as const)(
    'relists when its position is too old (%s), and reports the deletions that it missed',
    async (expiry) => {
      const all = setUp();
      const { source, cache, clock, mirror } = all;
      source.expiry = expiry;
      source.put('stays', 1);
      source.put('goes', 1);
      source.put('returns', 1);
      const running = all.start();
      await settle();
      source.breakWatches(0);
      await settle();
      source.delete('goes');
      source.delete('returns');
      source.put('returns', 2);
      source.put('comes', 1);
      source.compact();
      mirror.log.length = 0;
      await clock.advance(3000);
      expect(source.calls.filter((call) => call === 'watch-list')).toHaveLength(2);
      expect(stateOf(cache)).toEqual(source.state);
      expect(mirror.log).toEqual(['deleted goes', 'deleted returns', 'added returns', 'added comes']);
      await finish(all, running);
    },
  );

  it.each([0, 401, 403, 404, 429, 500, 503])('goes on after %i, however often, with delays up to 30 seconds', async (code) => {
    const all = setUp();
    const { source, cache, clock } = all;
    source.failNext(...Array.from({ length: 12 }, () => code));
    source.put('a', 1);
    const running = all.start();
    const failedAt: number[] = [];
    for (let calls = 0; failedAt.length < 12;) {
      await settle();
      if (source.calls.length > calls) failedAt.push(clock.monotonic());
      calls = source.calls.length;
      await clock.advance(clock.nextIn ?? 0);
    }
    const gaps = failedAt.slice(1).map((at, n) => at - (failedAt[n] ?? 0));
    expect(gaps).toEqual([800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000, 30_000, 30_000, 30_000]);
    await clock.advance(30_000);
    expect(stateOf(cache)).toEqual(source.state);
    await finish(all, running);
  });

  it('notices a connection on which nothing comes any more', async () => {
    const all = setUp();
    const { source, cache, clock, reflector } = all;
    const running = all.start();
    await settle();
    source.silence();
    source.put('a', 1);
    await clock.advance(170_000);
    expect(stateOf(cache)).toEqual([]);
    expect(reflector.lastContact).toBe(170_000);
    await clock.advance(11_000);
    expect(stateOf(cache)).toEqual(source.state);
    await finish(all, running);
  });

  it('takes a bookmark for a sign of life and for a position', async () => {
    const all = setUp();
    const { source, cache, clock, reflector } = all;
    const running = all.start();
    await settle();
    for (let minute = 0; minute < 20; minute++) {
      await clock.advance(60_000);
      source.bookmark();
    }
    await settle();
    expect(source.calls).toEqual(['watch-list']);
    expect(reflector.lastContact).toBe(0);
    const waiting = cache.waitFor(String(Number(source.resourceVersion) + 1));
    source.put('a', 1);
    await waiting;
    await finish(all, running);
  });

  it('doubts everything when the history was rewound', async () => {
    const all = setUp();
    const { source, cache, clock } = all;
    for (let n = 0; n < 10; n++) source.put(`w${n}`, n);
    const running = all.start();
    await settle();
    source.rewind(5);
    source.put('w1', 2);
    await clock.advance(1000);
    expect(source.calls).toEqual(['watch-list', 'watch-list']);
    expect(stateOf(cache)).toEqual(source.state);
    await finish(all, running);
  });

  it('lists again after a silence, since the history may have been rewound while no watch was open', async () => {
    const all = setUp();
    const { source, cache, clock } = all;
    for (let n = 0; n < 10; n++) source.put(`w${n}`, n);
    const running = all.start();
    await settle();
    const version = source.resourceVersion;
    source.rewind(5);
    source.breakWatches(0);
    await clock.advance(800);
    source.put('w1', 2);
    for (let minute = 0; minute < 3; minute++) {
      source.bookmark();
      await clock.advance(60_000);
    }
    await clock.advance(1000);
    expect(source.calls).toEqual(['watch-list', `watch ${version}`, 'watch-list']);
    expect(stateOf(cache)).toEqual(source.state);
    await finish(all, running);
  });

  it('leaves out an object that the transform refuses, and holds no older state of it', async () => {
    const all = setUp({
      transform: (object) => {
        if (object.value < 0) throw new Error('unfit');
        return object;
      },
    });
    const { source, cache, mirror } = all;
    source.put('a', 1);
    source.put('bad', -1);
    const running = all.start();
    await settle();
    source.put('a', -1);
    await settle();
    source.put('a', 2);
    await settle();
    expect(mirror.log).toEqual(['initial added a', 'deleted a', 'added a']);
    expect(cache.size).toBe(1);
    await finish(all, running);
  });

  it('ends up equal to the server after any sequence of changes and faults, and reports a consistent history', async () => {
    const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const code = fc.constantFrom(0, 401, 403, 404, 410, 429, 500, 503);
    const command = fc.oneof(
      { weight: 4, arbitrary: fc.record({ op: fc.constant('put' as const), name }) },
      { weight: 2, arbitrary: fc.record({ op: fc.constant('delete' as const), name }) },
      { weight: 2, arbitrary: fc.record({ op: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 40_000 }) }) },
      fc.record({ op: fc.constant('break' as const), code }),
      fc.record({ op: fc.constant('fail' as const), code, times: fc.integer({ min: 1, max: 6 }) }),
      fc.constantFrom(...(['end', 'silence', 'compact', 'bookmark', 'repeat'] as const).map((op) => ({ op }))),
    );
    const server = fc.record({
      watchLists: fc.constantFrom('served' as const, 'refused' as const, 'failing-in-stream' as const),
      expiry: fc.constantFrom('status' as const, 'in-stream' as const),
    });
    await fc.assert(
      fc.asyncProperty(server, fc.array(command, { maxLength: 40 }), async (kind, commands) => {
        const all = setUp();
        const { source, cache, clock, mirror, reflector } = all;
        Object.assign(source, kind);
        const running = all.start();
        let value = 0;
        for (const each of commands) {
          if (each.op === 'put') source.put(each.name, value++);
          else if (each.op === 'delete') source.delete(each.name);
          else if (each.op === 'advance') await clock.advance(each.ms);
          else if (each.op === 'break') source.breakWatches(each.code);
          else if (each.op === 'fail') source.failNext(...Array.from({ length: each.times }, () => each.code));
          else if (each.op === 'end') source.endWatches();
          else if (each.op === 'silence') source.silence();
          else if (each.op === 'compact') source.compact();
          else if (each.op === 'bookmark') source.bookmark();
          else source.repeat();
          await settle(1);
          // The listener never knows anything else than the cache.
          expect(mirror.state).toEqual(stateOf(cache));
          expect(reflector.state.name).not.toBe('stopped');
        }
        source.heal();
        // The longest silence, then the longest Backoff, then one that follows a position that has expired meanwhile.
        await clock.advance(180_000 + 30_000);
        // A server sends one once a minute: no watch is given up for its silence at the end.
        source.bookmark();
        await clock.advance(30_000);
        expect(stateOf(cache)).toEqual(source.state);
        expect(mirror.state).toEqual(source.state);
        expect(reflector.state.name).toBe('watching');
        expect(source.openWatches).toBe(1);
        await finish(all, running);
      }),
      { numRuns: 150 },
    );
  });
});
