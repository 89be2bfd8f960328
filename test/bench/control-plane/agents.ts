/** The Agents that every part of the benchmark reads and writes. */
import type { Condition, KubeObject, ResourceDescriptor } from '../../../kube/types.ts';
import { apiVersionOf } from '../../../kube/types.ts';

/** An Agent as it is sent: it leaves out what the schema defaults. */
export interface BenchAgent extends KubeObject {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: { readonly conditions?: readonly Condition[] };
}

export const agentDescriptor: ResourceDescriptor = {
  group: 'parley.dev',
  version: 'v1beta1',
  kind: 'Agent',
  plural: 'agents',
  namespaced: true,
};

const apiVersion = apiVersionOf(agentDescriptor);

/** A prompt of about 1 kB: people write rather that than what is quickest to send. */
const systemPrompt = Array.from(
  { length: 12 },
  (_, index) => `${index + 1}. Answer in two sentences at most, confirm names and numbers by repeating them.`,
).join('\n');

export interface AgentOptions {
  readonly namespace: string;
  readonly name: string;
  /** A different number is a different spec, hence one more generation. */
  readonly version?: number;
}

export function benchAgent(options: AgentOptions): BenchAgent {
  return {
    apiVersion,
    kind: 'Agent',
    metadata: { namespace: options.namespace, name: options.name },
    spec: {
      displayName: options.name,
      welcomeMessage: `Hello, this is version ${options.version ?? 0}.`,
      llm: { provider: 'openai', model: 'gpt-4o-mini', systemPrompt, temperature: '0.2' },
      speechToText: { provider: 'deepgram', model: 'nova-3' },
      textToSpeech: { provider: 'cartesia', voice: { id: 'warm-1' } },
    },
  };
}

export interface ConditionOptions {
  readonly namespace: string;
  readonly name: string;
  readonly uid?: string;
  readonly type: string;
  readonly observedGeneration: number;
  readonly lastTransitionTime: string;
}

/** Builds an Agent that carries one condition and nothing else: the body of a status apply. */
export function agentWithCondition(options: ConditionOptions): BenchAgent {
  const { namespace, name, uid, type, observedGeneration, lastTransitionTime } = options;
  return {
    apiVersion,
    kind: 'Agent',
    metadata: { namespace, name, ...(uid === undefined ? {} : { uid }) },
    status: { conditions: [{ type, status: 'True', observedGeneration, lastTransitionTime, reason: 'Observed', message: '' }] },
  };
}

export function conditionOf(agent: BenchAgent, type: string): Condition | undefined {
  return agent.status?.conditions?.find((condition) => condition.type === type);
}

/** Returns `prefix-0000`, `prefix-0001`, … */
export function agentNames(prefix: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${String(index).padStart(4, '0')}`);
}
