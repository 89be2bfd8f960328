import { expect, it } from 'vitest';

import { aborted } from '../../../platform/aborted.ts';
import { settle } from '../../../test/support/fake-clock.ts';
import { AboutAgent } from './about-agent.ts';
import { follow } from './collect.ts';
import type { LogLine } from './line.ts';
import type { LogSource, ReadLogsOptions } from './sources.ts';

const start = Date.now() + 60_000;
const line = (msg: string, ms: number, fields: object = {}): string =>
  JSON.stringify({ level: 'info', time: start + ms, org: 'acme', agent: 'reception', msg, ...fields });

/** Serves a log as the API server does: by time, and with an end now and then. */
class Log implements LogSource {
  readonly name = 'parley-voice-0';
  readonly role = 'voice';
  readonly restarted = false;
  readonly asked: (number | undefined)[] = [];
  readonly #lines: string[] = [];
  #cut = new AbortController();

  write(...lines: readonly string[]): void {
    this.#lines.push(...lines);
  }

  /** Ends the streams that are open. */
  cut(): void {
    this.#cut.abort();
    this.#cut = new AbortController();
  }

  async *read({ since = 0, signal }: ReadLogsOptions): AsyncGenerator<string> {
    this.asked.push(since);
    const end = AbortSignal.any([this.#cut.signal, signal]);
    // Some servers read whole seconds of the time.
    const from = Math.floor(since / 1_000) * 1_000;
    yield* this.#lines.filter((each) => (JSON.parse(each) as { readonly time: number }).time >= from);
    await aborted(end);
  }
}

it('goes on where it was when a stream has ended: no line is repeated, and none is left out', async () => {
  const log = new Log();
  const stop = new AbortController();
  const printed: string[] = [];
  const tasks: (() => void)[] = [];
  log.write(line('one', 1_000), line('two', 2_000), line('first of three', 3_000));
  const following = follow({
    about: new AboutAgent({ namespace: 'acme', name: 'reception', uid: undefined, callId: undefined }),
    since: start + 1_500,
    level: 'info',
    signal: stop.signal,
    onProblem: (_, error) => {
      throw error;
    },
    print: ({ fields }: LogLine) => void printed.push(String(fields['msg'])),
    sources: () => Promise.resolve([log]),
    every: (_, task) => {
      tasks.push(task);
      return () => undefined;
    },
  });
  const everything = async (): Promise<void> => {
    await settle();
    for (const task of tasks) task();
    await settle();
  };
  await everything();
  expect(printed).toEqual(['two', 'first of three']);

  log.cut();
  // The first line is of the same millisecond, the second of a moment later.
  log.write(line('second of three', 3_000), line('four', 4_000));
  await everything();
  await everything();
  expect(printed).toEqual(['two', 'first of three', 'second of three', 'four']);
  expect(log.asked).toEqual([start + 1_500, start + 3_000]);

  stop.abort();
  await following;
});
