/** The models of a test besides the agent's own: the judge, the simulated user, and the analysis after the call. */
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import type { AgentTestSpec } from '../../crds/agent-test.ts';
import { AgentModels } from '../../voice/calls/analysis/agent-models.ts';
import { observeModelRequests } from '../../platform/telemetry/gen-ai/model-requests.ts';
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
  readonly services: Pick<TextServices, 'keys' | 'egress' | 'defaults' | 'env' | 'measure' | 'clock' | 'logger'>;
  readonly org: string;
  readonly config: AgentRevisionConfig;
  readonly spec: Pick<AgentTestSpec, 'judge' | 'simulatedUser'>;
  /** Of the installation: PARLEY_TEST_JUDGE. */
  readonly installationJudge?: ChatModel | undefined;
  readonly intercept?: FetchInterceptor | undefined;
}

export function createTestModels({ services, org, config, spec, installationJudge, intercept }: TestModelsOptions): TestModels {
  const { egress, keys, defaults, env, measure, clock, logger } = services;
  const modelsOf = (purpose: string, llm: ConstructorParameters<typeof AgentModels>[0]['llm']): AskedModel => {
    const observer = observeModelRequests({ attributes: { 'parley.purpose': purpose }, measure });
    const model = new Model({ egress, clock, intercept, observer });
    return new AgentModels({ llm, endpointOf: (wanted) => llmEndpointOf({ llm: wanted, org, keys, defaults, env }), model, clock, logger });
  };
  const own = config.agent.llm;
  const asked = (purpose: string, wanted: ChatModel | undefined): AskedModel => modelsOf(purpose, wanted ?? own);
  const judge = spec.judge ?? installationJudge;
  return {
    judge: asked('judge', judge),
    user: asked('simulated_user', spec.simulatedUser?.llm ?? judge),
    analysis: modelsOf('analysis', own),
  };
}

/** `provider/model`, as PARLEY_TEST_JUDGE has it. */
export function chatModelOf(text: string | undefined): ChatModel | undefined {
  if (text === undefined) return undefined;
  const at = text.indexOf('/');
  return { provider: text.slice(0, at), model: text.slice(at + 1) };
}
