/** Creates what takes personal data out of the records of one call. */
import { AgentModels } from '../../calls/analysis/agent-models.ts';
import { Model } from '../../calls/analysis/model.ts';
import { llmEndpointOf } from '../../calls/provider-access/index.ts';
import { createRedactor } from '../../calls/redaction/create-redactor.ts';
import { ModelFinder } from '../../calls/redaction/model-finder.ts';
import type { Redactor } from '../../calls/redaction/redactor.ts';
import { countedRequests, type ProviderUsage } from '../../calls/usage/counted-requests.ts';
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import type { Logger } from '../../platform/logging.ts';
import type { CallRecord } from '../../store/index.ts';
import { RedactingLog } from './redacting-log.ts';
import type { Services } from './services.ts';

export interface CallRedactionOptions {
  readonly services: Pick<Services, 'clock' | 'egress' | 'keys' | 'providerDefaults'>;
  readonly call: Pick<CallRecord, 'org'>;
  readonly config: Pick<AgentRevisionConfig, 'agent'>;
  readonly usage: ProviderUsage;
  readonly logger: Logger;
}

export interface CallRedaction {
  readonly redactor: Redactor;
  readonly log: RedactingLog;
}

/** @returns undefined where nothing is to be taken out */
export function createCallRedaction({ services, call, config, usage, logger }: CallRedactionOptions): CallRedaction | undefined {
  const { clock } = services;
  const { redaction } = config.agent;
  const redactor = createRedactor([config.agent], { clock });
  if (redactor === undefined || redaction === undefined) return undefined;
  const model = redaction.byModel ? modelFinder({ services, call, config, usage, logger }) : undefined;
  return { redactor, log: new RedactingLog({ redactor, model, clock }) };
}

/** The model is asked outside of the conversation's spans, which would have the texts on them. */
function modelFinder({ services, call: { org }, config: { agent }, usage, logger }: CallRedactionOptions): ModelFinder {
  const { clock, egress, keys, providerDefaults: defaults } = services;
  return new ModelFinder({
    kinds: agent.redaction?.kinds ?? [],
    models: new AgentModels({
      llm: agent.llm,
      endpointOf: (llm) => llmEndpointOf({ org, llm, keys, defaults }),
      model: new Model({ egress: egress.for(org), clock, observer: countedRequests({ ...usage, purpose: 'conversation' }) }),
      clock,
      logger,
    }),
    clock,
    logger,
  });
}
