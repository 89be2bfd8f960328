/** Runs one test with the services of the worker. */
import type { AudioServices } from '../audio/audio-call.ts';
import type { AgentDriver } from '../driver.ts';
import type { TestResult } from '../result.ts';
import { chatModelOf, createTestModels, testUsage } from '../models/test-models.ts';
import { runTest, testError } from '../run-test.ts';
import { TextCall, type TextServices } from '../text/text-call.ts';
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import type { AgentTestSpec } from '../../crds/agent-test.ts';
import { findReachableAgents } from '../../calls/handoffs.ts';
import { createRedactor } from '../../calls/redaction/create-redactor.ts';
import type { ProviderUsage } from '../../calls/usage/counted-requests.ts';
import { ToolMocks } from '../../voice/tools/tool-mocks.ts';
import type { Clock } from '../../platform/clock.ts';
import { Semaphore } from '../../platform/semaphore.ts';
import type { AgentRevisions } from '../../store/agent-revisions.ts';
import type { RequestedTest, ServingRevision, TestRunRecord } from '../../store/index.ts';

export interface TestToRun {
  readonly run: TestRunRecord;
  readonly test: RequestedTest;
  readonly spec: AgentTestSpec;
  readonly config: AgentRevisionConfig;
  /** Aborts when the run is cancelled or the worker stops. */
  readonly signal: AbortSignal;
}

export interface EvaluateOptions {
  readonly services: TextServices;
  /** Finds the agents that may take over, in the revisions that serve. */
  readonly agents: Pick<AgentRevisions, 'servingByName'>;
  /** Absent without a media server. */
  readonly audio: AudioServices | undefined;
  /** The judge as `provider/model`; see PARLEY_TEST_JUDGE. */
  readonly judge: string | undefined;
}

/** Attempts that a test in text makes at a time; a call counts for itself. */
const TEXT_ATTEMPTS_AT_ONCE = 4;

type Open = (signal: AbortSignal) => AgentDriver;

/** @throws the signal's reason */
export async function evaluate({ services, agents, audio, judge }: EvaluateOptions, todo: TestToRun): Promise<TestResult> {
  const { run, test, spec, config, signal } = todo;
  const { org, agentName: name, revision } = run;
  if (test.mode === 'audio' && audio === undefined) {
    const message = 'this installation has no media server: its operator has to set LIVEKIT_URL';
    return testError({ test: test.name, agent: name, revision, mode: 'audio' }, { path: 'spec.mode', message });
  }
  const usage = testUsage(services);
  const others = await otherAgents(todo, agents);
  const open = await (test.mode === 'audio' && audio !== undefined
    ? inAudio({ ...todo, others }, services, audio)
    : inText({ ...todo, others }, services, usage));
  const result = await runTest({
    test: { name: test.name, spec },
    agent: { name, revision, config },
    others: configsOf(others),
    searches: true,
    models: createTestModels({ services, org, config, spec, installationJudge: chatModelOf(judge), usage }),
    usage,
    open,
    clock: services.clock,
    signal,
    slots: new Semaphore(test.mode === 'text' ? TEXT_ATTEMPTS_AT_ONCE : 1),
  });
  return withoutPersonalData(result, [config, ...configsOf(others).values()], services.clock);
}

/** Takes out of a result what its agents want taken out of calls: results are kept for weeks, and read by more than may read calls. */
export function withoutPersonalData(
  result: TestResult,
  agents: readonly Pick<AgentRevisionConfig, 'agent'>[],
  clock: Pick<Clock, 'now'>,
): TestResult {
  const redactor = createRedactor(
    agents.map(({ agent }) => agent),
    { clock },
  );
  return redactor === undefined ? result : { ...result, attempts: redactor.redactValue(result.attempts) as TestResult['attempts'] };
}

type WithOthers = TestToRun & { readonly others: ReadonlyMap<string, ServingRevision> };

function otherAgents({ run: { org }, config }: TestToRun, agents: EvaluateOptions['agents']): Promise<WithOthers['others']> {
  return findReachableAgents({ config }, (agentName) => agents.servingByName({ org, agentName }));
}

const configsOf = (others: WithOthers['others']): ReadonlyMap<string, AgentRevisionConfig> =>
  new Map([...others].map(([name, { config }]) => [name, config as AgentRevisionConfig]));

function inText({ run, spec, config, others }: WithOthers, services: TextServices, usage: ProviderUsage): Open {
  return () =>
    new TextCall({
      services,
      org: run.org,
      config,
      others: configsOf(others),
      dynamicData: spec.dynamicData ?? {},
      mocks: new ToolMocks({ mocks: spec.tools ?? [], clock: services.clock }),
      usage,
    });
}

/** Runs the test in calls. LiveKit's client is large, so that it is loaded only here. */
async function inAudio({ run, test, spec, config, others }: WithOthers, services: TextServices, audio: AudioServices): Promise<Open> {
  // LiveKit's client writes a line for each connection unless this is set.
  process.env['NODE_ENV'] ??= 'production';
  const [{ AudioCall }, { UserSpeech }] = await Promise.all([import('../audio/audio-call.ts'), import('../audio/user-speech.ts')]);
  const { org, revision, id: runId } = run;
  const speech = new UserSpeech({ ...services, org, agent: config.agent });
  const about = { testName: test.name, runId, tools: spec.tools ?? [] };
  return (signal) =>
    new AudioCall({
      services: audio,
      org,
      revision,
      config,
      others: [...others.values()],
      test: about,
      dynamicData: spec.dynamicData ?? {},
      speech,
      signal,
    });
}
