/** Creates the models of a test besides the agent's own: the judge, the simulated user, and the analysis after the call. */
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import type { AgentTestSpec } from '../../crds/agent-test.ts';
import { AgentModels } from '../../calls/analysis/agent-models.ts';
import { observedBy, observeModelRequests } from '../../platform/telemetry/gen-ai/model-requests.ts';
import { Model } from '../../calls/analysis/model.ts';
import { llmEndpointOf, type FetchInterceptor } from '../../calls/provider-access/index.ts';
import type { TextServices } from '../text/text-call.ts';
import { countTokens } from '../../calls/usage/count-tokens.ts';
import { countedRequests, type ProviderUsage } from '../../calls/usage/counted-requests.ts';
import { PriceTable } from '../../calls/usage/price-table.ts';
import type { UsageOf } from '../../calls/usage/usage-line.ts';
import { UsageMeter } from '../../calls/usage/usage-meter.ts';
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
  /** The installation's default, PARLEY_TEST_JUDGE. */
  readonly installationJudge?: ChatModel | undefined;
  readonly intercept?: FetchInterceptor | undefined;
  readonly usage: ProviderUsage;
}

export const testUsage = ({ prices = [], clock }: Pick<TextServices, 'prices' | 'clock'>): ProviderUsage => ({
  meter: new UsageMeter({ prices: new PriceTable(prices), clock }),
  countTokens,
});

export function createTestModels({ services, org, config, spec, installationJudge, intercept, usage }: TestModelsOptions): TestModels {
  const { egress, keys, defaults, env, measure, clock, logger } = services;
  const modelsOf = (purpose: UsageOf['purpose'], llm: ConstructorParameters<typeof AgentModels>[0]['llm']): AskedModel => {
    const observer = observedBy(
      observeModelRequests({ attributes: { 'parley.purpose': purpose }, measure }),
      countedRequests({ ...usage, purpose }),
    );
    const model = new Model({ egress, clock, intercept, observer });
    return new AgentModels({ llm, endpointOf: (wanted) => llmEndpointOf({ llm: wanted, org, keys, defaults, env }), model, clock, logger });
  };
  const own = config.agent.llm;
  const asked = (purpose: UsageOf['purpose'], wanted: ChatModel | undefined): AskedModel => modelsOf(purpose, wanted ?? own);
  const judge = spec.judge ?? installationJudge;
  return {
    judge: asked('judge', judge),
    user: asked('simulated_user', spec.simulatedUser?.llm ?? judge),
    analysis: modelsOf('analysis', own),
  };
}

/** Reads `provider/model`, the form of PARLEY_TEST_JUDGE. */
export function chatModelOf(text: string | undefined): ChatModel | undefined {
  if (text === undefined) return undefined;
  const at = text.indexOf('/');
  // One that doesn't exist has no address: the first request to it says so.
  return { provider: text.slice(0, at) as ChatModel['provider'], model: text.slice(at + 1) };
}
