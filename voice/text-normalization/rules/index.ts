/** Lists the rules in their order: a rule doesn't see what an earlier one has replaced. */
import type { AgentSpec } from '../../../crds/agent.ts';
import { vocabularyOf } from '../vocabulary.ts';
import { addresses } from './addresses.ts';
import { dates } from './dates.ts';
import { money } from './money.ts';
import { phoneNumbers } from './phone-numbers.ts';
import { ranges } from './ranges.ts';
import { replacing } from './replacements.ts';
import type { Rule } from './rule.ts';
import { times } from './times.ts';
import { units } from './units.ts';

const RULES = { addresses, dates, times, phoneNumbers, money, units, ranges } satisfies Partial<Record<NormalizationKind, unknown>>;

/** Replacements of the agent's own, and the kinds that stay as they are written. */
export interface NormalizationOptions extends NonNullable<AgentSpec['speech']> {
  /** BCP 47 tag. */
  readonly language: string;
}

export type NormalizationKind = keyof NonNullable<NormalizationOptions['normalization']>;

/** Returns the rules. For a language that `Intl` doesn't know there are only the agent's own replacements. */
export function rulesOf({ language, replacements = [], normalization = {} }: NormalizationOptions): readonly Rule[] {
  const known = { tag: language, vocabulary: vocabularyOf(language) };
  const rules = isKnown(language) ? Object.entries(RULES).filter(([kind]) => normalization[kind as NormalizationKind] !== false) : [];
  return [...replacing(replacements), ...rules.map(([, rule]) => rule(known))];
}

function isKnown(language: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(language).length > 0;
  } catch {
    return false;
  }
}
