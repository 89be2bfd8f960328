/** The kinds of personal data that are taken out of what is stored, and the labels that stand in their place. */
import type { RedactionKind } from '../../crds/redaction.ts';

/** Labels as readers of a transcript see them, in brackets. */
export const REDACTION_LABELS: Readonly<Record<RedactionKind, string>> = {
  Card: 'card',
  IBAN: 'iban',
  Phone: 'phone',
  Email: 'email',
  Address: 'address',
  Name: 'name',
  BirthDate: 'birth date',
};

/** What was found in a text. */
export interface Finding {
  /** Position of its first character. */
  readonly start: number;
  /** Position behind its last character. */
  readonly end: number;
  /** Name that is counted: of a kind, or of a pattern of the agent. */
  readonly kind: string;
  readonly label: string;
}

/** The whole text that takes the place of what is personal. */
export const labelled = (label: string): string => `[${label}]`;
