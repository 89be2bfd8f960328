import assert from 'node:assert/strict';

import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';

import { WatchCache, type CacheChange } from './cache.ts';
import { keyOf, type KubeObject, type Stored } from './types.ts';

interface Widget extends KubeObject {
  readonly spec: { readonly refs: readonly string[] };
}

const widget = (name: string, version: number, options: { uid?: string; refs?: readonly string[] } = {}): Stored<Widget> => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: {
    namespace: 'ns',
    name,
    uid: options.uid ?? `uid-${name}`,
    resourceVersion: String(version),
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  spec: { refs: options.refs ?? [] },
});

const byRef = { indexes: { ref: (object: Widget) => object.spec.refs } };
const types = (changes: readonly CacheChange<unknown>[]): string[] => changes.map((change) => change.type);
const names = (objects: readonly KubeObject[]): string[] => objects.map((object) => object.metadata.name).sort();

describe('WatchCache', () => {
  it('finds objects by key and by index, and follows changes of what is indexed', () => {
    const cache = new WatchCache<Widget>(byRef);
    cache.put(widget('a', 1, { refs: ['x', 'y', 'x'] }));
    cache.put(widget('b', 2, { refs: ['y'] }));
    expect(names(cache.byIndex('ref', 'y'))).toEqual(['a', 'b']);
    expect(names(cache.byIndex('ref', 'x'))).toEqual(['a']);
    cache.put(widget('a', 3, { refs: ['z'] }));
    expect(names(cache.byIndex('ref', 'x'))).toEqual([]);
    expect(names(cache.byIndex('ref', 'z'))).toEqual(['a']);
    cache.remove('ns/a');
    expect(names(cache.byIndex('ref', 'z'))).toEqual([]);
    expect(cache.get('ns/b')?.metadata.resourceVersion).toBe('2');
    expect(cache.size).toBe(1);
  });

  it('names the indexes there are when asked for one there is not', () => {
    expect(() => new WatchCache<Widget>(byRef).byIndex('name', 'x')).toThrow('no index "name"; there is ref');
  });

  it('takes an object of any depth', () => {
    let spec: object = {};
    for (let level = 0; level < 100_000; level += 1) spec = { not: spec };
    const cache = new WatchCache();
    expect(types(cache.put({ ...widget('deep', 1), spec } as Stored<KubeObject>))).toEqual(['added']);
    while ('not' in spec) spec = spec.not as object;
    expect(Object.isFrozen(spec)).toBe(true);
  });

  it('freezes what it holds, all the way down', () => {
    const cache = new WatchCache<Widget>();
    cache.put(widget('a', 1, { refs: ['x'] }));
    const held = cache.get('ns/a') as unknown as { spec: { refs: string[] } };
    expect(() => held.spec.refs.push('y')).toThrow(TypeError);
    expect(() => Object.assign(held, { spec: undefined })).toThrow(TypeError);
  });

  it('ignores what it has seen already and what is older', () => {
    const cache = new WatchCache<Widget>();
    cache.put(widget('a', 9));
    expect(cache.put(widget('a', 9))).toEqual([]);
    expect(cache.put(widget('a', 8))).toEqual([]);
    expect(cache.put(widget('a', 8, { uid: 'predecessor' }))).toEqual([]);
    expect(cache.get('ns/a')?.metadata.resourceVersion).toBe('9');
  });

  it('compares versions as integers, beyond what a double can hold', () => {
    const cache = new WatchCache<Widget>();
    cache.put({ ...widget('a', 0), metadata: { ...widget('a', 0).metadata, resourceVersion: '9007199254740993' } });
    const newer = { ...widget('a', 0), metadata: { ...widget('a', 0).metadata, resourceVersion: '9007199254740994' } };
    expect(types(cache.put(newer))).toEqual(['modified']);
    cache.put(widget('b', 9));
    expect(types(cache.put(widget('b', 10)))).toEqual(['modified']);
  });

  it('reports the deletion of an object that was replaced by a namesake', () => {
    const cache = new WatchCache<Widget>();
    cache.put(widget('a', 1, { uid: 'first' }));
    const changes = cache.put(widget('a', 5, { uid: 'second' }));
    expect(changes.map(({ type, object }) => [type, object.metadata.uid])).toEqual([
      ['deleted', 'first'],
      ['added', 'second'],
    ]);
    expect(cache.remove('ns/a', widget('a', 6, { uid: 'first' }))).toEqual([]);
    expect(cache.size).toBe(1);
  });

  it('replaces everything in one step and reports the deletions that were missed', async () => {
    const cache = new WatchCache<Widget>(byRef);
    await cache.replace(
      [widget('gone', 1, { refs: ['x'] }), widget('same', 2), widget('changed', 3), widget('reborn', 4, { uid: 'one' })],
      '4',
    );
    const same = cache.get('ns/same');
    const listing = [widget('same', 2), widget('changed', 7), widget('new', 8, { refs: ['x'] }), widget('reborn', 9, { uid: 'two' })];
    const changes = await cache.replace(listing, '10');
    expect(changes.map(({ type, object }) => `${type} ${object.metadata.name}`)).toEqual([
      'deleted gone',
      'deleted reborn',
      'modified changed',
      'added new',
      'added reborn',
    ]);
    expect(cache.get('ns/same')).toBe(same);
    expect(names(cache.byIndex('ref', 'x'))).toEqual(['new']);
    expect(cache.resourceVersion).toBe('10');
  });

  it('shows readers the old state until the new one is complete', async () => {
    const cache = new WatchCache<Widget>();
    await cache.replace([widget('old', 1)], '1');
    const seen = new Set<string>();
    const replaced = cache.replace(
      Array.from({ length: 20_000 }, (_, n) => widget(`new-${n}`, n + 2)),
      '30000',
    );
    const state = { done: false };
    void replaced.then(() => (state.done = true));
    while (!state.done) {
      seen.add(`${cache.size} ${cache.get('ns/old') !== undefined} ${cache.resourceVersion}`);
      await new Promise((resolve) => setImmediate(resolve));
    }
    seen.add(`${cache.size} ${cache.get('ns/old') !== undefined} ${cache.resourceVersion}`);
    expect([...seen].sort()).toEqual(['1 true 1', '20000 false 30000']);
  });

  it('leaves an object out of an index whose function throws, and says so', () => {
    const onIndexError = vi.fn<(error: unknown, index: string, key: string) => void>();
    const cache = new WatchCache<Widget>({
      indexes: {
        bad: () => {
          throw new Error('no');
        },
      },
      onIndexError,
    });
    expect(types(cache.put(widget('a', 1)))).toEqual(['added']);
    expect(cache.byIndex('bad', 'x')).toEqual([]);
    expect(onIndexError).toHaveBeenCalledWith(expect.any(Error), 'bad', 'ns/a');
  });

  describe('waitFor', () => {
    it('resolves when the cache gets there, by an event or by a bookmark alone', async () => {
      const cache = new WatchCache<Widget>();
      const reached: string[] = [];
      const waits = ['5', '12'].map(async (version) => {
        await cache.waitFor(version);
        reached.push(version);
      });
      cache.advanceTo('4');
      await Promise.resolve();
      expect(reached).toEqual([]);
      cache.advanceTo('10');
      await waits[0];
      expect(reached).toEqual(['5']);
      cache.advanceTo('12');
      await Promise.all(waits);
      await cache.waitFor('11');
    });

    it('rejects when the caller gives up, and when the cache is closed', async () => {
      const cache = new WatchCache<Widget>();
      const giveUp = new AbortController();
      const first = cache.waitFor('5', giveUp.signal);
      const second = cache.waitFor('5');
      giveUp.abort(new Error('enough'));
      await expect(first).rejects.toThrow('enough');
      cache.close(new Error('stopped'));
      await expect(second).rejects.toThrow('stopped');
      await expect(cache.waitFor('5')).rejects.toThrow('stopped');
    });

    it('refuses what is not a version', async () => {
      await expect(new WatchCache<Widget>().waitFor('abc')).rejects.toThrow(RangeError);
    });
  });

  it('equals a plain map and a full scan, whatever is put, removed and replaced', async () => {
    const name = fc.constantFrom('a', 'b', 'c');
    const state = fc.record({ name, uid: fc.constantFrom('u1', 'u2'), refs: fc.subarray(['x', 'y', 'z']) });
    const step = fc.oneof(
      state.map((object) => ({ op: 'put' as const, object })),
      name.map((key) => ({ op: 'remove' as const, key })),
      fc.uniqueArray(state, { selector: (object) => object.name }).map((objects) => ({ op: 'replace' as const, objects })),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const cache = new WatchCache<Widget>(byRef);
        const model = new Map<string, Stored<Widget>>();
        const replayed = new Map<string, string>();
        let version = 0;
        const follow = (changes: readonly CacheChange<Stored<Widget>>[]): void => {
          for (const { type, object } of changes) {
            assert.equal(replayed.has(object.metadata.name), type !== 'added');
            if (type === 'deleted') replayed.delete(object.metadata.name);
            else replayed.set(object.metadata.name, object.metadata.resourceVersion);
          }
        };
        for (const each of steps) {
          version++;
          if (each.op === 'put') {
            const object = widget(each.object.name, version, each.object);
            follow(cache.put(object));
            model.set(keyOf(object), object);
          } else if (each.op === 'remove') {
            follow(cache.remove(`ns/${each.key}`));
            model.delete(`ns/${each.key}`);
          } else {
            const objects = each.objects.map((object) => widget(object.name, version, object));
            follow(await cache.replace(objects, String(version)));
            model.clear();
            for (const object of objects) model.set(keyOf(object), object);
          }
          expect(names(cache.list())).toEqual(names([...model.values()]));
          expect(Object.fromEntries(replayed)).toEqual(
            Object.fromEntries(cache.list().map(({ metadata }) => [metadata.name, metadata.resourceVersion])),
          );
          for (const ref of ['x', 'y', 'z']) {
            expect(names(cache.byIndex('ref', ref))).toEqual(names([...model.values()].filter((object) => object.spec.refs.includes(ref))));
          }
        }
      }),
    );
  });
});
