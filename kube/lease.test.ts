import assert from 'node:assert/strict';

import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { FakeClock, settle } from '../test/support/fake-clock.ts';
import { KubeError } from './error.ts';
import type { Lease, LeaseSpec } from './lease-record.ts';
import { LeaderElector, LeadershipLostError, type LeaderElectorOptions } from './lease.ts';
import type { KubeRequestOptions } from './resource-client.ts';
import type { Stored } from './types.ts';

/** One Lease with the server's optimistic locking, reached through lines that can be cut or made to hang. */
class LeaseServer {
  stored: Stored<Lease> | undefined;
  writes = 0;
  readonly #clock: FakeClock;
  #version = 1;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  line(): LeaderElectorOptions['client'] & { broken: 'no' | 'refusing' | 'hanging' | 'losing-answers' } {
    const line = {
      broken: 'no' as 'no' | 'refusing' | 'hanging' | 'losing-answers',
      get: async (_ref: unknown, options: KubeRequestOptions = {}) => this.#pass(line.broken, options, () => this.#get()),
      create: async (lease: Lease, options: KubeRequestOptions = {}) => this.#pass(line.broken, options, () => this.#create(lease)),
      update: async (lease: Lease, options: KubeRequestOptions = {}) => this.#pass(line.broken, options, () => this.#update(lease)),
    };
    return line;
  }

  #get(): Stored<Lease> {
    if (!this.stored) throw new KubeError({ code: 404, reason: 'NotFound', message: 'not found' });
    return this.stored;
  }

  #create(lease: Lease): Stored<Lease> {
    if (this.stored) throw new KubeError({ code: 409, reason: 'AlreadyExists', message: 'exists' });
    return this.#store(lease);
  }

  #update(lease: Lease): Stored<Lease> {
    if (!this.stored) throw new KubeError({ code: 404, reason: 'NotFound', message: 'not found' });
    if (lease.metadata.resourceVersion !== this.stored.metadata.resourceVersion)
      throw new KubeError({ code: 409, reason: 'Conflict', message: 'modified' });
    return this.#store(lease);
  }

  #store(lease: Lease): Stored<Lease> {
    this.writes++;
    const metadata = { ...lease.metadata, uid: 'u', creationTimestamp: '2026-01-01T00:00:00Z', resourceVersion: String(++this.#version) };
    this.stored = { ...lease, metadata };
    return this.stored;
  }

  async #pass<T>(
    broken: 'no' | 'refusing' | 'hanging' | 'losing-answers',
    { signal, timeoutMs = 30_000 }: KubeRequestOptions,
    work: () => T,
  ): Promise<T> {
    if (broken === 'refusing') throw new KubeError({ code: 503, reason: 'ServiceUnavailable', message: 'no' });
    if (broken === 'losing-answers') work();
    if (broken !== 'no') {
      return new Promise((_, reject) => {
        const timer = this.#clock.after(timeoutMs, () => reject(new KubeError({ code: 0, reason: 'Timeout', message: 'too long' })));
        const abort = (): void => {
          timer.cancel();
          reject(new KubeError({ code: 0, reason: 'Aborted', message: 'aborted' }));
        };
        if (signal?.aborted) abort();
        signal?.addEventListener('abort', abort);
      });
    }
    return work();
  }
}

class Candidate {
  readonly line;
  readonly stop = new AbortController();
  readonly terms: { readonly from: number; to?: number }[] = [];
  readonly running: Promise<void>;

  constructor(server: LeaseServer, clock: FakeClock, identity: string, options: Partial<LeaderElectorOptions> = {}) {
    this.line = server.line();
    const elector = new LeaderElector({
      client: this.line,
      namespace: 'ns',
      name: 'op',
      identity,
      clock: clock,
      random: () => 0,
      ...options,
    });
    this.running = elector.run({
      signal: this.stop.signal,
      onStarted: async (signal) => {
        const term: { readonly from: number; to?: number } = { from: clock.monotonic() };
        this.terms.push(term);
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
        term.to = clock.monotonic();
      },
    });
  }

  get leads(): boolean {
    return this.terms.at(-1) !== undefined && this.terms.at(-1)?.to === undefined;
  }
}

const setUp = (): { readonly clock: FakeClock; readonly server: LeaseServer } => {
  const clock = new FakeClock();
  return { clock, server: new LeaseServer(clock) };
};

const spec = (server: LeaseServer): LeaseSpec => server.stored?.spec ?? {};

describe('LeaderElector', () => {
  it('creates the lease, renews it every two seconds, and counts no transition for that', async () => {
    const { clock, server } = setUp();
    const a = new Candidate(server, clock, 'a');
    await settle();
    expect(a.leads).toBe(true);
    const created = spec(server);
    expect(created).toEqual({
      holderIdentity: 'a',
      leaseDurationSeconds: 15,
      acquireTime: '2026-01-01T00:00:00.000000Z',
      renewTime: '2026-01-01T00:00:00.000000Z',
      leaseTransitions: 0,
    });
    await clock.advance(60_000);
    expect(server.writes).toBe(31);
    expect(spec(server)).toEqual({ ...created, renewTime: '2026-01-01T00:01:00.000000Z' });
    expect(a.terms).toHaveLength(1);
    a.stop.abort();
    await a.running;
  });

  it('takes over a silent holder 15 seconds after it saw the last renewal, whatever the wall clocks say', async () => {
    const { clock, server } = setUp();
    const a = new Candidate(server, clock, 'a');
    await clock.advance(5000);
    const b = new Candidate(server, clock, 'b');
    await clock.advance(5000);
    a.line.broken = 'hanging';
    const silentSince = clock.monotonic();
    clock.jump(3_600_000);
    await clock.advanceUntil(() => b.leads);
    const took = clock.monotonic() - silentSince;
    expect(took).toBeGreaterThan(15_000 - 2_000);
    expect(took).toBeLessThanOrEqual(17_000);
    expect(a.terms[0]?.to).toBeLessThan(b.terms[0]?.from ?? 0);
    expect(spec(server)).toMatchObject({ holderIdentity: 'b', leaseTransitions: 1 });
    for (const each of [a, b]) each.stop.abort();
    a.line.broken = 'no';
    await Promise.all([a.running, b.running]);
  });

  it('stops ten seconds after the last renewal it sent, when requests hang and when they are refused', async () => {
    for (const how of ['hanging', 'refusing', 'losing-answers'] as const) {
      const { clock, server } = setUp();
      const a = new Candidate(server, clock, 'a');
      await clock.advance(4000);
      a.line.broken = how;
      await clock.advance(30_000);
      expect({ how, terms: a.terms }).toEqual({ how, terms: [{ from: 0, to: 14_000 }] });
      a.line.broken = 'no';
      await clock.advance(20_000);
      expect({ how, leads: a.leads }).toEqual({ how, leads: true });
      a.stop.abort();
      await a.running;
    }
  });

  it('rides out a short outage', async () => {
    const { clock, server } = setUp();
    const a = new Candidate(server, clock, 'a');
    await clock.advance(4000);
    a.line.broken = 'refusing';
    await clock.advance(7900);
    a.line.broken = 'no';
    await clock.advance(60_000);
    expect(a.terms).toHaveLength(1);
    expect(a.leads).toBe(true);
    a.stop.abort();
    await a.running;
  });

  it('releases the lease when it stops, after its work has ended, and the next takes it within a retry', async () => {
    const { clock, server } = setUp();
    const a = new Candidate(server, clock, 'a');
    await settle();
    const b = new Candidate(server, clock, 'b');
    await clock.advance(10_000);
    a.stop.abort();
    await a.running;
    expect(spec(server)).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
    const releasedAt = clock.monotonic();
    await clock.advanceUntil(() => b.leads);
    expect(clock.monotonic() - releasedAt).toBeLessThanOrEqual(2000);
    expect(spec(server)).toMatchObject({ holderIdentity: 'b', leaseDurationSeconds: 15, leaseTransitions: 1 });
    b.stop.abort();
    await b.running;
  });

  it('releases also when a renewal was under way whose answer never came', async () => {
    const { clock, server } = setUp();
    const a = new Candidate(server, clock, 'a');
    await clock.advance(1500);
    a.line.broken = 'losing-answers';
    await clock.advance(1000);
    a.line.broken = 'no';
    a.stop.abort();
    await a.running;
    expect(spec(server).holderIdentity).toBe('');
  });

  it('leaves no lease behind when it is stopped while it takes it', async () => {
    const { clock, server } = setUp();
    const seed = server.line();
    await seed.create({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { namespace: 'ns', name: 'op' },
      spec: { holderIdentity: '' },
    });
    const line = server.line();
    // The record is read, then the answer to the write is lost.
    const update = line.update;
    line.update = async (lease, options) => {
      line.broken = 'losing-answers';
      return update(lease, options);
    };
    const stop = new AbortController();
    const elector = new LeaderElector({ client: line, namespace: 'ns', name: 'op', identity: 'a', clock });
    const running = elector.run({ signal: stop.signal, onStarted: async () => undefined });
    await settle();
    expect(spec(server).holderIdentity).toBe('a');
    line.update = update;
    line.broken = 'no';
    stop.abort();
    await running;
    expect(spec(server).holderIdentity).toBe('');
  });

  it('does not release before the work has ended', async () => {
    const { clock, server } = setUp();
    const work = Promise.withResolvers<void>();
    const stop = new AbortController();
    const elector = new LeaderElector({ client: server.line(), namespace: 'ns', name: 'op', identity: 'a', clock });
    const running = elector.run({ signal: stop.signal, onStarted: () => work.promise });
    await settle();
    stop.abort();
    await clock.advance(5000);
    expect(spec(server).holderIdentity).toBe('a');
    work.resolve();
    await running;
    expect(spec(server).holderIdentity).toBe('');
  });

  it('steps down at once when it sees that another holds the lease, and leaves that lease alone', async () => {
    const { clock, server } = setUp();
    const a = new Candidate(server, clock, 'a');
    await clock.advance(3000);
    const thief = server.line();
    await thief.update({ ...(server.stored as Stored<Lease>), spec: { ...spec(server), holderIdentity: 'thief' } });
    await clock.advance(2000);
    expect(a.leads).toBe(false);
    a.stop.abort();
    await a.running;
    expect(spec(server).holderIdentity).toBe('thief');
  });

  it('keeps leading when somebody edits a label of the lease', async () => {
    const { clock, server } = setUp();
    const a = new Candidate(server, clock, 'a');
    await clock.advance(3000);
    const stored = server.stored as Stored<Lease>;
    await server.line().update({ ...stored, metadata: { ...stored.metadata, labels: { touched: 'yes' } } });
    await clock.advance(60_000);
    expect(a.terms).toHaveLength(1);
    expect(server.stored?.metadata.labels).toEqual({ touched: 'yes' });
    a.stop.abort();
    await a.running;
  });

  it('resolves when the work is done, throws what the work throws, and releases either way', async () => {
    const { clock, server } = setUp();
    const elector = new LeaderElector({ client: server.line(), namespace: 'ns', name: 'op', identity: 'a', clock });
    const { signal } = new AbortController();
    await elector.run({ signal, onStarted: async () => undefined });
    expect(spec(server).holderIdentity).toBe('');
    const failing = elector.run({
      signal,
      onStarted: async () => {
        throw new Error('work failed');
      },
    });
    await expect(failing).rejects.toThrow('work failed');
    expect(spec(server).holderIdentity).toBe('');
    expect(clock.timers).toBe(0);
  });

  it('gives the work the reason why it ends', async () => {
    const { clock, server } = setUp();
    const line = server.line();
    const reasons: unknown[] = [];
    const stop = new AbortController();
    const elector = new LeaderElector({ client: line, namespace: 'ns', name: 'op', identity: 'a', clock });
    const running = elector.run({
      signal: stop.signal,
      onStarted: (signal) =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            reasons.push(signal.reason);
            reject(signal.reason);
          }),
        ),
    });
    await settle();
    line.broken = 'refusing';
    await clock.advance(11_000);
    expect(reasons).toEqual([expect.any(LeadershipLostError)]);
    stop.abort();
    await clock.advance(10_000);
    await running;
  });

  it('never has two leaders, and always one in the end, whatever lines break and candidates stop', async () => {
    const who = fc.nat(2);
    const command = fc.oneof(
      fc.record({
        op: fc.constant('line' as const),
        who,
        broken: fc.constantFrom('no' as const, 'refusing' as const, 'hanging' as const, 'losing-answers' as const),
      }),
      fc.record({ op: fc.constant('restart' as const), who }),
      { weight: 2, arbitrary: fc.record({ op: fc.constant('advance' as const), ms: fc.integer({ min: 1, max: 20_000 }) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 25 }), fc.double({ min: 0, max: 0.99, noNaN: true }), async (commands, chance) => {
        const { clock, server } = setUp();
        let count = 0;
        const begin = (): Candidate => new Candidate(server, clock, `c${count++}`, { random: () => chance });
        const candidates = [begin(), begin(), begin()];
        const all = [...candidates];
        const leaders = (): readonly Candidate[] => all.filter((candidate) => candidate.leads);
        for (const each of commands) {
          const candidate = candidates[each.op === 'advance' ? 0 : each.who];
          if (!candidate) continue;
          if (each.op === 'line') candidate.line.broken = each.broken;
          else if (each.op === 'restart') {
            candidate.stop.abort();
            const fresh = begin();
            candidates[each.who] = fresh;
            all.push(fresh);
          } else {
            for (let left = each.ms; left > 0; left -= 500) {
              await clock.advance(Math.min(left, 500));
              assert(leaders().length <= 1, 'two lead');
            }
          }
        }
        for (const candidate of all) candidate.line.broken = 'no';
        await clock.advance(40_000);
        expect(leaders()).toHaveLength(1);
        // A term that another one overlaps would be two leaders, between two looks as well.
        const terms = all.flatMap((candidate) => candidate.terms).sort((x, y) => x.from - y.from);
        terms.forEach((term, n) =>
          expect(terms[n + 1]?.from ?? Infinity).toBeGreaterThanOrEqual(term.to ?? (n + 1 < terms.length ? Infinity : 0)),
        );
        for (const candidate of all) candidate.stop.abort();
        await Promise.all(all.map((candidate) => candidate.running));
      }),
      { numRuns: 60 },
    );
  });
});
