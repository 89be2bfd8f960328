import { totalsOf, type ReportedResult } from '../../agent-tests/reports/report.ts';
import { ConfigError } from '../../platform/config/config.ts';
import { openTracing } from '../../platform/telemetry/open-tracing.ts';
import { inSpan } from '../../platform/telemetry/tracing.ts';
import { version } from '../../platform/version.ts';
import { Semaphore } from '../../platform/semaphore.ts';
import { UserError } from '../../platform/user-error.ts';
import { UnreadableFileError } from '../agent-files/documents.ts';
import { agentKey, loadWorkspace, type Workspace } from '../agent-files/workspace.ts';
import type { Io } from '../kubectl/io.ts';
import { ConsoleReporter } from '../kubectl/test/console-reporter.ts';
import { writeJunit } from '../kubectl/test/junit-file.ts';
import { writeAs, type Format } from '../output.ts';
import { pairsOf, runPair, type Pair, type TestMode } from './run-workspace.ts';
import { openTextServices, type OpenTextServices } from './text-services.ts';

export interface TestCommandOptions {
  readonly paths: readonly string[];
  readonly agents: readonly string[];
  readonly tests: readonly string[];
  readonly junit: string | undefined;
  readonly format: Format;
  readonly mode: TestMode;
  readonly concurrency: number;
  readonly repeat: number | undefined;
}

/** The process ends with one of these codes. */
const EXIT = { passed: 0, failed: 1, usage: 2 } as const;

/** The files are bad, or the chosen tests are not there: nothing was run. */
export class TestUsageError extends UserError {
  constructor(message: string, options: { readonly cure?: string; readonly cause?: unknown } = {}) {
    super(message, { ...options, exitCode: EXIT.usage });
  }
}

export class TestCommand {
  readonly #options: TestCommandOptions;
  readonly #io: Io;
  readonly #open: OpenTextServices;
  readonly #slots: Semaphore;

  constructor(options: TestCommandOptions, io: Io) {
    this.#options = options;
    this.#io = io;
    try {
      this.#open = openTextServices(io.env);
    } catch (error) {
      throw error instanceof ConfigError ? new TestUsageError(error.message, { cause: error }) : error;
    }
    this.#slots = new Semaphore(options.concurrency);
  }

  /** @throws TestUsageError */
  async load(): Promise<{ readonly workspace: Workspace; readonly pairs: readonly Pair[] }> {
    const { paths, agents, tests, mode } = this.#options;
    const workspace = await loadWorkspace(paths, this.#io.env, mode).catch((error: unknown) => {
      throw error instanceof UnreadableFileError ? new TestUsageError(error.message, { cause: error }) : error;
    });
    if (workspace.tests.length === 0) throw new TestUsageError(`there is no AgentTest in ${paths.join(', ')}`);
    const missing = tests.filter((name) => !workspace.tests.some((test) => test.name === name));
    if (missing.length > 0)
      throw new TestUsageError(`there is no test ${missing.join(', ')}`, {
        cure: `the tests are ${workspace.tests.map(({ name }) => name).join(', ')}`,
      });
    const pairs = pairsOf(workspace, { agents, tests });
    if (pairs.length === 0) throw new TestUsageError('no test is left to run', { cure: 'look at --agent, and at suspend of the tests' });
    return { workspace, pairs };
  }

  /** @returns the results in the order of the files. Rejects with the signal's reason when it is interrupted */
  async run(workspace: Workspace, pairs: readonly Pair[]): Promise<readonly ReportedResult[]> {
    const { mode, repeat, format, junit } = this.#options;
    const { env, signal, err } = this.#io;
    for (const remark of remarksOn(workspace, pairs)) err.write(`parley: warning: ${remark}\n`);
    const forScripts = format === 'json' || format === 'yaml';
    const began = performance.now();
    const reporter = forScripts ? undefined : new ConsoleReporter(this.#io, pairs.length);
    const tracing = await openTracing({ env, role: 'test', version, logger: this.#open.services.logger });
    const run = (pair: Pair): Promise<ReportedResult> =>
      runPair(pair, { workspace, mode, open: this.#open, slots: this.#slots, repeat, env, signal });
    const done: ReportedResult[] = [];
    const running = Promise.all(
      pairs.map(async (pair) => {
        const start = { name: 'test', parent: 'none', attributes: { 'parley.name': pair.test.name } } as const;
        const reported = await inSpan(start, () => run(pair));
        reporter?.finished(reported);
        done.push(reported);
        return reported;
      }),
    );
    await Promise.allSettled([running]);
    await tracing.close();
    const durationMs = performance.now() - began;
    if (signal.aborted) reporter?.summary(done, durationMs);
    const results = await running;
    signal.throwIfAborted();
    reporter?.summary(results, durationMs);
    if (forScripts) await writeAs(this.#io, format, reportOf(results, durationMs), () => '');
    if (junit !== undefined) await writeJunit(junit, results, durationMs, EXIT.usage);
    return results;
  }

  close(): void {
    this.#open.close();
  }
}

function remarksOn({ agents }: Workspace, pairs: readonly Pair[]): ReadonlySet<string> {
  return new Set(
    pairs.flatMap(({ test, agent }) => {
      const loaded = agents.get(agentKey(test.namespace, agent));
      return loaded?.compiled === undefined ? [] : loaded.remarks;
    }),
  );
}

export function exitCodeOf(results: readonly ReportedResult[]): number {
  return results.every(({ result }) => result.verdict === 'passed') ? EXIT.passed : EXIT.failed;
}

function reportOf(results: readonly ReportedResult[], durationMs: number) {
  return {
    ...totalsOf(results.map(({ result }) => result)),
    durationMs: Math.round(durationMs),
    results: results.map(({ result, file, lineOf }) => ({ file, line: lineOf('metadata.name'), ...result })),
  };
}
