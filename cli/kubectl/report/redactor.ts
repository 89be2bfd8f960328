/**
 * Takes out of texts what is secret, or looks like it. A value that was masked once, as that of a variable or of a header, is masked
 * wherever else it stands: in a line of a log, in an event, in an error that quotes it.
 */
import { MASK } from '../../../platform/masking.ts';
import { SECRET_WORDS } from '../../../platform/secret-keys.ts';
import { ADDRESS_PATTERN, maskAddress } from './address.ts';

/** Shortest value that is remembered: shorter ones are words that stand everywhere. */
const MIN_KNOWN = 6;
/** Shortest word that is remembered: `secret`, `string`, `default` are shorter. */
const MIN_WORD = 8;
const MAX_KNOWN = 512;
/** Matches one word, or several: a name, as often as not. */
const WORDS_ONLY = /^[a-z]+([-_. ][a-z]+)*$/i;

/** Values of these names are secret. */
const SECRET_WORD = `(?:[a-z0-9_.-]{0,64}(?:${SECRET_WORDS})[a-z0-9_.-]{0,64})`;

interface Rule {
  readonly pattern: RegExp;
  /** @returns the text in front of the secret, the secret, and the text behind it */
  readonly parts: (groups: readonly string[]) => readonly [before: string, secret: string, after: string];
}

/** Rules in order: whole blocks, then what has a name, then what looks like a secret. */
const rules: readonly Rule[] = [
  {
    pattern: /-----BEGIN [A-Z0-9 ]+-----[\s\S]*?(?:-----END [A-Z0-9 ]+-----|$)/g,
    parts: ([whole = '']) => ['', whole, ''],
  },
  // This finds scheme://user:password@host, and scheme://token@host.
  {
    pattern: /\b([a-z][a-z0-9+.-]{0,20}:\/\/)([^\s/@:"'<>]*):([^\s@"'<>]+)@/gi,
    parts: ([, scheme = '', user = '', word = '']) => [`${scheme}${user}:`, word, '@'],
  },
  { pattern: /\b([a-z][a-z0-9+.-]{0,20}:\/\/)([^\s/@:"'<>]{6,})@/gi, parts: ([, scheme = '', word = '']) => [scheme, word, '@'] },
  // This finds ?name=value of an address.
  {
    pattern: /([?&][^=&#\s"'<>]{1,100}=)([^&#\s"'<>]+)/g,
    parts: ([, name = '', value = '']) => [name, value, ''],
  },
  { pattern: /\b((?:bearer|basic|digest)\s+)([\w.~+/=-]{6,})/gi, parts: ([, scheme = '', value = '']) => [scheme, value, ''] },
  { pattern: /(\b(?:set-)?cookie\\?["']?\s*[:=]\s*\\?["']?)([^\n"']+)/gi, parts: ([, name = '', value = '']) => [name, value, ''] },
  // This finds any scheme and its credentials.
  {
    pattern: /(authorization\\?["']?\s*[:=]\s*\\?["']?)([^\s"'\\]+(?:\s+[^\s"'\\,;]+)?)/gi,
    parts: ([, name = '', value = '']) => [name, value, ''],
  },
  // This finds "password": "two words".
  {
    pattern: new RegExp(`((?:\\\\?["'])?${SECRET_WORD}(?:\\\\?["'])?\\s*(?:=>|[:=])\\s*\\\\?)(["'])((?:(?!\\\\?\\2)[^\\n])+)`, 'gi'),
    parts: ([, name = '', quote = '', value = '']) => [name + quote, value, ''],
  },
  // This finds password=x, the password is x, --token x.
  {
    pattern: new RegExp(
      `((?:\\\\?["'])?${SECRET_WORD}(?:\\\\?["'])?\\s*(?:=>|[:=]|\\bis\\b)\\s*(?:\\\\?["'])?)((?!(?:bearer|basic|digest)\\b)[^\\s"'\\\\,;&}\\])]+)`,
      'gi',
    ),
    parts: ([, name = '', value = '']) => [name, value, ''],
  },
  {
    pattern: new RegExp(`(--?${SECRET_WORD}\\s+)([^\\s"'-][^\\s"']*)`, 'gi'),
    parts: ([, name = '', value = '']) => [name, value, ''],
  },
  // This finds JSON web tokens, and keys by the prefixes that their makers gave them.
  { pattern: /\beyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?/g, parts: ([whole = '']) => ['', whole, ''] },
  {
    pattern:
      /\b(pk_|sk_|rk_|sk-|whsec_|ghp_|gho_|ghs_|github_pat_|glpat-|xox[abeprs]-|hf_|AIza|AKIA|ASIA|SG\.|shpat_|dop_v1_|npm_|key-|gsk_|dg_|el_|cal_)([\w.+/=-]{8,})/g,
    parts: ([, prefix = '', value = '']) => [prefix, value, ''],
  },
  // A long and mixed text is nothing that people, or Kubernetes, would call anything.
  {
    pattern: /(?<![\w+/=-])(?=[\w+/-]*[a-z])(?=[\w+/-]*[A-Z])(?=[\w+/-]*\d)[\w+/-]{24,}={0,2}(?![\w+/=-])/g,
    parts: ([whole = '']) => ['', whole, ''],
  },
  // This finds addresses and numbers of people.
  { pattern: /\b([\w.%+-]{1,64})(@[\w-]{1,63}(?:\.[\w-]{1,63})+)/g, parts: ([, who = '', host = '']) => ['', who, host] },
  { pattern: /(\+\d{2})(\d{5,13})\b/g, parts: ([, country = '', rest = '']) => [country, rest, ''] },
];

export class Redactor {
  readonly #known = new Set<string>();
  /** Values of nothing but letters, which are looked for as whole words. */
  readonly #words = new Set<string>();
  readonly #kept: Set<string>;

  /** @param kept values that are never secret: names that everything else refers to */
  constructor(kept: Iterable<string> = []) {
    this.#kept = new Set(kept);
  }

  /** Keeps names of objects and namespaces: a variable that holds one doesn't make it a secret. */
  keep(...values: readonly string[]): void {
    for (const value of values) this.#kept.add(value);
  }

  /** Returns the mask for a value that stands where secrets stand; it is known from now on, even where it is a word. */
  secret(value: string): string {
    const word = value.trim();
    if (WORDS_ONLY.test(word) && word.length >= MIN_WORD && word.length <= MAX_KNOWN) this.#words.add(word);
    return this.unknown(value);
  }

  /**
   * Returns the mask for a value that is not known to be harmless: a label, an argument. It is known from now on, unless it is a word:
   * `production` stands in too many places in which it is no secret.
   */
  unknown(value: string): string {
    if (value === '') return '';
    this.#remember(value);
    // Its parts may stand alone elsewhere: the password of an address, the value behind a flag.
    this.text(value);
    if (ADDRESS_PATTERN.test(value) && URL.canParse(value)) maskAddress(value, this);
    const [, part] = /^-{0,2}[\w.-]+=(\S+)$/.exec(value) ?? [];
    if (part !== undefined) this.#remember(part);
    return MASK;
  }

  /** Returns the mask for a value that is private and too common, or too long, to be looked for elsewhere. */
  hidden(value: string): string {
    return value === '' ? '' : `${MASK} (${value.length} characters)`;
  }

  /** Returns the text without what its name or its format marks as a secret. */
  text(text: string): string {
    let masked = text;
    for (const { pattern, parts } of rules) {
      masked = masked.replace(pattern, (...groups: readonly (string | number)[]) => {
        const [before, secret, after] = parts(groups.filter((group) => typeof group === 'string'));
        if (secret.includes(MASK)) return `${before}${secret}${after}`;
        this.#remember(secret);
        return `${before}${MASK}${after}`;
      });
    }
    return masked;
  }

  /** Finishes every file: what was masked anywhere is masked in it, as it is, in base64, or with JSON's or an address's escapes. */
  finish(text: string): string {
    const isLookedFor = (value: string): boolean => !this.#kept.has(value);
    const forms = [...this.#known].filter(isLookedFor).flatMap(writings);
    const words = [...this.#words].filter(isLookedFor);
    const patterns = [
      // Longer ones first: one may begin with another.
      ...longestFirst([...forms, ...words.map(base64)]).map(escape),
      ...longestFirst(words).map((word) => `(?<![A-Za-z0-9])${escape(word)}(?![A-Za-z0-9])`),
    ];
    return patterns.length === 0 ? text : text.replace(new RegExp(patterns.join('|'), 'g'), MASK);
  }

  #remember(value: string): void {
    const word = value.trim();
    if (word.length < MIN_KNOWN || word.length > MAX_KNOWN || word.includes('\n')) return;
    if (WORDS_ONLY.test(word) || /^[\d.]+$/.test(word)) return;
    this.#known.add(word);
  }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64').replace(/=+$/, '');
const writings = (text: string): readonly string[] => [text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text), base64(text)];
const longestFirst = (texts: readonly string[]): readonly string[] => [...new Set(texts)].sort((a, b) => b.length - a.length);

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}
