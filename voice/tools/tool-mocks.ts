/**
 * Gives answers in place of tools, in tests of agents. Everything else stays as in a call: the check of the arguments, the messages, the
 * transcript.
 */
import { isDeepStrictEqual } from 'node:util';

import type { AgentTestSpec } from '../../crds/agent-test.ts';
import { millisecondsOf } from '../../crds/duration.ts';
import { sleep, type Clock } from '../../platform/clock.ts';
import { failure, type Arguments, type JsonValue, type ToolDefinition, type ToolResult } from './tool-result.ts';

export type ToolMock = NonNullable<AgentTestSpec['tools']>[number];

/** Error that the model gets of a tool without a mock; results of tests show such a call by it. */
export const NOT_MOCKED = 'This tool is not available in this test.';

type MockAnswer = Pick<ToolMock, 'returns' | 'error'>;

/** Mocks of one conversation: sequences begin again with each. */
export class ToolMocks {
  readonly #mocks: readonly ToolMock[];
  readonly #clock: Clock;
  readonly #answered = new Map<ToolMock, number>();

  constructor({ mocks, clock }: { readonly mocks: readonly ToolMock[]; readonly clock: Clock }) {
    this.#mocks = mocks;
    this.#clock = clock;
  }

  /** Returns the same tool, answered by its mocks. @param over aborts when the call is over: a mock waits no longer then, and answers */
  inPlaceOf(definition: ToolDefinition, over: AbortSignal): ToolDefinition {
    return { ...definition, run: (args, signal) => this.#run(definition, args, { signal, over }) };
  }

  async #run(
    definition: ToolDefinition,
    args: Arguments,
    { signal, over }: { readonly signal: AbortSignal; readonly over: AbortSignal },
  ): Promise<ToolResult> {
    const { name, actsOnCall } = definition;
    const mock = this.#mocks.find((one) => one.name === name && isFor(one, args));
    if (mock?.delay !== undefined)
      await sleep(this.#clock, millisecondsOf(mock.delay), AbortSignal.any([signal, over])).catch(() => signal.throwIfAborted());
    const answer = mock === undefined ? undefined : this.#answerOf(mock);
    if (answer?.error !== undefined) return failure(answer.error);
    // A mock of a tool that ends the call says only that it succeeds: the call ends as it would.
    if (mock?.type === 'Passthrough' || (answer === undefined ? actsOnCall !== undefined : actsOnCall === 'ends'))
      return definition.run(args, signal);
    if (answer === undefined) return failure(NOT_MOCKED, {}, 'not_mocked');
    return { succeeded: true, forModel: answer.returns as JsonValue };
  }

  #answerOf(mock: ToolMock): MockAnswer | undefined {
    if (mock.type === 'Passthrough') return undefined;
    if (mock.sequence === undefined) return mock;
    const before = this.#answered.get(mock) ?? 0;
    this.#answered.set(mock, before + 1);
    return mock.sequence[Math.min(before, mock.sequence.length - 1)];
  }
}

/** Returns whether all arguments that the mock names are equal. */
function isFor({ when = {} }: ToolMock, args: Arguments): boolean {
  return Object.entries(when).every(([name, value]) => isDeepStrictEqual(args[name], value));
}
