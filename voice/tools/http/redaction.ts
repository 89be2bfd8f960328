/**
 * Masks the secrets of a request in its answer: a server that echoes its headers must not reveal them to the model, which would say them to the user.
 */
import { MASK } from '../../../platform/masking.ts';

/** Length of the shortest secret: masking shorter text would destroy words. */
const MIN_LENGTH = 4;

export class Redaction {
  readonly #pattern: RegExp | undefined;
  /** Length of the longest form, in UTF-16 units; 0 without secrets. */
  readonly longest: number;

  /** Masks secrets. @param secrets as they were sent; also looked for in the forms that JSON, addresses, HTML and Base64 give them */
  constructor(secrets: Iterable<string>) {
    const forms = [...new Set([...secrets].flatMap(secretParts).flatMap(formsOf))]
      .filter((form) => form.length >= MIN_LENGTH)
      // The longest match comes first.
      .toSorted((a, b) => b.length - a.length);
    this.longest = forms[0]?.length ?? 0;
    // Hexadecimal and host-like secrets may come back in another case.
    this.#pattern = forms.length === 0 ? undefined : new RegExp(forms.map(escaped).join('|'), 'gi');
  }

  text(text: string): string {
    return this.#pattern === undefined ? text : text.replace(this.#pattern, MASK);
  }

  /** Masks all strings of a JSON value, names too. */
  value<T>(value: T): T {
    return this.#pattern === undefined ? value : (this.#mask(value) as T);
  }

  #mask(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    // A secret of digits may come back as a number.
    if (typeof value === 'number') return this.text(String(value)) === String(value) ? value : MASK;
    if (Array.isArray(value)) return value.map((item) => this.#mask(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [this.text(key), this.#mask(item)]));
  }
}

/** Returns the parts that are secret: `Bearer abc` without its scheme, too; `Basic` encodes a name and a password. */
function secretParts(secret: string): readonly string[] {
  const trimmed = secret.trim();
  const [, scheme = '', credentials = ''] = /^([A-Za-z][A-Za-z0-9-]*)\s+(\S.*)$/s.exec(trimmed) ?? [];
  if (credentials === '') return [secret, trimmed];
  if (scheme.toLowerCase() !== 'basic') return [secret, trimmed, credentials];
  const decoded = Buffer.from(credentials, 'base64').toString('utf8');
  return [secret, trimmed, credentials, decoded, decoded.slice(decoded.indexOf(':') + 1)];
}

function formsOf(secret: string): readonly string[] {
  const sound = secret.toWellFormed();
  const json = JSON.stringify(sound).slice(1, -1);
  const html = sound.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
  const base64 = Buffer.from(sound).toString('base64');
  return [
    secret,
    json,
    json.replaceAll('/', '\\/'),
    encodeURIComponent(sound),
    encodeURIComponent(sound).replaceAll('%20', '+'),
    html,
    base64.replace(/=+$/, ''),
    base64.replace(/=+$/, '').replaceAll('+', '-').replaceAll('/', '_'),
  ];
}

export const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
