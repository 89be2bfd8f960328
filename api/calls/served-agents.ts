/** Finds the configuration that a call of an agent starts with. */
import { othersOfCall } from '../../calls/handoffs.ts';
import { wellKnown } from '../../crds/index.ts';
import type { AgentRevisions } from '../../store/agent-revisions.ts';
import type { CallAgent } from '../../store/index.ts';
import type { Clock } from '../../platform/clock.ts';
import { pollUntil } from '../../platform/poll-until.ts';
import { ApiError, notFound } from '../http/api-error.ts';
import type { KindContext } from '../kinds/context.ts';
import { isObjectName } from '../resources/names.ts';
import { findSummary } from '../../crds/kind.ts';

type Serving = NonNullable<Awaited<ReturnType<AgentRevisions['servingByName']>>>;

/** Longest wait for the operator to take in an agent that was just written, and time between looks, in milliseconds. */
const SETTLING = { withinMs: 2_000, everyMs: 50 } as const;

export class ServedAgents {
  readonly #views: KindContext['views'];
  readonly #states: KindContext['states'];
  readonly #availability: KindContext['availability'];
  readonly #revisions: Pick<AgentRevisions, 'servingByName'>;
  readonly #clock: Clock;

  constructor({
    context,
    revisions,
  }: {
    readonly context: Pick<KindContext, 'views' | 'states' | 'availability' | 'clock'>;
    readonly revisions: Pick<AgentRevisions, 'servingByName'>;
  }) {
    this.#views = context.views;
    this.#states = context.states;
    this.#availability = context.availability;
    this.#clock = context.clock;
    this.#revisions = revisions;
  }

  /** Returns the workspace from the agent's label, as far as this process knows it; the relay finds it for calls that have none. */
  workspaceOf(org: string, name: string): string | undefined {
    return this.#views.agents.newest(org, name)?.metadata.labels?.[wellKnown.workspaceLabel];
  }

  /**
   * Asks Postgres alone, unless something is unusual: calls start while the Kubernetes API is unavailable.
   * @param callId id of the call that is to start: it decides whether a canary has it
   * @throws ApiError `not_found` for an agent that isn't there, `conflict` for one that has never been sound enough to serve
   */
  async find(org: string, name: string, callId: string): Promise<Serving> {
    if (!isObjectName(name)) throw notFound('AI agent');
    await this.#settled(org, name);
    const serving = await this.#revisions.servingByName({ org, agentName: name, callId });
    if (serving !== undefined) return serving;
    const resource = await this.#views.agents.get(org, name);
    if (resource === undefined) throw notFound('AI agent');
    // The agent may have been created a moment ago by another replica, and become visible here only now.
    const late = await pollUntil(
      () => this.#revisions.servingByName({ org, agentName: name, callId }),
      (found) => found !== undefined,
      { ...SETTLING, clock: this.#clock },
    );
    if (late !== undefined) return late;
    const ready = findSummary(this.#views.agents.newest(org, name));
    throw new ApiError(
      'conflict',
      ready === undefined
        ? 'the AI agent has not been taken into service yet; try again'
        : `the AI agent can not take calls: ${ready.message}`,
    );
  }

  /** Returns the agents that a call of this agent may be handed over to. Those that don't serve are left out, and the call goes on without them. */
  others(org: string, { config }: Pick<Serving, 'config'>, callId: string): Promise<readonly CallAgent[]> {
    return othersOfCall({ org, callId, config }, this.#revisions);
  }

  /** Waits a moment for the operator to take in an edit, so that the next call has it; an edit not taken in changes nothing. */
  async #settled(org: string, name: string): Promise<void> {
    const isSettled = async (): Promise<boolean> => {
      const agent = this.#views.agents.newest(org, name);
      if (this.#availability.lost || agent === undefined || agent.spec.suspend === true) return true;
      // An agent without a revision has none to fall back to, and the wait comes later.
      if ((agent.status?.observedGeneration ?? -1) < 0) return true;
      // A changed tool counts as a change of its agent.
      return (await this.#states.agent(agent)).reason !== 'Reconciling';
    };
    await pollUntil(isSettled, Boolean, { ...SETTLING, clock: this.#clock });
  }
}
