import assert from 'node:assert/strict';

import * as fc from 'fast-check';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';

import { FakeClock, settle } from '../test/support/fake-clock.ts';
import { countTurns } from '../test/support/count-turns.ts';
import { WorkQueue } from './work-queue.ts';

const setUp = (options: { readonly registry?: Registry } = {}) => {
  const clock = new FakeClock();
  const queue = new WorkQueue<string>({ name: 'widgets', clock, random: () => 0, ...options });
  return { clock, queue };
};

/** A handler whose passes end when the test says so. */
class Gate {
  readonly started: string[] = [];
  readonly #open = new Map<string, PromiseWithResolvers<void>>();

  readonly handle = async (key: string): Promise<void> => {
    assert(!this.#open.has(key), `${key} is handled twice at once`);
    this.started.push(key);
    const pass = Promise.withResolvers<void>();
    this.#open.set(key, pass);
    await pass.promise;
  };

  get inFlight(): readonly string[] {
    return [...this.#open.keys()];
  }

  async finish(key: string, error?: Error): Promise<void> {
    const pass = this.#open.get(key);
    this.#open.delete(key);
    if (error) pass?.reject(error);
    else pass?.resolve();
    await settle();
  }
}

describe('WorkQueue', () => {
  it('makes one pass of a hundred adds, and one more of a hundred during that pass', async () => {
    const { queue } = setUp();
    const gate = new Gate();
    for (let n = 0; n < 100; n++) queue.add('a');
    const running = queue.run({ concurrency: 3, handle: gate.handle });
    await settle();
    for (let n = 0; n < 100; n++) queue.add('a');
    await settle();
    expect(gate.started).toEqual(['a']);
    await gate.finish('a');
    expect(gate.started).toEqual(['a', 'a']);
    await gate.finish('a');
    expect(gate.started).toEqual(['a', 'a']);
    queue.shutDown();
    await running;
  });

  it('handles as many keys at once as configured', async () => {
    const { queue } = setUp();
    const gate = new Gate();
    for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
    const running = queue.run({ concurrency: 2, handle: gate.handle });
    await settle();
    expect(gate.inFlight).toEqual(['a', 'b']);
    await gate.finish('b');
    expect(gate.inFlight).toEqual(['a', 'c']);
    for (const key of ['a', 'c', 'd']) await gate.finish(key);
    queue.shutDown();
    await running;
  });

  it('brings a key that failed back after 5 ms, doubling to five minutes, and starts over after a success', async () => {
    const { clock, queue } = setUp();
    const passes: number[] = [];
    let failing = true;
    const running = queue.run({
      concurrency: 1,
      handle: async () => {
        passes.push(clock.monotonic());
        if (failing) throw new Error('not yet');
      },
    });
    queue.add('a');
    await clock.advanceUntil(() => passes.length === 20, { stepMs: 60_000 });
    const gaps = passes.slice(1).map((at, n) => at - (passes[n] ?? 0));
    expect(gaps).toEqual(gaps.map((_, n) => Math.min(5 * 2 ** n, 300_000)));
    expect(queue.failures('a')).toBe(20);
    failing = false;
    await clock.advance(300_000);
    expect(queue.failures('a')).toBe(0);
    queue.shutDown();
    await running;
  });

  it('lets a handler ask for its own backoff without forgetting it', async () => {
    const { clock, queue } = setUp();
    let passes = 0;
    const running = queue.run({
      concurrency: 1,
      handle: async (key) => {
        if (++passes < 4) queue.addRateLimited(key);
      },
    });
    queue.add('a');
    await clock.advance(4);
    expect([passes, queue.failures('a')]).toEqual([1, 1]);
    await clock.advance(5 + 10 + 20);
    expect([passes, queue.failures('a')]).toEqual([4, 0]);
    queue.shutDown();
    await running;
  });

  it('adds later keys at their time, on one timer, and the earlier of two times holds', async () => {
    const { clock, queue } = setUp();
    for (let n = 0; n < 50; n++) queue.addAfter(`k${n}`, 1000 + n);
    queue.addAfter('k49', 10);
    queue.addAfter('k49', 5000);
    expect(clock.timers).toBe(1);
    await clock.advance(10);
    expect([queue.depth, clock.timers]).toEqual([1, 1]);
    await clock.advance(1040);
    expect([queue.depth, clock.timers]).toEqual([50, 0]);
  });

  it('serves a user change before what came from the first listing, and that before a resync', async () => {
    const { queue } = setUp();
    const order: string[] = [];
    queue.add('resync', { priority: 'resync' });
    queue.add('initial', { priority: 'initial' });
    queue.add('user');
    queue.shutDown();
    await queue.run({ concurrency: 1, handle: async (key) => void order.push(key) });
    expect(order).toEqual(['user', 'initial', 'resync']);
  });

  it('keeps the priority of a key through its failures', async () => {
    const { clock, queue } = setUp();
    const order: string[] = [];
    const held = Promise.withResolvers<void>();
    queue.add('old', { priority: 'resync' });
    const running = queue.run({
      concurrency: 1,
      handle: async (key) => {
        order.push(key);
        if (order.length === 1) throw new Error('once');
        if (key === 'blocker') await held.promise;
      },
    });
    await settle();
    queue.add('blocker');
    await clock.advance(100);
    queue.add('new');
    held.resolve();
    queue.shutDown();
    await running;
    expect(order).toEqual(['old', 'blocker', 'new', 'old']);
  });

  it('takes nothing more once it is shut down, handles what is there, and drops what is not due', async () => {
    const { clock, queue } = setUp();
    const gate = new Gate();
    const running = queue.run({ concurrency: 1, handle: gate.handle });
    queue.add('a');
    queue.add('b');
    queue.addAfter('c', 1000);
    await settle();
    queue.shutDown();
    queue.add('d');
    await gate.finish('a');
    await gate.finish('b');
    await running;
    await clock.advance(2000);
    expect([gate.started, clock.timers]).toEqual([['a', 'b'], 0]);
  });

  it('ends a run at its signal, keeps the keys, and holds nothing against the one that was cut off', async () => {
    const { queue } = setUp();
    const stop = new AbortController();
    for (const key of ['a', 'b', 'c']) queue.add(key);
    const first = queue.run({
      concurrency: 1,
      signal: stop.signal,
      handle: (_key, signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    });
    await settle();
    stop.abort(new Error('no longer leader'));
    await first;
    expect([queue.depth, queue.failures('a')]).toEqual([3, 0]);
    const handled: string[] = [];
    queue.shutDown();
    await queue.run({ concurrency: 1, handle: async (key) => void handled.push(key) });
    expect(handled.sort()).toEqual(['a', 'b', 'c']);
  });

  it('survives a reporter that throws', async () => {
    const { queue } = setUp();
    const errors: unknown[] = [];
    const running = queue.run({
      concurrency: 1,
      handle: async (key) => {
        if (key === 'bad') throw new Error('handler');
      },
      onError: (error, key, failures) => {
        errors.push([String(error), key, failures]);
        throw new Error('reporter');
      },
    });
    queue.add('bad');
    queue.add('good');
    await settle();
    expect(errors).toEqual([['Error: handler', 'bad', 1]]);
    expect(queue.depth).toBe(0);
    queue.shutDown();
    await running;
  });

  it('lets other work run while handlers that never wait use up a long queue', async () => {
    const { queue } = setUp();
    for (let n = 0; n < 1_000; n++) queue.add(`k${n}`);
    queue.shutDown();
    expect(await countTurns(() => queue.run({ concurrency: 1, handle: async () => undefined }))).toBeGreaterThanOrEqual(1_000);
    expect(queue.depth).toBe(0);
  });

  it("reports under client-go's names, for several queues of one registry", async () => {
    const registry = new Registry();
    const { clock, queue } = setUp({ registry });
    const other = new WorkQueue<string>({ name: 'others', clock, registry });
    const gate = new Gate();
    queue.add('a');
    queue.add('b');
    other.add('x');
    await clock.advance(2000);
    const running = queue.run({ concurrency: 1, handle: gate.handle });
    await clock.advance(3000);
    const text = await registry.metrics();
    for (const line of [
      'workqueue_depth{name="widgets"} 1',
      'workqueue_depth{name="others"} 1',
      'workqueue_adds_total{name="widgets"} 2',
      'workqueue_retries_total{name="widgets"} 0',
      'workqueue_queue_duration_seconds_sum{name="widgets"} 2',
      'workqueue_unfinished_work_seconds{name="widgets"} 3',
      'workqueue_longest_running_processor_seconds{name="widgets"} 3',
    ]) {
      expect(text).toContain(line);
    }
    await gate.finish('a', new Error('no'));
    await gate.finish('b');
    expect(await registry.metrics()).toContain('workqueue_retries_total{name="widgets"} 1');
    expect(await registry.metrics()).toContain('workqueue_work_duration_seconds_count{name="widgets"} 2');
    queue.shutDown();
    await running;
  });

  it('loses no key and doubles none, whatever is added, finished, failed and waited for', async () => {
    const key = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const step = fc.oneof(
      fc.record({
        op: fc.constant('add' as const),
        key,
        priority: fc.constantFrom('user' as const, 'initial' as const, 'resync' as const),
      }),
      fc.record({ op: fc.constant('addAfter' as const), key, ms: fc.integer({ min: -1, max: 50 }) }),
      fc.record({ op: fc.constant('finish' as const), nth: fc.nat(3), fails: fc.boolean() }),
      fc.record({ op: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 60 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 3 }), async (steps, concurrency) => {
        const { clock, queue } = setUp();
        const gate = new Gate();
        const running = queue.run({ concurrency, handle: gate.handle });
        /** Keys that owe a pass which begins from now on, and the times at which others come to owe one: of two for one key, the earlier. */
        const owed = new Set<string>();
        const delayed = new Map<string, number>();
        let seen = 0;
        const settleStarted = (): void => {
          for (const [which, at] of delayed) {
            if (at > clock.monotonic()) continue;
            delayed.delete(which);
            owed.add(which);
          }
          for (const started of gate.started.slice(seen)) owed.delete(started);
          seen = gate.started.length;
        };
        const owe = (which: string, inMs: number): void => {
          if (inMs > 0) delayed.set(which, Math.min(clock.monotonic() + inMs, delayed.get(which) ?? Infinity));
          else owed.add(which);
        };
        for (const each of steps) {
          if (each.op === 'add') {
            owe(each.key, 0);
            queue.add(each.key, { priority: each.priority });
          } else if (each.op === 'addAfter') {
            owe(each.key, each.ms);
            queue.addAfter(each.key, each.ms);
          } else if (each.op === 'advance') {
            await clock.advance(each.ms);
          } else {
            const finished = gate.inFlight[each.nth % Math.max(1, gate.inFlight.length)];
            if (finished === undefined) continue;
            const failures = queue.failures(finished);
            if (each.fails) owe(finished, 5 * 2 ** failures);
            await gate.finish(finished, each.fails ? new Error('fails') : undefined);
          }
          await settle(2);
          settleStarted();
          expect(gate.inFlight.length).toBeLessThanOrEqual(concurrency);
          expect(
            queue.depth === 0 || gate.inFlight.length === concurrency || gate.inFlight.length === 5,
            'a worker sleeps while keys wait',
          ).toBe(true);
        }
        // Whatever is owed gets its pass once the handlers let go.
        await clock.advance(600_000);
        for (let rounds = 0; rounds < 200 && (gate.inFlight.length > 0 || queue.depth > 0); rounds++) {
          for (const each of gate.inFlight) await gate.finish(each);
          settleStarted();
        }
        expect([...owed, ...delayed.keys()]).toEqual([]);
        expect([queue.depth, clock.timers]).toEqual([0, 0]);
        queue.shutDown();
        await running;
      }),
      { numRuns: 60 },
    );
  });
});
