/** Reads keys of models and tools without a cluster: from variables of the environment, and from Secrets in the files. */
import { MISSING_KEY } from '../../agent-tests/cassettes/recorder.ts';
import { llmProviders } from '../../crds/providers.ts';
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import type { ProviderDefaults, ProviderKeyReader, SecretKeyRef } from '../../calls/provider-access/index.ts';
import { ProviderKeyError } from '../../calls/provider-access/index.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The providers' own programs read these variables. */
export const PROVIDER_VARIABLES = {
  openai: 'OPENAI_API_KEY',
  azure_openai: 'AZURE_OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GEMINI_API_KEY',
  groq: 'GROQ_API_KEY',
  openai_compatible: 'OPENAI_COMPATIBLE_API_KEY',
} as const satisfies Readonly<Record<(typeof llmProviders)[number], string>>;

/** This text stands in examples and exports in the place of a value. */
const PLACEHOLDER = /replace-me/i;

interface Model {
  readonly provider: string;
  readonly baseURL?: string | undefined;
  readonly apiKeySecretRef?: SecretKeyRef | undefined;
}

export interface FileKeysOptions {
  readonly env: Environment;
  /** Returns a value of a Secret in the files. */
  readonly secret: (namespace: string, ref: SecretKeyRef) => string | undefined;
  /** Keys of these models may come from the variables of their providers. */
  readonly models: readonly Model[];
  /** Everything else that may name a Secret, and sends its key to an address of the files. */
  readonly others: unknown;
  /** False for recorded answers: they need no key, and get {@link MISSING_KEY} in its place. */
  readonly needed: boolean;
}

/**
 * Looks for a key in this order: `PARLEY_SECRET_<NAME>_<KEY>`, the Secret in the files, the variable of the provider. The last one never
 * goes to an address that the files name.
 */
export function fileKeys({ env, secret, models, others, needed }: FileKeysOptions): ProviderKeyReader {
  return {
    async read(org, ref) {
      const variable = secretVariable(ref);
      const inFiles = secret(org, ref);
      const own = variableFor(ref, models, others);
      const value = env[variable] || (inFiles !== undefined && !PLACEHOLDER.test(inFiles) ? inFiles : undefined) || (own && env[own]);
      if (value) return value.trim();
      if (!needed) return MISSING_KEY;
      throw new ProviderKeyError(
        'missing',
        `Secret ${ref.name} with the key "${ref.key}" is not in the files: set ${own === undefined ? variable : `${own} or ${variable}`}`,
      );
    },
  };
}

/** A key is read by its Secret, whoever asks for it: nothing that names the Secret may send a variable's value elsewhere. */
function variableFor(ref: SecretKeyRef, models: readonly Model[], others: unknown): string | undefined {
  const [first, ...more] = models.filter(({ apiKeySecretRef }) => namesKey(apiKeySecretRef, ref));
  if (first === undefined || namesKey(others, ref)) return undefined;
  const alike = more.every(({ provider }) => provider === first.provider);
  return alike && [first, ...more].every(({ baseURL }) => baseURL === undefined) ? variableOf(first.provider) : undefined;
}

/** Tells whether a reference to the key is anywhere in the value. */
function namesKey(value: unknown, ref: SecretKeyRef): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { name, key } = value as { readonly name?: unknown; readonly key?: unknown };
  return (name === ref.name && key === ref.key) || Object.values(value).some((part) => namesKey(part, ref));
}

const variableOf = (provider: string): string | undefined => (PROVIDER_VARIABLES as Readonly<Record<string, string>>)[provider];

export function secretVariable({ name, key }: SecretKeyRef): string {
  return `PARLEY_SECRET_${name}_${key}`.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
}

/** Adds the variables of providers that have none in the operator's defaults. */
export function withProviderVariables(defaults: ProviderDefaults, env: Environment): ProviderDefaults {
  const more = llmProviders.filter(
    (name) => (env[PROVIDER_VARIABLES[name]] ?? '') !== '' && !defaults.some((entry) => entry.name === name),
  );
  return [...defaults, ...more.map((name) => ({ name, apiKeyEnv: PROVIDER_VARIABLES[name] }))];
}

/** Returns the parts of an agent that read keys in a conversation in text, next to its models. */
export function othersOf({ agent, tools }: Pick<AgentRevisionConfig, 'agent' | 'tools'>): unknown {
  return [agent.dynamicData, tools];
}

export function modelsOf({ agent }: Pick<AgentRevisionConfig, 'agent'>): readonly Model[] {
  return [agent.llm, ...(agent.llm.fallbacks ?? [])];
}
