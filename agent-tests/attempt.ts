/**
 * Holds one conversation of a test. It ends with the first turn in which an expectation is not met: what follows says nothing about the
 * agent.
 * Checks without a model come first, so that a judge is asked only where they pass.
 */
import { millisecondsOf } from '../crds/duration.ts';
import { DEFAULT_MAX_TURNS, type AgentTestSpec } from '../crds/agent-test.ts';
import type { Clock } from '../platform/clock.ts';
import { terminalStatusOf } from '../store/index.ts';
import { analyseCall } from '../calls/analysis/analyse-call.ts';
import type { AnalysisQuestion } from '../calls/analysis/questions.ts';
import { ProviderError } from '../calls/provider-access/index.ts';
import { answerChecks } from './checks/answer.ts';
import { checkOf, json, shown } from './checks/check.ts';
import { handoffCheck } from './checks/handoff.ts';
import { neverCalledCheck, toolCheck } from './checks/tool-calls.ts';
import { unknownCallChecks, unmockedChecks } from './checks/unexpected-calls.ts';
import { DriverError, type AgentDriver, type AgentTurn } from './driver.ts';
import { ModelAnswerError } from './models/ask.ts';
import { judge } from './models/judge.ts';
import { nextUserTurn } from './models/simulated-user.ts';
import type { TestModels } from './models/test-models.ts';
import type { AttemptError, TestAttemptResult, CheckResult, ToolCallRecord, TranscriptLine, TestVerdict } from './result.ts';

export interface TestAttemptOptions {
  readonly spec: AgentTestSpec;
  readonly driver: AgentDriver;
  readonly models: TestModels;
  readonly language: string;
  /** Name of the agent that the conversation begins with. */
  readonly agent: string;
  /** Names of the functions of each agent, by which its model calls them. */
  readonly functions: ReadonlyMap<string, readonly string[]>;
  readonly questions: readonly AnalysisQuestion[];
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

type Turn = NonNullable<AgentTestSpec['conversation']>[number];
type Expectation = NonNullable<Turn['expect']>[number];

/** Describes an error that the agent has no part in. @throws everything else */
export function attemptErrorOf(error: unknown): AttemptError {
  if (error instanceof DriverError) return { message: error.message, ...(error.path !== undefined && { path: error.path }) };
  if (error instanceof ModelAnswerError || error instanceof ProviderError) return { message: error.message };
  throw error;
}

export class TestAttempt {
  readonly #options: TestAttemptOptions;
  readonly #began: number;
  readonly #checks: CheckResult[] = [];
  readonly #transcript: TranscriptLine[] = [];
  readonly #calls: ToolCallRecord[] = [];
  #ended: string | undefined;
  #error: AttemptError | undefined;

  constructor(options: TestAttemptOptions) {
    this.#options = options;
    this.#began = options.clock.monotonic();
  }

  /** Rejects for faults of this program only. */
  async run(): Promise<TestAttemptResult> {
    const { driver, signal } = this.#options;
    try {
      signal.throwIfAborted();
      await this.#hold();
    } catch (error) {
      this.#error ??= signal.aborted ? { message: (signal.reason as Error).message } : attemptErrorOf(error);
    } finally {
      await driver.close();
    }
    return this.result();
  }

  /** Returns the result of the checks and lines so far. */
  result(error: AttemptError | undefined = this.#error): TestAttemptResult {
    const { callId } = this.#options.driver;
    return {
      verdict: error === undefined ? verdictOf(this.#checks) : 'error',
      checks: [...this.#checks],
      transcript: [...this.#transcript],
      durationMs: Math.round(this.#options.clock.monotonic() - this.#began),
      ...(this.#ended !== undefined && { finishReason: this.#ended }),
      ...(callId !== undefined && { callId }),
      ...(error !== undefined && { error }),
    };
  }

  async #hold(): Promise<void> {
    const { spec, driver } = this.#options;
    const first = await driver.start();
    this.#add(first);
    // Nothing is expected before the user says anything, but the call can fail, and tools can be called by mistake.
    if (!(await this.#judged(first, [], 'spec.conversation[0]'))) return;
    const goesOn =
      spec.simulatedUser === undefined ? await this.#script(spec.conversation ?? []) : await this.#simulate(spec.simulatedUser);
    if (!goesOn) return;
    await driver.close();
    this.#ended ??= 'user_ended_call';
    await this.#atEnd();
  }

  /** @returns whether all was as expected */
  async #script(turns: readonly Turn[]): Promise<boolean> {
    for (const [index, { user, keys, expect = [] }] of turns.entries()) {
      const path = `spec.conversation[${index}]`;
      if (this.#ended !== undefined) {
        this.#checks.push(
          checkOf({
            path,
            kind: 'ends',
            met: false,
            expected: 'the call goes on',
            actual: `it has ended before this turn: ${this.#ended}`,
          }),
        );
        return false;
      }
      const turn = await this.#say(user ?? `[pressed ${keys}]`, (driver) =>
        keys === undefined ? driver.say(user ?? '') : driver.press(keys),
      );
      if (!(await this.#judged(turn, expect, path))) return false;
    }
    return true;
  }

  async #simulate(user: NonNullable<AgentTestSpec['simulatedUser']>): Promise<boolean> {
    const { models, language, signal } = this.#options;
    const { maxTurns = DEFAULT_MAX_TURNS, goal } = user;
    const path = 'spec.simulatedUser.goal';
    for (let count = 0; this.#ended === undefined; count += 1) {
      const { says, goalReached } = await nextUserTurn({ model: models.user, user, language, transcript: this.#transcript, signal });
      if (goalReached || count === maxTurns) {
        const actual = goalReached ? `reached after ${count} turns` : `not reached in ${maxTurns} turns`;
        this.#checks.push(checkOf({ path, kind: 'goal', met: goalReached, expected: goal, actual }));
        return goalReached;
      }
      const turn = await this.#say(says, (driver) => driver.say(says));
      if (!(await this.#judged(turn, [], path))) return false;
    }
    // The agent has ended the call: the user says whether that was in time.
    const { goalReached } = await nextUserTurn({ model: models.user, user, language, transcript: this.#transcript, signal });
    const actual = `${goalReached ? 'reached' : 'not reached'} when the call ended: ${this.#ended}`;
    this.#checks.push(checkOf({ path, kind: 'goal', met: goalReached, expected: goal, actual }));
    return goalReached;
  }

  async #say(text: string, act: (driver: AgentDriver) => Promise<AgentTurn>): Promise<AgentTurn> {
    const { driver, signal } = this.#options;
    signal.throwIfAborted();
    this.#transcript.push({ role: 'user', text, atMs: this.#now() });
    const turn = await act(driver);
    this.#add(turn);
    return turn;
  }

  #add({ messages, toolCalls, ended }: AgentTurn): void {
    const atMs = this.#now();
    for (const { name, agent, arguments: args, result, error, atMs: at } of toolCalls)
      this.#transcript.push({
        role: 'tool',
        text: `${name}(${json(args)})`,
        atMs: at,
        tool: {
          name,
          ...(agent !== undefined && agent !== this.#options.agent && { agent }),
          arguments: args,
          ...(error === undefined ? { result } : { error }),
        },
      });
    for (const text of messages) this.#transcript.push({ role: 'agent', text, atMs });
    this.#calls.push(...toolCalls);
    this.#ended = ended;
  }

  #now(): number {
    return Math.round(this.#options.clock.monotonic() - this.#began);
  }

  /** Checks a turn's expectations, and its tool calls for mistakes. @returns whether all was as expected */
  async #judged(turn: AgentTurn, expect: readonly Expectation[], path: string): Promise<boolean> {
    const before = this.#checks.length;
    const expectsEnd = expect.some(({ ends }) => ends !== undefined);
    if (turn.ended !== undefined && !expectsEnd && terminalStatusOf(turn.ended) === 'error') {
      this.#error = { path, message: `the call failed with ${turn.ended}: ${turn.failure ?? 'see the log'}` };
      return false;
    }
    const { spec, agent, functions } = this.#options;
    const expectedCalls = [...expect.map(({ tool }) => tool), ...(spec.atEnd ?? []).map(({ called }) => called)];
    this.#checks.push(
      ...unmockedChecks(turn.toolCalls, spec.tools ?? []),
      ...unknownCallChecks(turn.toolCalls, { agent, functions, expect: expectedCalls, path }),
    );
    const said = turn.messages.join(' ');
    for (const [index, expectation] of expect.entries())
      this.#checks.push(...(await turnChecks(expectation, { turn, said, path: `${path}.expect[${index}]` })));
    if (this.#fine(before)) {
      for (const [index, { judge: statement }] of expect.entries())
        if (statement !== undefined) this.#checks.push(await this.#judge(statement, `${path}.expect[${index}].judge`, said));
    }
    return this.#fine(before);
  }

  async #judge(statement: string, path: string, answer?: string): Promise<CheckResult> {
    const { models, signal } = this.#options;
    const transcript = this.#transcript;
    const check = { path, kind: 'judge', expected: statement, actual: shown(answer ?? 'the conversation') };
    try {
      const { met, reason } = await judge({ model: models.judge, statement, transcript, signal, ...(answer !== undefined && { answer }) });
      return checkOf({ ...check, met, reason });
    } catch (error) {
      if (!(error instanceof ModelAnswerError)) throw error;
      return { ...check, verdict: 'error', reason: error.message };
    }
  }

  async #atEnd(): Promise<void> {
    const { spec, models, questions, signal } = this.#options;
    const checks = spec.atEnd ?? [];
    const before = this.#checks.length;
    for (const [index, { neverCalled, called, ends, handoff }] of checks.entries()) {
      const path = `spec.atEnd[${index}]`;
      if (neverCalled !== undefined) this.#checks.push(neverCalledCheck(neverCalled, this.#calls, `${path}.neverCalled`));
      if (handoff !== undefined) this.#checks.push(handoffCheck(handoff, this.#calls, `${path}.handoff`));
      if (called !== undefined) this.#checks.push(toolCheck(called, this.#calls, { path: `${path}.called`, kind: 'called' }));
      if (ends !== undefined)
        this.#checks.push(
          checkOf({ path: `${path}.ends`, kind: 'ends', met: this.#ended === ends, expected: ends, actual: this.#ended ?? '' }),
        );
    }
    if (!this.#fine(before)) return;
    const analysed = checks.flatMap(({ analysis }, index) =>
      analysis === undefined ? [] : [{ analysis, path: `spec.atEnd[${index}].analysis` }],
    );
    if (analysed.length > 0) {
      const messages = this.#transcript.flatMap(({ role, text }) => (role === 'tool' ? [] : [{ role, content: text }]));
      const { items } = await analyseCall({ questions, messages, models: models.analysis, signal });
      for (const { analysis, path } of analysed) {
        const item = items.find(({ name }) => name === analysis.name);
        const common = { path, kind: 'analysis', expected: `${analysis.name} = ${json(analysis.equals)}` };
        this.#checks.push(
          item?.error != null
            ? { ...common, verdict: 'error', actual: 'no result', reason: item.error.message }
            : checkOf({ ...common, met: item?.result === analysis.equals, actual: json(item?.result ?? null) }),
        );
      }
    }
    for (const [index, { judge: statement }] of checks.entries())
      if (statement !== undefined) this.#checks.push(await this.#judge(statement, `spec.atEnd[${index}].judge`));
  }

  #fine(from: number): boolean {
    return this.#checks.slice(from).every(({ verdict }) => verdict === 'passed');
  }
}

function verdictOf(checks: readonly CheckResult[]): TestVerdict {
  if (checks.some(({ verdict }) => verdict === 'error')) return 'error';
  return checks.every(({ verdict }) => verdict === 'passed') ? 'passed' : 'failed';
}

async function turnChecks(
  { answer, tool, handoff, within, ends }: Expectation,
  { turn, said, path }: { readonly turn: AgentTurn; readonly said: string; readonly path: string },
): Promise<readonly CheckResult[]> {
  if (answer !== undefined) return answerChecks(answer, said, `${path}.answer`);
  if (tool !== undefined) return [toolCheck(tool, turn.toolCalls, { path: `${path}.tool`, kind: 'tool' })];
  if (handoff !== undefined) return [handoffCheck(handoff, turn.toolCalls, `${path}.handoff`)];
  if (within !== undefined) {
    const { firstWordsMs } = turn;
    const met = firstWordsMs !== undefined && firstWordsMs <= millisecondsOf(within);
    const actual = firstWordsMs === undefined ? 'the agent said nothing' : `the first words came after ${Math.round(firstWordsMs)} ms`;
    return [checkOf({ path: `${path}.within`, kind: 'within', met, expected: `the first words within ${within}`, actual })];
  }
  if (ends !== undefined) {
    const actual = turn.ended ?? 'the call goes on';
    return [checkOf({ path: `${path}.ends`, kind: 'ends', met: turn.ended === ends, expected: `the call ends: ${ends}`, actual })];
  }
  return [];
}
