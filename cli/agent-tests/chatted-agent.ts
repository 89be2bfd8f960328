/** Loads the agent of a chat from YAML files, or from a cluster. */
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import type { AgentTestSpec } from '../../crds/agent-test.ts';
import { agentKind, type Agent } from '../../crds/index.ts';
import { compileRevision } from '../../operator/agent/revision.ts';
import { withinLimits } from '../../operator/agent/plan.ts';
import { offeredTools } from '../../operator/tool/attachment.ts';
import type { Clock } from '../../platform/clock.ts';
import { UserError } from '../../platform/user-error.ts';
import { findReachableAgents } from '../../calls/handoffs.ts';
import { createProviderKeyReader, type ProviderKeyReader } from '../../calls/provider-access/index.ts';
import { UnreadableFileError } from '../agent-files/documents.ts';
import { fileKeys, modelsOf, othersOf } from '../agent-files/keys.ts';
import { listToolsOf, viewIn } from '../agent-files/tool-lists.ts';
import { loadWorkspace, otherAgents } from '../agent-files/workspace.ts';
import { Reader } from '../cluster/reader.ts';
import { withConnection } from '../kubectl/connection.ts';
import { gather } from '../kubectl/explain/gather.ts';
import type { Io } from '../kubectl/io.ts';

export interface ChattedAgent {
  readonly name: string;
  readonly org: string;
  /** Undefined for files that name none. */
  readonly namespace: string | undefined;
  readonly config: AgentRevisionConfig;
  /** Other agents that may take over, by their names. */
  readonly others: ReadonlyMap<string, AgentRevisionConfig>;
  readonly keys: ProviderKeyReader;
  /** The chat takes its mocks and data from this test. */
  readonly test: AgentTestSpec | undefined;
}

export interface FileChoice {
  readonly agent: string;
  readonly paths: readonly string[];
  readonly test: string | undefined;
}

/** @throws UserError */
export async function agentOfFiles({ agent: name, paths, test: testName }: FileChoice, env: Io['env']): Promise<ChattedAgent> {
  // Where a test's mocks answer, no server is needed: its list of tools is the one that was recorded with the tests.
  const workspace = await loadWorkspace(paths, env, testName === undefined ? 'live' : 'auto').catch((error: unknown) => {
    throw error instanceof UnreadableFileError ? new UserError(error.message, { cause: error }) : error;
  });
  const found = [...workspace.agents].filter(([key]) => key.endsWith(`/${name}`));
  const [one, another] = found;
  const known = [...workspace.agents.values()].map(({ source }) => source.object.metadata.name).join(', ') || 'none';
  if (one === undefined) throw new UserError(`there is no agent ${name} in ${paths.join(', ')}`, { cure: `the agents are ${known}` });
  if (another !== undefined)
    throw new UserError(`there are several agents ${name}: ${found.map(([key]) => key).join(', ')}`, { cure: 'give fewer files' });
  const [key, { compiled, problems, source }] = one;
  if (compiled === undefined) throw new UserError(problems.join('\n'));
  const org = key.slice(0, key.lastIndexOf('/'));
  const test = testName === undefined ? undefined : workspace.tests.find((item) => item.name === testName);
  if (testName !== undefined && test === undefined) throw new UserError(`there is no test ${testName} in ${paths.join(', ')}`);
  if (test !== undefined && test.problems.length > 0) throw new UserError(test.problems.join('\n'));
  const { config } = compiled;
  const others = await otherAgents(workspace, org, config);
  const configs = [config, ...others.values()];
  const secrets = { models: configs.flatMap(modelsOf), others: configs.map(othersOf) };
  const keys = fileKeys({ env, secret: workspace.secret, ...secrets, needed: true });
  return { name, org, namespace: source.object.metadata.namespace, config, others, keys, test: test?.spec };
}

/** Works with the permissions of the person: they read the agent, its tools and its Secrets. @throws UserError */
export async function withAgentOfCluster(
  { agent: name, org }: { readonly agent: string; readonly org: string | undefined },
  { io, clock }: { readonly io: Io; readonly clock: Clock },
  use: (agent: ChattedAgent) => Promise<void>,
): Promise<void> {
  const namespace = org || io.env['PARLEY_ORG'];
  await withConnection(
    namespace ? { namespace } : {},
    io,
    async (connection) => {
      const {
        object,
        agents,
        snapshot: reported,
      } = await gather(new Reader(connection.transport), connection.namespace, {
        kind: agentKind,
        name,
      });
      const keys = createProviderKeyReader({ transport: connection.transport, clock });
      const { namespace: organization } = connection;
      const compile = async (agent: Agent): Promise<{ readonly config: AgentRevisionConfig }> => {
        const offered = offeredTools(organization, agent.metadata.name, reported);
        // The lists that the operator uses are in Postgres, which this command doesn't ask.
        const snapshot = { ...reported, toolList: viewIn(await listToolsOf(offered, keys)) };
        return compileRevision(agent, withinLimits(offered, snapshot), snapshot);
      };
      const { config } = await compile(object as Agent);
      const found = await findReachableAgents({ config }, async (wanted) => {
        const agent = agents.find(({ metadata }) => metadata.name === wanted);
        return agent && compile(agent);
      });
      const others = new Map([...found].map(([other, compiled]) => [other, compiled.config]));
      await use({ name, org: organization, namespace: organization, config, others, keys, test: undefined });
    },
    { forbiddenCure: 'use a kubeconfig whose user may read the organisation, or give the YAML files of the agent' },
  );
}
