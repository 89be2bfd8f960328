/** Runs the process that speaks and listens, started once and asked over and over. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

import { parseJson } from '../../platform/json.ts';
import { helperProgram } from './helper-program.ts';

export interface HelperOptions {
  /** A Python that has espeakng-loader and pocketsphinx. */
  readonly python: string;
  readonly onLog: (line: string) => void;
}

interface Answer extends Readonly<Record<string, unknown>> {
  readonly id?: number;
  readonly ready?: boolean;
  readonly problem?: string;
  readonly problems?: Readonly<Record<string, string>>;
}

/** The helper loads its models within this many milliseconds, also on a busy machine. */
const START_MS = 120_000;

export class Helper {
  readonly #options: HelperOptions;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #child: Promise<ChildProcessWithoutNullStreams> | undefined;
  #problems: Readonly<Record<string, string>> = {};
  #last = 0;
  #closed = false;

  constructor(options: HelperOptions) {
    this.#options = options;
  }

  /** Loads everything. @throws Error when it does not start */
  async start(): Promise<Readonly<Record<string, string>>> {
    await this.#running();
    return this.#problems;
  }

  /** @throws Error with the helper's own complaint, or when it ends meanwhile */
  async ask(question: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>> {
    const child = await this.#running();
    const id = (this.#last += 1);
    const { promise, resolve } = Promise.withResolvers<Answer>();
    this.#waiting.set(id, resolve);
    child.stdin.write(`${JSON.stringify({ ...question, id })}\n`);
    const answer = await promise;
    if (answer.problem !== undefined) throw new Error(answer.problem);
    return answer;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const child = await this.#child?.catch(() => undefined);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  }

  /** Returns the process that runs, or a new one in place of one that has ended. */
  #running(): Promise<ChildProcessWithoutNullStreams> {
    if (this.#closed) return Promise.reject(new Error('the helper is closed'));
    this.#child ??= this.#spawn();
    return this.#child;
  }

  async #spawn(): Promise<ChildProcessWithoutNullStreams> {
    const child = spawn(this.#options.python, ['-c', helperProgram], { stdio: ['pipe', 'pipe', 'pipe'] });
    const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
    const timer = setTimeout(() => reject(new Error(`the helper did not start within ${START_MS} ms`)), START_MS);
    createInterface({ input: child.stdout }).on('line', (line) => {
      const answer = parseJson(line) as Answer | undefined;
      if (answer === undefined) this.#options.onLog(line);
      else if (answer.ready === true) {
        this.#problems = answer.problems ?? {};
        resolve();
      } else if (answer.id !== undefined) {
        this.#waiting.get(answer.id)?.(answer);
        this.#waiting.delete(answer.id);
      }
    });
    createInterface({ input: child.stderr }).on('line', this.#options.onLog);
    child.stdin.on('error', () => undefined);
    child.on('error', reject);
    child.once('exit', () => {
      this.#child = undefined;
      reject(new Error('the helper has ended'));
      for (const [id, answer] of this.#waiting) answer({ id, problem: 'the helper has ended' });
      this.#waiting.clear();
    });
    try {
      await ready;
      return child;
    } catch (error) {
      this.#child = undefined;
      child.kill('SIGKILL');
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}
