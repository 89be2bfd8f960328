/** Keys of models and tools without a cluster: from variables of the environment, and from Secrets in the files. */
import { MISSING_KEY } from '../../agent-tests/cassettes/recorder.ts';
import { llmProviders } from '../../crds/limits.ts';
import type { AgentRevisionConfig } from '../../crds/agent-revision.ts';
import type { ProviderDefaults, ProviderKeyReader, SecretKeyRef } from '../../voice/calls/provider-access/index.ts';
import { ProviderKeyError } from '../../voice/calls/provider-access/index.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** As the providers' own programs have them. */
export const PROVIDER_VARIABLES = {
  openai: 'OPENAI_API_KEY',
  azure_openai: 'AZURE_OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GEMINI_API_KEY',
  groq: 'GROQ_API_KEY',
  openai_compatible: 'OPENAI_COMPATIBLE_API_KEY',
} as const satisfies Readonly<Record<(typeof llmProviders)[number], string>>;

/** What stands in examples and exports in the place of a value. */
const PLACEHOLDER = /replace-me/i;

interface Model {
  readonly provider: string;
  readonly baseURL?: string | undefined;
  readonly apiKeySecretRef?: SecretKeyRef | undefined;
}

export interface FileKeysOptions {
  readonly env: Environment;
  /** Of the files. */
  readonly secret: (namespace: string, ref: SecretKeyRef) => string | undefined;
  /** Whose keys may come from the variables of their providers. */
  readonly models: readonly Model[];
  /** Recorded answers need none: {@link MISSING_KEY} is given in its place. */
  readonly needed: boolean;
}

/**
 * In this order: `PARLEY_SECRET_<NAME>_<KEY>`, the Secret in the files, the variable of the provider. The last one never goes to an address that the
 * files name.
 */
export function fileKeys({ env, secret, models, needed }: FileKeysOptions): ProviderKeyReader {
  return {
    async read(org, ref) {
      const variable = secretVariable(ref);
      const inFiles = secret(org, ref);
      const model = models.find(({ apiKeySecretRef }) => apiKeySecretRef?.name === ref.name && apiKeySecretRef.key === ref.key);
      const own = model !== undefined && model.baseURL === undefined ? variableOf(model.provider) : undefined;
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

const variableOf = (provider: string): string | undefined => (PROVIDER_VARIABLES as Readonly<Record<string, string>>)[provider];

export function secretVariable({ name, key }: SecretKeyRef): string {
  return `PARLEY_SECRET_${name}_${key}`.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
}

/** The operator's defaults, and the variables of providers that have none there. */
export function withProviderVariables(defaults: ProviderDefaults, env: Environment): ProviderDefaults {
  const more = llmProviders.filter(
    (name) => (env[PROVIDER_VARIABLES[name]] ?? '') !== '' && !defaults.some((entry) => entry.name === name),
  );
  return [...defaults, ...more.map((name) => ({ name, apiKeyEnv: PROVIDER_VARIABLES[name] }))];
}

/** The models of an agent. */
export function modelsOf({ agent }: Pick<AgentRevisionConfig, 'agent'>): readonly Model[] {
  return [agent.llm, ...(agent.llm.fallbacks ?? [])];
}
