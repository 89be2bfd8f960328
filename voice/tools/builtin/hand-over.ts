import type { AgentSpec } from '../../../crds/index.ts';
import { fillTemplate, lookUp, type DynamicData } from '../../../crds/template.ts';
import { createArgumentCheck } from '../arguments.ts';
import type { ToolHost } from '../tool-host.ts';
import { failure, NO_MESSAGES, type ToolDefinition } from '../tool-result.ts';

export interface HandOverToolOptions {
  readonly handoff: NonNullable<AgentSpec['handoffs']>[number];
  /** Name that people see of the other agent; undefined where it can't be reached. */
  readonly displayName: string | undefined;
  readonly data: DynamicData;
  readonly host: ToolHost;
}

/** Returns the name of the function that hands over to an agent, before it is made unique. */
export const handOverFunction = (agent: string): string => `hand_over_to_${agent.replaceAll(/[^a-zA-Z0-9]/g, '_')}`;

/** Creates the tool. The owner chose the agent and what it learns: the model decides when, and fills in values that the call doesn't have. */
export function createHandOver({ handoff, displayName, data, host }: HandOverToolOptions): ToolDefinition {
  const { agentRef, when, say = '', context = 'All', carry = [], voice = 'Own' } = handoff;
  const known = carry.flatMap((name) => {
    const value = lookUp(name, data);
    return value === undefined || value === null ? [] : [[name, value] as const];
  });
  const wanted = carry.filter((name) => !known.some(([each]) => each === name));
  const parameters = {
    type: 'object',
    properties: Object.fromEntries(wanted.map((name) => [name, { type: 'string' }])),
    required: wanted,
    additionalProperties: false,
  };
  return {
    name: handOverFunction(agentRef.name),
    description: `Hands the call over to ${displayName ?? agentRef.name}, who goes on with it. Use it when: ${fillTemplate(when, data)}`,
    parameters,
    messages: NO_MESSAGES,
    actsOnCall: 'continues',
    handsOver: true,
    refuse: createArgumentCheck(parameters),
    async run(args) {
      const values = { ...Object.fromEntries(known), ...args };
      const outcome = await host.handOver({ to: agentRef.name, say: fillTemplate(say, data), context, voice, values });
      return outcome.outcome === 'ready'
        ? { succeeded: true, forModel: { handed_over_to: agentRef.name }, detail: 'handed_over', handover: outcome.handover }
        : failure(outcome.message, {}, 'not_handed_over');
    },
  };
}
