/** The models of a test besides the agent's own: the judge, the simulated user, and the analysis after the call. */
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import type { AgentTestSpec } from '../../crds/agent-test.ts';
import { AgentModels } from '../../voice/calls/analysis/agent-models.ts';
import { Model } from '../../voice/calls/analysis/model.ts';
import { llmEndpointOf, type FetchInterceptor } from '../../voice/calls/provider-access/index.ts';
import type { TextServices } from '../text/text-call.ts';
import type { AskedModel } from './ask.ts';

export interface TestModels {
  readonly judge: AskedModel;
  readonly user: AskedModel;
  readonly analysis: AskedModel;
}

export type ChatModel = NonNullable<AgentTestSpec['judge']>;

export interface TestModelsOptions {
  readonly services: Pick<TextServices, 'keys' | 'egress' | 'defaults' | 'env' | 'clock' | 'logger'>;
  readonly org: string;
  readonly config: AgentRevisionConfig;
  readonly spec: Pick<AgentTestSpec, 'judge' | 'simulatedUser'>;
  /** Of the installation: PARLEY_TEST_JUDGE. */
  readonly installationJudge?: ChatModel | undefined;
  readonly intercept?: FetchInterceptor | undefined;
}

export function createTestModels({ services, org, config, spec, installationJudge, intercept }: TestModelsOptions): TestModels {
  const { egress, keys, defaults, env, clock, logger } = services;
  const model = new Model({ egress, clock, intercept });
  const modelsOf = (llm: ConstructorParameters<typeof AgentModels>[0]['llm']): AskedModel =>
    new AgentModels({ llm, endpointOf: (wanted) => llmEndpointOf({ llm: wanted, org, keys, defaults, env }), model, clock, logger });
  const own = config.agent.llm;
  const chosen = (wanted: ChatModel | undefined): AskedModel | undefined => (wanted === undefined ? undefined : modelsOf(wanted));
  const analysis = modelsOf(own);
  const judge = chosen(spec.judge ?? installationJudge) ?? analysis;
  return { judge, user: chosen(spec.simulatedUser?.llm) ?? judge, analysis };
}

/** `provider/model`, as PARLEY_TEST_JUDGE has it. */
export function chatModelOf(text: string | undefined): ChatModel | undefined {
  if (text === undefined) return undefined;
  const at = text.indexOf('/');
  return { provider: text.slice(0, at), model: text.slice(at + 1) };
}
