/** The language models of an agent: the preferred one is asked first, the next one where it fails or is late. */
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import { firstAnswer } from '../fallback/first-answer.ts';
import { ProviderOrder } from '../fallback/provider-order.ts';
import { toCallFailure, ProviderError, type WantedLlm } from '../provider-access/index.ts';
import type { Ask, Model, ModelEndpoint } from './model.ts';

/** Milliseconds after which the next model is asked, too: no caller waits for the results, so an answer may take its time. */
const LATE_MS = 60_000;

export interface AgentModelsOptions {
  readonly llm: WantedLlm & { readonly fallbacks?: readonly WantedLlm[] | undefined };
  /** @throws ProviderError */
  readonly endpointOf: (llm: WantedLlm) => Promise<ModelEndpoint>;
  readonly model: Pick<Model, 'ask'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export class AgentModels {
  readonly #options: AgentModelsOptions;
  readonly #models: ProviderOrder<WantedLlm>;

  constructor(options: AgentModelsOptions) {
    const { llm, clock, logger } = options;
    this.#options = options;
    this.#models = new ProviderOrder({
      part: 'llm',
      providers: [llm, ...(llm.fallbacks ?? [])],
      restMs: Number.POSITIVE_INFINITY,
      failureOf: (error) =>
        error instanceof ProviderError ? error : toCallFailure({ part: 'llm', provider: llm.provider }, 'runtime', 'failed'),
      clock,
      logger,
    });
  }

  /** @throws the first ProviderError that may pass, or else that of the model asked first; or the signal's own reason */
  async ask({ signal, ...question }: Omit<Ask, 'endpoint'>): Promise<string> {
    const { endpointOf, model, clock } = this.#options;
    const failures: unknown[] = [];
    const ask = async (llm: WantedLlm, either: AbortSignal): Promise<string> => {
      try {
        return await model.ask({ ...question, endpoint: await endpointOf(llm), signal: either });
      } catch (error) {
        failures.push(error);
        throw error;
      }
    };
    try {
      const { provider, answer, passed } = await firstAnswer({ providers: this.#models.order, ask, lateMs: LATE_MS, clock, signal });
      this.#models.answered(provider, passed);
      return answer;
    } catch (error) {
      signal.throwIfAborted();
      throw failures.find((failure) => !(failure instanceof ProviderError) || failure.kind !== 'refused') ?? error;
    }
  }
}
