import { beforeEach, describe, expect, it } from 'vitest';

import { createLogger } from '../../platform/logging.ts';
import type { CallMessage } from '../../store/index.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { LogWriter } from './log-writer.ts';

const message = (seq: number): { readonly message: CallMessage } => ({
  message: { seq, role: 'user', content: `${seq}`, spokenAt: new Date(seq), interrupted: false, sources: null },
});
const settled = () => new Promise((resolve) => setImmediate(resolve));

let clock: FakeClock;
let written: number[];
let broken: boolean;
let writer: LogWriter;

beforeEach(() => {
  clock = new FakeClock();
  written = [];
  broken = false;
  writer = new LogWriter({
    log: {
      async add(_call, { messages = [] }) {
        if (broken) throw new Error('Postgres is away');
        written.push(...messages.map(({ seq }) => seq));
      },
    },
    call: { org: 'o', id: 'c' },
    clock,
    logger: createLogger({ role: 'voice', level: 'silent' }),
  });
});

describe('a writer', () => {
  it('writes at once and in order', async () => {
    writer.add([message(1), message(2)]);
    writer.add([message(3)]);
    await settled();
    expect(written).toEqual([1, 2, 3]);
    expect(await writer.close({ withinMs: 1_000 })).toBe(0);
  });

  it.each(Array.from({ length: 16 }, (_, index) => index))('writes what comes %i microtasks after a beginning', async (microtasks) => {
    writer.add([message(1)]);
    for (let waited = 0; waited < microtasks; waited += 1) await Promise.resolve();
    writer.add([message(2)]);
    await settled();
    expect(written).toEqual([1, 2]);
  });

  it('tries again, less and less often, and loses nothing', async () => {
    broken = true;
    writer.add([message(1)]);
    for (const pause of [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000]) {
      await settled();
      expect(clock.nextIn).toBe(pause);
      clock.tick(pause);
    }
    await settled();
    writer.add([message(2)]);
    broken = false;
    clock.tick(5_000);
    await settled();
    expect(written).toEqual([1, 2]);
    // The next trouble begins with a short pause again.
    broken = true;
    writer.add([message(3)]);
    await settled();
    expect(clock.nextIn).toBe(250);
  });

  it('closes when all is written, or when it has waited long enough, and says what is lost', async () => {
    broken = true;
    writer.add([message(1), message(2)]);
    await settled();
    const closed = writer.close({ withinMs: 30_000 });
    clock.tick(30_000);
    expect(await closed).toBe(2);
    expect(clock.timers).toBe(0);
  });

  it('stores at its end what was used while the last words were written', async () => {
    const kept: number[] = [];
    let used = 1;
    const { promise, resolve } = Promise.withResolvers<void>();
    const late = new LogWriter({
      log: {
        async add(_call, { usage }) {
          await promise;
          kept.push(...(usage as unknown as readonly number[]));
        },
      },
      call: { org: 'o', id: 'c' },
      usage: {
        settled: () => Promise.resolve(),
        takeUnstored() {
          const taken = used;
          used = 0;
          return (taken === 0 ? [] : [taken]) as never;
        },
        notStored: () => undefined,
      },
      clock,
      logger: createLogger({ role: 'voice', level: 'silent' }),
    });
    late.add([message(1)]);
    await settled();
    used = 2;
    const closed = late.close({ withinMs: 1_000 });
    await settled();
    resolve();
    expect(await closed).toBe(0);
    expect(kept).toEqual([1, 2]);
  });
});
