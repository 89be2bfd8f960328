/** Reads the results of a call's analysis, which runs after the end of the call. */
import { z } from 'zod';

import { questionsOf } from '../../calls/analysis/analyse-call.ts';
import { talkingAgentOf } from '../../calls/lifecycle.ts';
import { isTerminal, type AnalysisRecord, type CallRecord, type CallStore, type Store } from '../../store/index.ts';
import { ApiError, notFound } from '../http/api-error.ts';

const failure = z
  .object({
    code: z.string().describe('For programs: the kind of failure.'),
    message: z.string().describe('For people: what went wrong.'),
  })
  .meta({ id: 'CallAnalysisFailure' })
  .nullable();

const item = z
  .object({
    name: z.string().describe('Name of the question, as the agent has it.'),
    type: z.enum(['string', 'enum', 'boolean', 'number']).describe('Type of the result.'),
    result: z
      .union([z.string(), z.number(), z.boolean()])
      .nullable()
      .describe("A value of the item's type; null where the call says nothing about it."),
    error: failure.describe('Why there is no result, where that is not for want of anything said about it.'),
  })
  .meta({ id: 'CallAnalysisItem' });

export const callAnalysis = z
  .object({
    status: z
      .enum(['pending', 'processing', 'completed', 'failed'])
      .meta({ id: 'AnalysisStatus' })
      .describe('`pending` until the call is over, then `processing`; `completed` and `failed` are final.'),
    items: z.array(item).describe('In the order of their names, as the agent asks for them; empty before the end.'),
    error: failure.describe('Why the analysis failed as a whole.'),
    completed_at: z.iso.datetime().nullable().describe('When it came to its end.'),
  })
  .meta({ id: 'CallAnalysis' });

export type CallAnalysisAnswer = z.output<typeof callAnalysis>;

export const analysisResults = callAnalysis
  .extend({ call_id: z.string().describe('Id of the call.'), agent_id: z.string().describe('The agent that talked in the call.') })
  .meta({ id: 'CallAnalysisResults' });

export type AnalysisResults = z.output<typeof analysisResults>;

export function analysisToRest({ status, finishedAt, items, error }: AnalysisRecord): CallAnalysisAnswer {
  return { status, items: [...(items ?? [])], error, completed_at: finishedAt?.toISOString() ?? null };
}

const pending: CallAnalysisAnswer = { status: 'pending', items: [], error: null, completed_at: null };

export class AnalysisReader {
  readonly #calls: Pick<CallStore, 'calls' | 'analyses'>;
  readonly #revisions: Pick<Store['agentRevisions'], 'get'>;

  constructor({
    calls,
    agentRevisions,
  }: {
    readonly calls: Pick<CallStore, 'calls' | 'analyses'>;
    readonly agentRevisions: Pick<Store['agentRevisions'], 'get'>;
  }) {
    this.#calls = calls;
    this.#revisions = agentRevisions;
  }

  /** Returns undefined for a call that isn't over, or whose agent asks for no analysis. */
  async ofCall(call: CallRecord): Promise<CallAnalysisAnswer | undefined> {
    if (!isTerminal(call.status)) return undefined;
    const analysis = await this.#calls.analyses.get(call);
    return analysis === undefined ? undefined : analysisToRest(analysis);
  }

  /**
   * @param agent the agent that was asked for, or the one that talked in its stead
   * @throws ApiError `not_found`, also for a call of another agent, and for an agent that asks for no analysis
   */
  async results({ org, id, agent }: { readonly org: string; readonly id: string; readonly agent: string }): Promise<AnalysisResults> {
    const call = await this.#calls.calls.get({ org, id });
    if (call === undefined || (call.agentName !== agent && call.overrideAgentName !== agent)) throw notFound('Call');
    const analysis = (await this.ofCall(call)) ?? (await this.#pending(call));
    if (analysis === undefined) throw new ApiError('not_found', 'Analysis not found: the agent asks for none, or the call was turned away');
    return { call_id: call.id, agent_id: talkingAgentOf(call), ...analysis };
  }

  async #pending({ org, status, talkingAgent: agentName, revision }: CallRecord): Promise<CallAnalysisAnswer | undefined> {
    if (isTerminal(status)) return undefined;
    const { config } = (await this.#revisions.get({ org, agentName, revision })) ?? {};
    return questionsOf(config).length === 0 ? undefined : pending;
  }
}
