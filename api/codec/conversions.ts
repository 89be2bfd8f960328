/** How values of specs read in REST, and the other way round. */
import { millisecondsOf } from '../../crds/duration.ts';
import { MASK } from '../http/caller.ts';
import { durationOfMilliseconds, durationOfSeconds, secondsOf } from './duration.ts';
import { isEmpty, type Conversion } from './fields.ts';
import { headerSecrets, headersFromRest, headersToRest, unchangedNothing, type Header } from './headers.ts';
import { refId, type KeyRef } from './secrets.ts';

/** The name of another resource. */
export const reference: Conversion = {
  read: (stored: { readonly name: string }) => stored.name,
  write: (name) => ({ name }),
  below: { '.name': '' },
};

/** A name without the spaces around it. Sent back as it is shown, it stays as it was written. */
export const trimmedLabel: Conversion = {
  read: (stored: string) => stored.trim(),
  write: (sent, { stored }) => (sent === (stored as string | undefined)?.trim() ? stored : sent),
};

/** The same of a name that the object's own stands in for: it stays absent when that is sent back. */
export const trimmedName: Conversion = {
  read: (stored: string) => stored.trim(),
  write: (sent, { stored }, { objectName }) => (sent === ((stored as string | undefined)?.trim() || objectName) ? stored : sent),
};

/** Whole milliseconds, of a duration as it was typed as long as it means the same here. */
export const milliseconds: Conversion = {
  read: (duration: string) => Math.round(millisecondsOf(duration)),
  write: (sent: number, { stored }) =>
    typeof stored === 'string' && Math.round(millisecondsOf(stored)) === sent ? stored : durationOfMilliseconds(sent),
};

/** Seconds, of a duration as it was typed as long as it means the same. */
export const seconds: Conversion = {
  read: secondsOf,
  write: (sent: number, { stored }) => durationOfSeconds(sent, stored as string | undefined),
};

/** An empty list or map means what an absent one means: it stays as it was written. */
export function unlessEmpty<T extends object>(value: T, stored: unknown): T | undefined {
  if (Object.keys(value).length > 0) return value;
  return isEmpty(stored) ? (stored as T) : undefined;
}

/** A choice with other words in REST. */
export function choice(words: Readonly<Record<string, string>>): Conversion {
  return {
    read: (stored) => Object.keys(words).find((word) => words[word] === stored),
    write: (sent: string) => words[sent],
  };
}

/** A value that is kept in a Secret. */
export const secret: Conversion = {
  read: (ref: KeyRef, { secrets }) => secrets.read(ref) ?? MASK,
  write: (value: string, { name, stored }, { secrets, loc, found }) => {
    if (value !== MASK) return secrets.write(name.replaceAll(/[._]/g, '-'), value, stored as KeyRef | undefined);
    if (stored === undefined) found.push(unchangedNothing([...loc, ...name.split('.')]));
    return stored;
  },
  secretsIn: (ref: KeyRef) => [{ id: refId(ref), ref }],
};

/** HTTP headers. @param purpose begins their keys in the Secret, by the spec or list item that has them */
export function headers(purpose: (within: unknown) => string): Conversion {
  return {
    read: (stored: readonly Header[], { secrets }) => headersToRest(stored, secrets),
    write: (sent: Readonly<Record<string, string>>, { name, stored, within }, { secrets, loc, found }) =>
      headersFromRest(sent, {
        previous: stored as readonly Header[] | undefined,
        secrets,
        purpose: purpose(within),
        loc: [...loc, ...name.split('.')],
        found,
      }),
    secretsIn: (stored: readonly Header[]) => headerSecrets(stored),
  };
}
