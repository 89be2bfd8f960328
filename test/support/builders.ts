/** Builds small valid objects of every kind, as a person would apply them; `spec` is merged over the smallest one. */
import { API_VERSION } from '../../crds/kind.ts';

export interface TestManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
  };
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly data?: Readonly<Record<string, string>>;
}

type Spec = Readonly<Record<string, unknown>>;

function manifest(kind: string, name: string, namespace: string | undefined, spec: Spec): TestManifest {
  return { apiVersion: API_VERSION, kind, metadata: { name, ...(namespace === undefined ? {} : { namespace }) }, spec };
}

export const anAgent = (name: string, namespace?: string, spec: Spec = {}): TestManifest =>
  manifest('Agent', name, namespace, {
    llm: { provider: 'openai', model: 'gpt-4o-mini' },
    speechToText: { provider: 'deepgram' },
    textToSpeech: { provider: 'elevenlabs' },
    ...spec,
  });

export const aTool = (name: string, namespace?: string, spec: Spec = {}): TestManifest =>
  manifest('Tool', name, namespace, {
    type: 'Custom',
    custom: { function: { name: name.replaceAll('.', '_') }, http: { url: 'https://api.example.com/orders' } },
    ...spec,
  });

export const aPhoneNumber = (name: string, number: string, namespace?: string, spec: Spec = {}): TestManifest =>
  manifest('PhoneNumber', name, namespace, { number, type: 'Native', ...spec });

export const aKnowledgeBase = (name: string, namespace?: string, spec: Spec = {}): TestManifest =>
  manifest('KnowledgeBase', name, namespace, { description: 'What we know', ...spec });

export const aWebhookSubscription = (name: string, namespace?: string, spec: Spec = {}): TestManifest =>
  manifest('WebhookSubscription', name, namespace, { url: 'https://hooks.example.com/parley', ...spec });

export const anAgentTest = (name: string, agent: string, namespace?: string, spec: Spec = {}): TestManifest =>
  manifest('AgentTest', name, namespace, {
    agentRefs: [{ name: agent }],
    required: true,
    type: 'Conversation',
    conversation: [{ type: 'User', user: 'What are your opening hours?', expect: [{ type: 'Answer', answer: { contains: ['nine'] } }] }],
    ...spec,
  });

export const aSecret = (name: string, stringData: Readonly<Record<string, string>>, namespace?: string): TestManifest => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  stringData,
});

export const aConfigMap = (name: string, data: Readonly<Record<string, string>>, namespace?: string): TestManifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
  data,
});

/** Returns the body that the documented API asks of a new agent, and nothing more. */
export const anAgentRequest = (name: string, fields: Spec = {}): Spec => ({
  agent_name: name,
  llm: { model_name: 'gpt-4o-mini' },
  stt: { provider: 'deepgram' },
  tts: { provider: 'elevenlabs' },
  ...fields,
});
