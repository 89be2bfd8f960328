/** Runs the tests of a workspace against the agents of the workspace. */
import { dirname, join } from 'node:path';

import { Cassette, CassetteError, readCassette, writeCassette } from '../../agent-tests/cassettes/cassette.ts';
import { recorder, type CassetteMode } from '../../agent-tests/cassettes/recorder.ts';
import { DriverError } from '../../agent-tests/driver.ts';
import { chatModelOf, createTestModels, testUsage } from '../../agent-tests/models/test-models.ts';
import type { ReportedResult } from '../../agent-tests/reports/report.ts';
import type { TestResult } from '../../agent-tests/result.ts';
import { runTest, testError } from '../../agent-tests/run-test.ts';
import { TextCall } from '../../agent-tests/text/text-call.ts';
import type { Semaphore } from '../../platform/semaphore.ts';
import type { AgentTestSpec } from '../../crds/agent-test.ts';
import { resultMode } from '../../crds/requested-test.ts';
import { ToolMocks } from '../../voice/tools/tool-mocks.ts';
import { fileKeys, modelsOf, othersOf } from '../agent-files/keys.ts';
import { agentKey, otherAgents, type LoadedAgent, type LoadedTest, type Workspace } from '../agent-files/workspace.ts';
import type { OpenTextServices } from './text-services.ts';

export type TestMode = CassetteMode | 'live';

export interface Pair {
  readonly test: LoadedTest;
  readonly agent: string;
  /** Index of the agent in `spec.agentRefs`. */
  readonly index: number;
}

export interface RunWorkspaceOptions {
  readonly workspace: Workspace;
  readonly mode: TestMode;
  readonly open: OpenTextServices;
  readonly slots: Semaphore;
  /** Attempts that must all pass, in place of the number that the test gives. */
  readonly repeat: number | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** @param only names of agents and tests; empty for all */
export function pairsOf(
  { tests }: Pick<Workspace, 'tests'>,
  only: { readonly agents: readonly string[]; readonly tests: readonly string[] },
): readonly Pair[] {
  return tests
    .filter(({ name, spec }) => (only.tests.length === 0 || only.tests.includes(name)) && spec?.suspend !== true)
    .flatMap((test) => (test.agents.length === 0 ? [''] : test.agents).map((agent, index) => ({ test, agent, index })))
    .filter(({ agent }) => only.agents.length === 0 || only.agents.includes(agent));
}

export const cassetteFile = ({ test, agent }: Pair): string => join(dirname(test.source.file), 'cassettes', `${test.name}.${agent}.yaml`);

/** Rejects only with the signal's reason. */
export async function runPair(pair: Pair, options: RunWorkspaceOptions): Promise<ReportedResult> {
  const { test } = pair;
  return { result: await resultOf(pair, options), file: test.source.file, lineOf: (path) => test.source.lineOf(path) };
}

async function resultOf(pair: Pair, options: RunWorkspaceOptions): Promise<TestResult> {
  const { test, agent: name, index } = pair;
  const { workspace, repeat } = options;
  const error = (message: string, path?: string): TestResult =>
    testError(
      { test: test.name, agent: name, mode: resultMode(test.spec ?? { mode: 'Text' }) },
      { message, ...(path !== undefined && { path }) },
    );
  if (test.spec === undefined || test.problems.length > 0) return error(test.problems.join('\n'));
  const agent = workspace.agents.get(agentKey(test.namespace, name));
  if (agent === undefined) {
    const known = [...workspace.agents.values()].map(({ source }) => source.object.metadata.name).join(', ') || 'none';
    return error(`there is no agent ${name} in the files: the agents are ${known}`, `spec.agentRefs[${index}].name`);
  }
  if (agent.compiled === undefined) return error(agent.problems.join('\n'));
  if (test.spec.mode === 'Audio')
    return error('a call with sound needs a media server: run it in the cluster (kubectl parley test), or set mode: Text', 'spec.mode');
  const { passAtLeast: _least, ...spec } = test.spec;
  return runInText({ pair, spec: repeat === undefined ? test.spec : { ...spec, repeat }, agent: agent.compiled }, options).catch(
    (fault: unknown) => {
      if (fault instanceof CassetteError || fault instanceof DriverError) return error(fault.message);
      throw fault;
    },
  );
}

async function runInText(
  { pair, spec, agent }: { readonly pair: Pair; readonly spec: AgentTestSpec; readonly agent: NonNullable<LoadedAgent['compiled']> },
  { workspace, mode, open, slots, env, signal }: RunWorkspaceOptions,
): Promise<TestResult> {
  const { test } = pair;
  const { config, revision } = agent;
  const others = await otherAgents(workspace, test.namespace, config);
  const configs = [config, ...others.values()];
  const file = cassetteFile(pair);
  const cassette = await cassetteFor(file, mode, open.services.clock.now());
  const models = [...configs.flatMap(modelsOf), ...[spec.judge, spec.simulatedUser?.llm].flatMap((model) => model ?? [])];
  const needed = cassette === undefined || mode === 'record';
  const keys = fileKeys({ env, secret: workspace.secret, models, others: configs.map(othersOf), needed });
  const services = { ...open.services, keys };
  const intercept = (onMiss?: (message: string) => void) =>
    cassette === undefined || mode === 'live' ? undefined : recorder({ mode, cassette, file, ...(onMiss && { onMiss }) });
  const { clock } = services;
  const usage = testUsage(services);
  const result = await runTest({
    test: { name: test.name, spec },
    agent: { name: pair.agent, revision, config },
    others,
    searches: false,
    models: createTestModels({
      services,
      org: test.namespace,
      config,
      spec,
      installationJudge: chatModelOf(open.judge),
      intercept: intercept(),
      usage,
    }),
    usage,
    open: () => {
      const call: TextCall = new TextCall({
        services,
        org: test.namespace,
        config,
        others,
        dynamicData: spec.dynamicData ?? {},
        mocks: new ToolMocks({ mocks: spec.tools ?? [], clock }),
        now: cassette?.recordedAt,
        offline: mode === 'replay',
        usage,
        intercept: intercept((message) => call.fail(new DriverError(message))),
      });
      return call;
    },
    clock,
    signal,
    slots,
  });
  // A conversation that broke off lacks answers that a former recording may have.
  if (mode === 'record' && cassette !== undefined && cassette.recordings.length > 0 && result.verdict !== 'error')
    await writeCassette(
      file,
      cassette,
      `Answers of models to the test ${test.name} of the agent ${pair.agent}. Written by parley test --record.`,
    );
  return result;
}

/** @throws CassetteError */
async function cassetteFor(file: string, mode: TestMode, now: number): Promise<Cassette | undefined> {
  if (mode === 'live') return undefined;
  // Prompts say the time to the minute: an attempt that goes on does not change it.
  if (mode === 'record') return new Cassette({ recordedAt: Math.floor(now / 60_000) * 60_000 });
  const found = await readCassette(file);
  if (found === undefined && mode === 'replay') throw new CassetteError(`there is no recording ${file}: run the test with --record`);
  return found;
}
