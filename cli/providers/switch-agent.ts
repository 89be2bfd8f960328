/** Has the example agent of a local stack use providers in place of the robot, or the robot again. Keys go into Secrets, and nowhere else. */
import { readFileSync } from 'node:fs';

import { parseAllDocuments } from 'yaml';

import type { ProviderPart } from '../../calls/provider-access/index.ts';
import { agentKind, type Agent } from '../../crds/index.ts';
import { findCondition } from '../../crds/kind.ts';
import { KubeError, ResourceClient, type KubeObject, type Transport } from '../../kube/index.ts';
import { EXAMPLE_AGENT } from '../../local-stack/first-start.ts';
import { findExamples } from '../../local-stack/manifests.ts';
import type { Clock } from '../../platform/clock.ts';
import { pollUntil } from '../../platform/poll-until.ts';
import { UserError } from '../../platform/user-error.ts';
import { FIELD_MANAGER } from '../cluster/connect.ts';
import { builtIn } from '../cluster/descriptors.ts';
import { knownProvider, type ProviderName } from './catalogue.ts';
import type { CheckedPart } from './check-part.ts';
import type { ProviderKey } from './read-keys.ts';

interface Secret extends KubeObject {
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
}

type AgentSpec = Agent['spec'];
type SpecField = 'llm' | 'speechToText' | 'textToSpeech';

export const SPEC_FIELDS: Readonly<Record<ProviderPart, SpecField>> = { llm: 'llm', stt: 'speechToText', tts: 'textToSpeech' };
/** Fields that are another provider's: what the new one doesn't set goes. Prompt, temperature and the like stay. */
const PROVIDER_FIELDS: Readonly<Record<SpecField, readonly string[]>> = {
  llm: ['provider', 'model', 'baseURL', 'apiKeySecretRef', 'fallbacks'],
  speechToText: ['provider', 'model', 'baseURL', 'apiKeySecretRef', 'fallbacks'],
  textToSpeech: ['provider', 'model', 'voice', 'baseURL', 'apiKeySecretRef', 'fallbacks'],
};
const MANAGED = { 'app.kubernetes.io/managed-by': 'parley-dev' };
const SECRET_KEY = 'api-key';
/** The operator needs less than a second. */
const READY_WITHIN_MS = 60_000;

export interface SwitchOptions {
  readonly transport: Transport;
  readonly org: string;
  readonly clock: Clock;
}

export interface Switched {
  readonly spec: AgentSpec;
  /** Providers whose Secret had another key before: calls may use that for another minute. */
  readonly changedKeys: readonly ProviderName[];
}

/** @throws UserError where the agent is gone, or can't be used so */
export async function switchToProviders(
  parts: readonly CheckedPart[],
  keys: ReadonlyMap<ProviderName, ProviderKey>,
  options: SwitchOptions,
): Promise<Switched> {
  const changedKeys: ProviderName[] = [];
  await agentOf(options);
  // What the agent refers to is there first.
  for (const name of new Set(parts.map((part) => part.name))) {
    const key = keys.get(name);
    if (key !== undefined && (await writeKey(name, key, options))) changedKeys.push(name);
  }
  const patch = Object.fromEntries(
    parts.map(({ part, name, baseURL, model }) => {
      const apiKeySecretRef = keys.has(name) ? { name: secretName(name), key: SECRET_KEY } : undefined;
      return [SPEC_FIELDS[part], completed(SPEC_FIELDS[part], { provider: knownProvider(name).provider, model, baseURL, apiKeySecretRef })];
    }),
  );
  return { spec: await patchAgent(patch, options), changedKeys };
}

/** Gives the agent the providers of its example again, which the local stack replaces by the robot. @throws UserError */
export async function switchToRobot(options: SwitchOptions): Promise<Switched> {
  await agentOf(options);
  const example = exampleSpec();
  const patch = Object.fromEntries(Object.values(SPEC_FIELDS).map((field) => [field, completed(field, { ...example[field] })]));
  return { spec: await patchAgent(patch, options), changedKeys: [] };
}

/** Sets the field's members that belong to a provider: those that are absent become `null`, which removes them. */
function completed(field: SpecField, values: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(PROVIDER_FIELDS[field].map((name) => [name, values[name] ?? null]));
}

function exampleSpec(): AgentSpec {
  const documents = findExamples().files.flatMap((file) => parseAllDocuments(readFileSync(file, 'utf8')));
  const objects = documents.map((document) => document.toJS() as KubeObject | null);
  const found = objects.find((object) => object?.kind === 'Agent' && object.metadata.name === EXAMPLE_AGENT);
  if (found === undefined) throw new Error(`the examples have no agent ${EXAMPLE_AGENT}`);
  return (found as Agent).spec;
}

const secretName = (name: ProviderName): string => `provider-${name.replaceAll('_', '-')}`;

const clientOf = <T extends KubeObject>(descriptor: ResourceClient<T>['descriptor'], { transport }: SwitchOptions): ResourceClient<T> =>
  new ResourceClient<T>({ transport, descriptor, fieldManager: FIELD_MANAGER });

async function agentOf(options: SwitchOptions): Promise<Agent> {
  try {
    return await clientOf<Agent>(agentKind.descriptor, options).get({ namespace: options.org, name: EXAMPLE_AGENT });
  } catch (cause) {
    if (!(cause instanceof KubeError) || !cause.notFound) throw cause;
    throw new UserError(`there is no agent ${EXAMPLE_AGENT} in the organisation ${options.org}`, {
      cure: 'kubectl apply --server-side -f examples/ brings it back; an agent of yours gets a provider in its spec (docs/first-agent.md)',
      cause,
    });
  }
}

/** @returns whether there was another key before */
async function writeKey(name: ProviderName, { value }: ProviderKey, options: SwitchOptions): Promise<boolean> {
  const secrets = clientOf<Secret>(builtIn.secrets, options);
  const at = { namespace: options.org, name: secretName(name) };
  const data = { [SECRET_KEY]: Buffer.from(value).toString('base64') };
  const before = await secrets.get(at).catch((error: unknown) => {
    if (error instanceof KubeError && error.notFound) return undefined;
    throw error;
  });
  await secrets.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { ...at, labels: MANAGED }, type: 'Opaque', data }, { force: true });
  return before !== undefined && before.data?.[SECRET_KEY] !== data[SECRET_KEY];
}

async function patchAgent(spec: object, options: SwitchOptions): Promise<AgentSpec> {
  const agents = clientOf<Agent>(agentKind.descriptor, options);
  const { generation } = (await agents.patch({ namespace: options.org, name: EXAMPLE_AGENT }, { spec })).metadata;
  const readyOf = (found: Agent) => {
    const ready = findCondition(found, 'Ready');
    return ready?.observedGeneration === generation ? ready : undefined;
  };
  const agent = await pollUntil(
    () => agentOf(options),
    (found) => readyOf(found)?.status === 'True' || found.metadata.generation !== generation,
    { everyMs: 200, withinMs: READY_WITHIN_MS, clock: options.clock },
  );
  const ready = readyOf(agent);
  if (ready?.status !== 'True' && agent.metadata.generation === generation)
    throw new UserError(`the agent ${EXAMPLE_AGENT} is not Ready with it: ${ready?.message ?? 'the operator has not seen it yet'}`, {
      cure: `parley explain agent/${EXAMPLE_AGENT} says more; parley dev --provider offline takes it back to the robot`,
    });
  await removeUnusedKeys(options);
  return agent.spec;
}

/** A key that no agent names any more has nothing to do in the cluster. */
async function removeUnusedKeys(options: SwitchOptions): Promise<void> {
  const secrets = clientOf<Secret>(builtIn.secrets, options);
  const [{ items: agents }, { items: written }] = await Promise.all([
    clientOf<Agent>(agentKind.descriptor, options).listAll({ namespace: options.org }),
    secrets.listAll({
      namespace: options.org,
      labelSelector: Object.entries(MANAGED)
        .map((label) => label.join('='))
        .join(','),
    }),
  ]);
  const named = JSON.stringify(agents.map(({ spec }) => spec));
  for (const { metadata } of written)
    if (!named.includes(JSON.stringify(metadata.name))) await secrets.delete({ namespace: options.org, name: metadata.name });
}
