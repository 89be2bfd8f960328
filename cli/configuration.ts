import { type ConfigEntry, configEntries, ConfigError, loadConfig } from '../platform/config/config.ts';
import { MASK, maskUrl } from '../platform/masking.ts';

export interface DescribedVariable {
  readonly name: string;
  /** The value in force, masked if it is secret; null without one. */
  readonly value: string | null;
  readonly source: 'environment' | 'default' | 'unset';
  readonly default: string | null;
  readonly description: string;
  readonly secret: boolean;
  readonly problem?: string;
}

/** Lists every variable of the configuration as this environment sets it. An empty one counts as not set. */
export function describeConfig(env: Readonly<Record<string, string | undefined>>): readonly DescribedVariable[] {
  return configEntries().map((entry) => {
    const given = env[entry.name];
    const set = given !== undefined && given !== '';
    const fallback = defaultOf(entry);
    const problem = set ? problemWith(entry.name, given) : undefined;
    const described: DescribedVariable = {
      name: entry.name,
      value: set ? shown(entry, given) : fallback,
      source: set ? 'environment' : fallback === null ? 'unset' : 'default',
      default: fallback,
      description: entry.description,
      secret: entry.secret,
    };
    return problem === undefined ? described : Object.assign(described, { problem });
  });
}

function defaultOf(entry: ConfigEntry): string | null {
  const value = (entry.schema as { readonly default?: unknown }).default;
  return value === undefined ? null : typeof value === 'object' ? JSON.stringify(value) : `${value as string | number | boolean}`;
}

/** Shows a secret address but for its password: the rest helps to find a mistake. */
function shown(entry: ConfigEntry, value: string): string {
  if (!entry.secret) return value;
  return entry.name.endsWith('_URL') ? maskUrl(value) : MASK;
}

function problemWith(name: string, value: string): string | undefined {
  try {
    loadConfig({ [name]: value });
    return undefined;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // "the configuration has a bad value:\n  NAME: what\nSee …"
    return error.message
      .split('\n')
      .filter((line) => line.startsWith(`  ${name}`))
      .map((line) => line.trim())
      .join('; ');
  }
}
