/** Runs tests without a cluster: they are requested in Postgres, and worked on by a real worker with real Temporal and a scripted model. */
import { createHash } from 'node:crypto';

import { onTestFinished } from 'vitest';

import { agentKind } from '../../../crds/agent.ts';
import type { AgentRevisionConfig } from '../../../crds/agent-revision.ts';
import { agentTestKind } from '../../../crds/agent-test.ts';
import { configHashOf, requestedTest } from '../../../crds/requested-test.ts';
import { createLogger } from '../../../platform/logging.ts';
import type { Store, TestRunRecord } from '../../../store/index.ts';
import { eventually } from '../../support/eventually.ts';
import { startProviderServer, type ProviderServer } from '../../support/provider-server.ts';
import { unique, startWorkerRole } from '../workflows/support.ts';

export const org = 'acme';
const agentName = 'receptionist';

/** The provider is gone after the test. */
export async function scriptedProvider(): Promise<ProviderServer> {
  const provider = await startProviderServer();
  onTestFinished(() => provider.close());
  return provider;
}

export interface TestedAgentWish {
  /** Name of the agent; that of the tested one by default. */
  readonly name?: string;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly tools?: AgentRevisionConfig['tools'];
}

/** Returns a tool of the revision that asks an address for something. */
export const customTool = (name: string): AgentRevisionConfig['tools'][number] =>
  ({
    name,
    functionName: name,
    spec: {
      type: 'Custom',
      custom: {
        function: { name, parameters: { type: 'object', properties: { order_id: { type: 'string' } } } },
        http: { url: 'https://api.example.com/orders', method: 'POST' },
      },
    },
  }) as unknown as AgentRevisionConfig['tools'][number];

/** Stores a revision of the agent, as the operator does for the gate. */
export async function storeRevision(
  store: Store,
  provider: ProviderServer,
  { name = agentName, spec = {}, tools = [] }: TestedAgentWish = {},
) {
  const speech = { provider: 'openai_compatible', baseURL: provider.url };
  const {
    suspend: _suspend,
    displayName: _name,
    knowledgeBaseRef: _ref,
    ...agent
  } = agentKind.spec.parse({
    llm: { provider: 'openai_compatible', model: 'test-model', baseURL: provider.url },
    speechToText: { ...speech, model: 'test-ears' },
    textToSpeech: { ...speech, model: 'test-voice' },
    ...spec,
  });
  const config: AgentRevisionConfig = {
    format: 1,
    name,
    displayName: name === agentName ? 'Receptionist' : name,
    agent,
    systemPrompt: name === agentName ? 'Be kind.' : `You are ${name}.`,
    tools,
    knowledgeBase: null,
    versions: { secrets: {}, knowledgeBaseUid: null },
  };
  const revision = createHash('sha256').update(JSON.stringify(config)).digest('hex');
  await store.agentRevisions.put({ org, agentName: name, revision, config });
  return { revision, config };
}

/** Specs of tests, by their names. */
export type TestSpecs = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Requests a run of tests of that revision. */
export async function requestRun(
  store: Store,
  { revision, config }: { readonly revision: string; readonly config: AgentRevisionConfig },
  tests: TestSpecs,
  organization = org,
): Promise<TestRunRecord> {
  const requested = Object.entries(tests).map(([name, spec]) =>
    requestedTest({
      apiVersion: 'parley.dev/v1beta1',
      kind: 'AgentTest',
      metadata: { name, namespace: organization, uid: `uid-${name}` },
      spec: agentTestKind.spec.parse({ agentRefs: [{ name: agentName }], ...spec }),
    }),
  );
  const run = { org: organization, agentName, revision, configHash: configHashOf(config), trigger: 'request' } as const;
  const made = await store.testRuns.request(run, requested);
  if (made === undefined) throw new Error('nothing was requested');
  return made;
}

/** Returns the run when it is over. */
export const over = (store: Store, ref: Pick<TestRunRecord, 'org' | 'id'>) =>
  eventually(async () => {
    const run = await store.testRuns.get(ref);
    if (run === undefined || run.finishedAt === null) throw new Error(`the run is not over: ${JSON.stringify(run)}`);
    return run;
  });

export const workerEnv = (databaseUrl: string, temporal: string, more: Readonly<Record<string, string>> = {}) => ({
  DATABASE_URL: databaseUrl,
  TEMPORAL_ADDRESS: temporal,
  TEMPORAL_TASK_QUEUE: unique('tests'),
  PARLEY_WORKER_PORT: '0',
  PARLEY_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
  ...more,
});

/** Starts a worker in this process, stopped after the test. */
export async function startWorker(env: Readonly<Record<string, string>>) {
  const lines: string[] = [];
  const logger = createLogger({ role: 'worker', level: 'info', destination: { write: (line) => void lines.push(line) } });
  const { registry, stop } = await startWorkerRole(env, logger);
  onTestFinished(stop);
  return { registry, lines, stop };
}
