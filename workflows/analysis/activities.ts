import { ApplicationFailure, Context } from '@temporalio/activity';
import { Counter, type Registry } from 'prom-client';

import { AgentModels } from '../../calls/analysis/agent-models.ts';
import { analyseCall, failedOutcome, questionsOf } from '../../calls/analysis/analyse-call.ts';
import { Model } from '../../calls/analysis/model.ts';
import type { AnalysisJob } from '../../calls/analysis/names.ts';
import { talkingAgentOf } from '../../calls/lifecycle.ts';
import {
  llmEndpointOf,
  ModelQuirks,
  ProviderError,
  type ProviderKeyReader,
  type ProviderDefaults,
} from '../../calls/provider-access/index.ts';
import { createRedactor } from '../../calls/redaction/create-redactor.ts';
import { redactionLabel, redactionsCounter } from '../../calls/redaction/metrics.ts';
import type { Redactor } from '../../calls/redaction/redactor.ts';
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import type { Clock } from '../../platform/clock.ts';
import type { EgressGuard } from '../../platform/egress/egress.ts';
import type { Logger } from '../../platform/logging.ts';
import { CONVERSATION_ID } from '../../platform/telemetry/gen-ai/conventions.ts';
import { observedBy, observeModelRequests, type Measurement } from '../../platform/telemetry/gen-ai/model-requests.ts';
import type { AnalysisOutcome, CallRecord, NewEvent, Store, UsageLine } from '../../store/index.ts';
import { buildEvent } from '../../events/emit.ts';
import { usageShown } from '../../events/call-usage.ts';
import { countTokens } from '../../calls/usage/count-tokens.ts';
import { countedRequests } from '../../calls/usage/counted-requests.ts';
import type { PriceTable } from '../../calls/usage/price-table.ts';
import { UsageMeter } from '../../calls/usage/usage-meter.ts';
import { usageMetrics } from '../../calls/usage/usage-metrics.ts';
import { whileAlive } from '../while-alive.ts';
import { MODEL_FAILURE, type AnalysisActivities, type AnalysisEnd } from './types.ts';

export interface AnalysisActivityDependencies {
  readonly store: Pick<Store, 'calls' | 'agentRevisions'>;
  readonly keys: ProviderKeyReader;
  readonly defaults: ProviderDefaults;
  readonly prices: PriceTable;
  readonly egress: Pick<EgressGuard, 'for'>;
  /** Called for each request to a model. */
  readonly measure: (measurement: Measurement) => void;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly registry: Registry;
}

type AgentRevision = NonNullable<Awaited<ReturnType<Store['agentRevisions']['get']>>>;

/** Attempts at an answer that cannot be parsed: the server always answers so, or a proxy in front of it failed for a moment. */
const UNREADABLE_ATTEMPTS = 3;

/** Revisions are kept for weeks, so that a missing one means that the worker was unavailable for longer. */
const revisionGone = { code: 'revision_gone', message: 'the configuration that the call began with is not kept any more' };

const codes = {
  refused: 'model_refused',
  connection_lost: 'model_unavailable',
  runtime: 'model_unavailable',
  unreachable: 'model_unavailable',
  payload: 'model_answer_unreadable',
  empty: 'model_answer_unreadable',
} as const satisfies Readonly<Record<ProviderError['kind'], string>>;

export function createAnalysisActivities(dependencies: AnalysisActivityDependencies): AnalysisActivities {
  const { store, keys, defaults, prices, egress, measure, clock, logger, registry } = dependencies;
  const report = usageMetrics(registry);
  const quirks = new ModelQuirks();
  /** Creates the model client for the analysis of a call. */
  const modelOf = ({ org, id }: CallRecord, meter: UsageMeter): Model =>
    new Model({
      egress: egress.for(org),
      clock,
      quirks,
      observer: observedBy(
        observeModelRequests({ attributes: { [CONVERSATION_ID]: id, 'parley.purpose': 'analysis' }, measure }),
        countedRequests({ meter, purpose: 'analysis', countTokens }),
      ),
    });
  const redacted = redactionsCounter([registry]);
  const analysed = new Counter({
    name: 'parley_call_analyses_total',
    help: 'Analyses of calls that came to an end, by outcome: completed, or why not.',
    labelNames: ['outcome'],
    registers: [registry],
  });

  /** Returns the call and its revision while its analysis is still to be done. */
  const open = async ({ org, callId }: AnalysisJob): Promise<{ call: CallRecord; revision: AgentRevision | undefined } | undefined> => {
    const ref = { org, id: callId };
    const [call, analysis] = [await store.calls.calls.get(ref), await store.calls.analyses.get(ref)];
    if (call === undefined || analysis?.status !== 'processing') return undefined;
    return { call, revision: await store.agentRevisions.get({ org, agentName: call.talkingAgent, revision: call.revision }) };
  };

  const finish = async (call: CallRecord, outcome: AnalysisOutcome): Promise<AnalysisEnd> => {
    const { org, id } = call;
    const usage = await store.calls.usage.ofCall({ org, id });
    const changed = await store.calls.analyses.finish({ org, id, ...outcome, events: eventsOf(call, { ...outcome, usage }, clock.now()) });
    if (changed) analysed.inc({ outcome: outcome.error?.code ?? 'completed' });
    logger.info({ org, callId: id, outcome: outcome.error?.code ?? 'completed', changed }, 'the analysis of a call');
    return outcome.error === null ? 'completed' : 'failed';
  };

  return {
    async analyse(job) {
      const work = await open(job);
      if (work === undefined) return 'gone';
      const { call, revision } = work;
      if (revision === undefined) return finish(call, failedOutcome([], revisionGone));
      const context = Context.current();
      const run = async (): Promise<AnalysisEnd> => {
        const { messages } = await store.calls.log.read({ org: call.org, id: call.id });
        const { agent } = revision.config as AgentRevisionConfig;
        const meter = new UsageMeter({
          prices,
          clock,
          onUsage: (added) => report({ org: call.org, agent: talkingAgentOf(call), added }),
        });
        const analysing = analyseCall({
          questions: questionsOf(revision.config),
          messages,
          models: new AgentModels({
            llm: agent.llm,
            endpointOf: (llm) => llmEndpointOf({ org: call.org, llm, keys, defaults }),
            model: modelOf(call, meter),
            clock,
            logger: logger.child({ org: call.org, callId: call.id }),
          }),
          signal: context.cancellationSignal,
        });
        // A failed attempt was paid for, too, so its usage is stored.
        await analysing.catch(() => undefined);
        await meter.settled();
        const used = meter.takeUnstored();
        if (used !== undefined) await store.calls.usage.store({ org: call.org, id: call.id }, used);
        const redactor = createRedactor([agent], { clock, onRedaction: (kind) => redacted.inc({ kind: redactionLabel(kind) }) });
        return finish(call, redactedOutcome(await analysing, redactor));
      };
      try {
        return await whileAlive(() => context.heartbeat(), run);
      } catch (error) {
        throw toApplicationFailure(error, context.info.attempt);
      }
    },
    async giveUp(job, error) {
      const work = await open(job);
      return work === undefined ? 'gone' : finish(work.call, failedOutcome(questionsOf(work.revision?.config), error));
    },
  };
}

/** The transcript has nothing personal, but a model may put it together. */
function redactedOutcome({ items, error }: AnalysisOutcome, redactor: Redactor | undefined): AnalysisOutcome {
  if (redactor === undefined) return { items, error };
  const shown = ({ name, type, result, error: why }: AnalysisOutcome['items'][number]): AnalysisOutcome['items'][number] => ({
    name,
    type,
    result: typeof result === 'string' ? redactor.redact(result) : result,
    error: why,
  });
  return { items: items.map(shown), error };
}

/** Builds the event with the results; a failed analysis has none. */
function eventsOf(
  call: CallRecord,
  { items, error, usage }: AnalysisOutcome & { readonly usage: readonly UsageLine[] },
  now: number,
): readonly NewEvent[] {
  if (error !== null) return [];
  const agent = talkingAgentOf(call);
  const results = items.map(({ name, result }) => ({ name, result }));
  return [
    buildEvent({
      name: 'CallAnalysis.Completed',
      org: call.org,
      agent,
      workspace: call.workspace ?? undefined,
      payload: { call_id: call.id, agent_id: agent, items: results, ...(usage.length > 0 && { usage: usageShown(usage) }) },
      traceparent: call.traceparent,
      now,
    }),
  ];
}

/** Maps an error to a Temporal failure: refusals are final, all others are retried. Messages of providers' failures hold no secrets. */
function toApplicationFailure(error: unknown, attempt: number): unknown {
  if (!(error instanceof ProviderError)) return error;
  const { message, kind } = error;
  const nonRetryable = kind === 'refused' || (kind === 'payload' && attempt >= UNREADABLE_ATTEMPTS);
  return ApplicationFailure.create({ message, type: MODEL_FAILURE, details: [codes[kind]], nonRetryable });
}
