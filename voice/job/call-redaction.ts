/** Creates what takes personal data out of the records of one call. */
import { AgentModels } from '../../calls/analysis/agent-models.ts';
import { Model } from '../../calls/analysis/model.ts';
import { llmEndpointOf } from '../../calls/provider-access/index.ts';
import { createRedactor } from '../../calls/redaction/create-redactor.ts';
import { redactionLabel, redactionName } from '../../calls/redaction/metrics.ts';
import { ModelFinder } from '../../calls/redaction/model-finder.ts';
import type { Redactor } from '../../calls/redaction/redactor.ts';
import type { CallMeters } from '../../calls/usage/call-meters.ts';
import { countedRequests } from '../../calls/usage/counted-requests.ts';
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import type { DynamicData } from '../../crds/template.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logging.ts';
import type { CallRecord } from '../../store/index.ts';
import type { DynamicDataCache } from '../dynamic-data/resolve.ts';
import { SoundGuard } from '../recording/sound-guard.ts';
import { NOT_CHECKED, RedactingLog } from './redacting-log.ts';
import type { Services } from './services.ts';

export interface CallRedactionOptions {
  readonly services: Pick<Services, 'clock' | 'egress' | 'keys' | 'providerDefaults' | 'onRedaction'>;
  readonly call: Pick<CallRecord, 'org'>;
  /** All agents that may take part in the call. */
  readonly agents: readonly Pick<AgentRevisionConfig, 'name' | 'agent'>[];
  readonly usage: Pick<CallMeters, 'of'>;
  readonly logger: Logger;
}

export interface CallRedaction {
  readonly redactor: Redactor;
  readonly log: RedactingLog;
  /** Finds what has no shape; absent where the model isn't asked. */
  readonly model: ModelFinder | undefined;
  /** Returns the data to keep with the call: what it was registered with as it is, what was looked up without what is personal. */
  keptData(data: DynamicData, given: DynamicData): DynamicData;
  /** Returns a cache that keeps only answers in which there is nothing personal. */
  cache(cache: DynamicDataCache): DynamicDataCache;
}

/** @returns undefined where nothing is to be taken out */
export function createCallRedaction({ services, call, agents, usage, logger }: CallRedactionOptions): CallRedaction | undefined {
  const { clock } = services;
  const counts = new Map<string, number>();
  const onRedaction = (kind: string): void => {
    const name = redactionName(kind);
    counts.set(name, (counts.get(name) ?? 0) + 1);
    services.onRedaction(redactionLabel(kind));
  };
  const redactor = createRedactor(specsOf(agents), { clock, onRedaction });
  if (redactor === undefined) return undefined;
  const asker = agents.find(({ agent }) => agent.redaction?.byModel === true);
  const byModel = asker !== undefined;
  const model = asker && modelFinder(asker, { services, call, agents, usage, logger });
  // What only the model would find is not looked for in data: none of it is kept.
  const kept = (value: unknown): unknown => (byModel ? NOT_CHECKED : redactor.redactValue(value));
  return {
    redactor,
    log: new RedactingLog({ redactor, model, counts, clock }),
    model,
    keptData: (data, given) =>
      Object.fromEntries(Object.entries(data).map(([name, value]) => [name, Object.is(given[name], value) ? value : kept(value)])),
    cache: (cache) => ({
      get: (org, key) => cache.get(org, key),
      async put(org, key, answer, forMs) {
        if (!byModel && redactor.redactUncounted(answer) === answer) await cache.put(org, key, answer, forMs);
      },
    }),
  };
}

/** Creates what judges the sound of a call before it is recorded. @returns undefined where recordings stay as they are */
export function createSoundGuard(
  agents: readonly Pick<AgentRevisionConfig, 'agent' | 'tools'>[],
  redaction: Pick<CallRedaction, 'model'> | undefined,
  clock: Clock,
): SoundGuard | undefined {
  // Sound says again what the records say: it is not counted.
  const covers = agents.some(({ agent }) => agent.redaction?.recordings === 'Tone');
  const redactor = covers ? createRedactor(specsOf(agents), { clock }) : undefined;
  if (redactor !== undefined) return new SoundGuard({ redactor, model: redaction?.model, clock });
  // The tones of keys that a sensitive tool gets are covered in any case.
  return agents.some(({ tools }) => tools.some(({ spec }) => spec.sensitive === true)) ? new SoundGuard({ clock }) : undefined;
}

/** The model is asked outside of the conversation's spans, which would have the texts on them. */
function modelFinder(
  { name, agent }: CallRedactionOptions['agents'][number],
  { services, call: { org }, agents, usage, logger }: CallRedactionOptions,
): ModelFinder {
  const { clock, egress, keys, providerDefaults: defaults } = services;
  return new ModelFinder({
    kinds: [...new Set(agents.flatMap((each) => each.agent.redaction?.kinds ?? []))],
    models: new AgentModels({
      llm: agent.llm,
      endpointOf: (llm) => llmEndpointOf({ org, llm, keys, defaults }),
      model: new Model({ egress: egress.for(org), clock, observer: countedRequests({ ...usage.of(name), purpose: 'conversation' }) }),
      clock,
      logger,
    }),
    clock,
    logger,
  });
}

const specsOf = (agents: readonly Pick<AgentRevisionConfig, 'agent'>[]): readonly AgentRevisionConfig['agent'][] =>
  agents.map(({ agent }) => agent);
