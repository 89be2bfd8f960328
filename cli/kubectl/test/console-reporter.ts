/** Prints results for a person: a line for each test, and everything about those that did not pass. */
import { problemLines, seconds, summaryLine, totalsOf, worstAttempt, type ReportedResult } from '../../../agent-tests/reports/report.ts';
import type { Io } from '../io.ts';
import { styleOf } from '../style.ts';

export class ConsoleReporter {
  readonly #io: Pick<Io, 'out' | 'err' | 'env'>;
  readonly #total: number;
  #done = 0;

  constructor(io: Pick<Io, 'out' | 'err' | 'env'>, total: number) {
    this.#io = io;
    this.#total = total;
    this.#progress();
  }

  finished(reported: ReportedResult): void {
    const { result } = reported;
    const { good, bad, weak } = styleOf(this.#io);
    this.#done += 1;
    this.#clear();
    const mark = result.verdict === 'passed' ? good('✓') : result.verdict === 'failed' ? bad('✗') : bad('!');
    const attempts = result.passed + result.failed;
    const more = [
      seconds(result.durationMs),
      ...(attempts > 1 ? [`${result.passed}/${attempts} attempts passed`] : []),
      ...(result.flaky ? ['flaky'] : []),
    ];
    this.#write(`${mark} ${result.test} ${weak(`· ${result.agent} (${more.join(', ')})`)}`);
    const attempt = worstAttempt(result);
    if (result.verdict !== 'passed' && attempt !== undefined)
      for (const line of problemLines(reported, attempt).flatMap((text) => text.split('\n'))) this.#write(`    ${line}`);
    this.#progress();
  }

  summary(results: readonly ReportedResult[], durationMs: number): void {
    this.#clear();
    this.#write(summaryLine(totalsOf(results.map(({ result }) => result)), durationMs));
  }

  #write(line: string): void {
    this.#io.out.write(`${line}\n`);
  }

  /** Shows the progress on a terminal, below what is finished. */
  #progress(): void {
    if (this.#io.err.isTTY === true && this.#done < this.#total) this.#io.err.write(`${this.#done} of ${this.#total} tests done`);
  }

  #clear(): void {
    if (this.#io.err.isTTY === true) this.#io.err.write('\r\u001B[2K');
  }
}
