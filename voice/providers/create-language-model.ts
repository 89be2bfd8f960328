/** Creates the language model of a conversation from the settings of its agent: also where nothing is spoken. */
import {
  createProviderFetch,
  type FetchInterceptor,
  llmEndpointOf,
  ModelQuirks,
  type ProviderDefaults,
  type ProviderKeyReader,
  type ProviderPart,
  type WantedLlm,
} from '../../calls/provider-access/index.ts';
import { ProviderOrder, type Named } from '../../calls/fallback/provider-order.ts';
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import { systemClock, type Clock } from '../../platform/clock.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import type { Logger } from '../../platform/logging.ts';
import type { ModelRequestObserver } from '../../platform/telemetry/gen-ai/model-requests.ts';
import { usable } from './fallback/usable.ts';
import { HedgedLanguageModel } from './llm/hedged-language-model.ts';
import { LanguageModel } from './llm/language-model.ts';
import { providerFailureOf } from './provider-errors.ts';

/** Time for which a language model that failed or was late is asked last, in milliseconds. */
const LLM_REST_MS = 30_000;

/** Quirks of models that any call of this process has found out. */
const knownQuirks = new ModelQuirks();

export interface ProviderOptions {
  readonly org: string;
  readonly keys: ProviderKeyReader;
  /** Guards every address that the agent names; what the operator has set needs no guard. */
  readonly egress: Egress;
  readonly defaults: ProviderDefaults;
  readonly logger: Logger;
  readonly clock?: Clock;
  /** Called when a fallback has taken over. */
  readonly onTakeover?: (part: ProviderPart) => void;
  readonly observer?: ModelRequestObserver | undefined;
  /** Variables among which `apiKeyEnv` of the defaults is looked up; the process's own by default. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface LanguageModelSettings extends ProviderOptions {
  readonly agent: Pick<AgentRevisionConfig['agent'], 'llm'>;
  /** Stands between the model and its server, to record answers or replay them. */
  readonly intercept?: FetchInterceptor | undefined;
  /** See {@link HedgedLanguageModel}. */
  readonly summarizesFirst?: boolean;
}

/**
 * Creates the model. @throws ProviderError where the model and its fallbacks can't be used as they are configured, or no key can be read
 */
export async function createLanguageModel(options: LanguageModelSettings): Promise<HedgedLanguageModel> {
  const { agent, egress, logger, observer, clock = systemClock, intercept = (fetch) => fetch } = options;
  // A recording must not depend on what other calls have found out.
  const quirks = options.intercept === undefined ? knownQuirks : new ModelQuirks();
  const create = async (llm: WantedLlm): Promise<LanguageModel> => {
    const endpoint = await llmEndpointOf({ ...options, llm });
    const fetch = intercept(createProviderFetch({ endpoint, egress, clock }), endpoint);
    const { temperature = agent.llm.temperature, maxTokens = agent.llm.maxTokens, contextTokens } = llm;
    return new LanguageModel({
      endpoint,
      temperature: temperature === undefined ? undefined : Number(temperature),
      maxTokens,
      contextTokens,
      fetch,
      quirks,
      clock,
      observer,
    });
  };
  const models = await providerOrder<WantedLlm, LanguageModel>('llm', agent.llm, { ...options, create, restMs: LLM_REST_MS });
  return new HedgedLanguageModel({ models, clock, logger, summarizesFirst: options.summarizesFirst });
}

/**
 * Returns the order of one part's providers, fallbacks included. @param options.restMs how long one that failed or was late is asked last,
 * in milliseconds
 */
export async function providerOrder<W, P extends Named>(
  part: ProviderPart,
  wanted: W & { readonly fallbacks?: readonly W[] | undefined },
  {
    create,
    restMs,
    logger,
    clock = systemClock,
    onTakeover = () => undefined,
  }: Pick<ProviderOptions, 'logger' | 'clock' | 'onTakeover'> & {
    readonly create: (wanted: W) => Promise<P>;
    readonly restMs: number;
  },
): Promise<ProviderOrder<P>> {
  const all = [wanted, ...(wanted.fallbacks ?? [])].map(create);
  const failureOf = (rejection: unknown) => providerFailureOf(rejection, part);
  return new ProviderOrder({ part, providers: await usable(all, { part, clock, logger }), restMs, failureOf, clock, logger, onTakeover });
}
