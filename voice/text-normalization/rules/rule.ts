import type { Edit } from '../mapped-text.ts';
import type { Vocabulary } from '../vocabulary.ts';

/** Finds text to replace. @param text of a {@link MappedText}. @returns the edits */
export type Rule = (text: string) => readonly Edit[];

export interface Language {
  /** BCP 47 tag that `Intl` knows. */
  readonly tag: string;
  readonly vocabulary: Vocabulary | undefined;
}
