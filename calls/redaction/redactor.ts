/** Takes personal data out of texts and JSON: what has a shape, what the agent's own patterns match, and values that are known. */
import { RE2JS } from 're2js';

import type { RedactionKind, RedactionSpec } from '../../crds/redaction.ts';
import { digitRunsIn } from './digit-runs.ts';
import { findBirthDates, findCards, findEmails, findIbans, findPhones, type Place } from './finders.ts';
import { labelled, REDACTION_LABELS, type Finding } from './kinds.ts';

/** Fewest digits of a known number that are recognised as a part of it. */
const SHORTEST_PART = 4;

export interface RedactorOptions {
  readonly spec: Pick<RedactionSpec, 'kinds' | 'patterns'>;
  /** BCP 47 tag of the language that is spoken. */
  readonly language: string;
  /** The year that dates of birth are before. */
  readonly thisYear: number;
  /** Called with each value that is taken out. @param kind of the agent's kinds, or the name of its pattern */
  readonly onRedaction?: ((kind: string) => void) | undefined;
}

export interface KnownValue {
  readonly value: string;
  readonly kind: RedactionKind;
}

interface Pattern {
  readonly name: string;
  readonly label: string;
  readonly regex: RE2JS;
}

/** In this order: where two overlap, the first one names what it is. */
type Find = (text: string, options: Pick<RedactorOptions, 'language' | 'thisYear'>) => readonly Place[];
const FINDERS: readonly (readonly [RedactionKind, Find])[] = [
  ['Email', findEmails],
  ['IBAN', (text, { language }) => findIbans(text, language)],
  ['Card', (text, { language }) => findCards(text, language)],
  ['BirthDate', findBirthDates],
  ['Phone', (text, { language }) => findPhones(text, language)],
];

/** A redactor of one call: what was found once is found again in parts, as when an agent repeats the last four digits. */
export class Redactor {
  readonly #options: RedactorOptions;
  readonly #patterns: readonly Pattern[];
  #counts = true;
  readonly #words = new Map<string, KnownValue>();
  readonly #numbers = new Map<string, RedactionKind>();

  constructor(options: RedactorOptions) {
    this.#options = options;
    this.#patterns = (options.spec.patterns ?? []).map(({ name, regex, label }) => ({
      name,
      label: label ?? name,
      regex: RE2JS.compile(regex),
    }));
  }

  /** Tells whether digits of several messages may be one number that is taken out. */
  get findsNumbers(): boolean {
    return this.#patterns.length > 0 || (this.#options.spec.kinds ?? []).some((kind) => kind === 'Card' || kind === 'Phone');
  }

  get language(): string {
    return this.#options.language;
  }

  /** Remembers values that are taken out wherever they stand from now on. */
  remember(values: readonly KnownValue[]): void {
    for (const known of values) {
      const digits = digitRunsIn(known.value, this.#options.language)
        .map((run) => run.digits)
        .join('');
      if (digits.length >= SHORTEST_PART && digits.length * 2 > known.value.length) this.#numbers.set(digits, known.kind);
      else if (known.value.trim() !== '') this.#words.set(known.value.trim().toLowerCase(), known);
    }
  }

  /** Finds what is personal, in order and without overlaps. Remembers numbers. */
  find(text: string): readonly Finding[] {
    const { spec } = this.#options;
    const shaped = FINDERS.filter(([kind]) => spec.kinds?.includes(kind)).flatMap(([kind, find]) => {
      const places = find(text, this.#options);
      if (kind !== 'BirthDate') this.remember(places.map(({ start, end }) => ({ value: text.slice(start, end), kind })));
      return places.map((place) => findingOf(place, kind));
    });
    const own = this.#patterns.flatMap(({ name, label, regex }) => matchesOf(regex, text).map((place) => findingOf(place, name, label)));
    return withoutOverlaps([...shaped, ...own, ...this.#known(text)]);
  }

  /** Puts labels in the place of what is personal, and counts it. @param more what is known of the text besides */
  redact(text: string, more: readonly Finding[] = []): string {
    let redacted = '';
    let behind = 0;
    for (const { start, end, kind, label } of withoutOverlaps([...this.find(text), ...more])) {
      redacted += `${text.slice(behind, start)}${labelled(label)}`;
      behind = end;
      if (this.#counts) this.#options.onRedaction?.(kind);
    }
    return redacted + text.slice(behind);
  }

  /** Redacts a value without counting, as for a log line, which says again what is stored. */
  redactUncounted(value: unknown): unknown {
    this.#counts = false;
    try {
      return this.redactValue(value);
    } finally {
      this.#counts = true;
    }
  }

  /** Redacts all texts of JSON, names of fields and long numbers included. */
  redactValue(value: unknown): unknown {
    if (typeof value === 'string') return this.redactText(value);
    if (typeof value === 'number' || typeof value === 'bigint') {
      const text = String(value);
      const redacted = this.redact(text);
      return redacted === text ? value : redacted;
    }
    if (Array.isArray(value)) return value.map((item) => this.redactValue(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.redact(key), this.redactValue(item)]));
  }

  /** Redacts a text that may be JSON, whose signs would hide what is in it. */
  redactText(text: string): string {
    if (!/^\s*[[{"]/.test(text)) return this.redact(text);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return this.redact(text);
    }
    const redacted = JSON.stringify(this.redactValue(value));
    return redacted === JSON.stringify(value) ? text : redacted;
  }

  #known(text: string): readonly Finding[] {
    const words = [...this.#words.entries()].flatMap(([value, { kind }]) => placesOf(value, text).map((place) => findingOf(place, kind)));
    if (this.#numbers.size === 0) return words;
    const numbers = digitRunsIn(text, this.#options.language).flatMap(({ groups }) =>
      groups.flatMap((_, from) => {
        for (let to = groups.length; to > from; to -= 1) {
          const part = groups.slice(from, to);
          const digits = part.map((group) => group.digits).join('');
          if (digits.length < SHORTEST_PART) break;
          for (const [number, kind] of this.#numbers)
            if (number.includes(digits)) return [findingOf({ start: part[0]!.start, end: part.at(-1)!.end }, kind)];
        }
        return [];
      }),
    );
    return [...words, ...numbers];
  }
}

const findingOf = ({ start, end }: Place, kind: string, label = REDACTION_LABELS[kind as RedactionKind]): Finding => ({
  start,
  end,
  kind,
  label,
});

/** Returns the places of a value between other letters and digits. @param value in lower case */
function placesOf(value: string, text: string): readonly Place[] {
  // A letter whose small form is longer would move what is behind it.
  const lower = text.toLowerCase().length === text.length ? text.toLowerCase() : text;
  const places: Place[] = [];
  for (let start = lower.indexOf(value); start >= 0; start = lower.indexOf(value, start + 1)) {
    const end = start + value.length;
    const isPart = /[\p{L}\p{Nd}]$/u.test(lower.slice(0, start)) || /^[\p{L}\p{Nd}]/u.test(lower.slice(end));
    if (!isPart) places.push({ start, end });
  }
  return places;
}

function matchesOf(regex: RE2JS, text: string): readonly Place[] {
  const matcher = regex.matcher(text);
  const places: Place[] = [];
  while (matcher.find()) if (matcher.end() > matcher.start()) places.push({ start: matcher.start(), end: matcher.end() });
  return places;
}

/** Keeps the longest of findings that overlap; of equally long ones the first. */
function withoutOverlaps(findings: readonly Finding[]): readonly Finding[] {
  const kept: Finding[] = [];
  for (const finding of findings.toSorted((a, b) => b.end - b.start - (a.end - a.start)))
    if (kept.every(({ start, end }) => finding.end <= start || finding.start >= end)) kept.push(finding);
  return kept.toSorted((a, b) => a.start - b.start);
}
