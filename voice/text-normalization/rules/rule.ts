import type { Edit } from '../mapped-text.ts';
import type { Vocabulary } from '../vocabulary.ts';

/** @param text of a {@link MappedText}. @returns what it replaces there */
export type Rule = (text: string) => readonly Edit[];

export interface Language {
  /** BCP 47, one that `Intl` knows. */
  readonly tag: string;
  readonly vocabulary: Vocabulary | undefined;
}
