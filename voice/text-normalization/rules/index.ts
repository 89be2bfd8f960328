/** What is put into words, in the order in which it is looked for: what one rule has replaced no later one sees. */
import type { Edit } from '../mapped-text.ts';
import { vocabularyOf, type Vocabulary } from '../vocabulary.ts';
import { addresses } from './addresses.ts';
import { dates } from './dates.ts';
import { money } from './money.ts';
import { phoneNumbers } from './phone-numbers.ts';
import { ranges } from './ranges.ts';
import { replacing, type Replacement } from './replacements.ts';
import { times } from './times.ts';
import { units } from './units.ts';

export type { Replacement } from './replacements.ts';

/** @param text of a {@link MappedText}. @returns what it replaces there */
export type Rule = (text: string) => readonly Edit[];

export interface Language {
  /** BCP 47, one that `Intl` knows. */
  readonly tag: string;
  readonly vocabulary: Vocabulary | undefined;
}

const RULES = { addresses, dates, times, phoneNumbers, money, units, ranges } as const satisfies Record<
  string,
  (language: Language) => Rule
>;

/** Each can be switched off by itself. */
export const NORMALIZATION_KINDS = ['markup', 'emoji', 'addresses', 'dates', 'times', 'phoneNumbers', 'money', 'units', 'ranges'] as const;
export type NormalizationKind = (typeof NORMALIZATION_KINDS)[number];

export interface RulesOptions {
  /** BCP 47. */
  readonly language: string;
  readonly replacements?: readonly Replacement[] | undefined;
  readonly normalization?: { readonly [K in NormalizationKind]?: boolean | undefined } | undefined;
}

/** For a language that `Intl` doesn't know there are only the agent's own replacements. */
export function rulesOf({ language, replacements = [], normalization = {} }: RulesOptions): readonly Rule[] {
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
