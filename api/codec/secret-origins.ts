/**
 * A stored secret goes to the origin that it was given for, and nowhere else. A caller who may write an address must not get the secret that
 * is sent there: a request that changes the origin has to hold the value, unless its caller may read secrets.
 *
 * Each kind lists where its spec sends which secret, and the lists of the stored and of the desired spec are compared. So the rule holds
 * however a request came to keep a secret: by the mask, by leaving the field out, or by an item that continues another one.
 */
import { issues, type Loc, type ValidationIssue } from '../validation/issue.ts';
import type { SecretWriter } from './secrets.ts';

/** Decides where a value is sent, by the names of the fields in the request. A part that is undefined sends it nowhere else. */
export type Origin = Readonly<Record<string, string | undefined>>;

export interface SecretUse {
  readonly id: string;
  /** Location of the request's field for the value. */
  readonly loc: Loc;
  /** Undefined where it is sent nowhere. */
  readonly origin: Origin | undefined;
  /** Set where the request has no field for the value. */
  readonly unsendable?: boolean;
}

/** Returns one issue for each stored value that `after` sends to another origin than `before`, and that the request doesn't hold. */
export function movedSecrets(before: readonly SecretUse[], after: readonly SecretUse[], secrets: SecretWriter): readonly ValidationIssue[] {
  if (secrets.mayMove) return [];
  return after.flatMap(({ id, loc, origin, unsendable }) => {
    const stored = before.filter((use) => use.id === id);
    const [first] = stored;
    if (first === undefined || origin === undefined || secrets.brings(id) || stored.some((use) => leadsTo(use.origin, origin))) return [];
    const fields = Object.keys(origin).filter((field) => origin[field] !== undefined && origin[field] !== first.origin?.[field]);
    const cure = unsendable === true ? 'use' : 'send the secret itself again, or use';
    return [
      issues.value(
        loc,
        `a change of ${fields.join(' and ')} sends the stored secret elsewhere: ${cure} a key with the permission secrets:read`,
      ),
    ];
  });
}

function leadsTo(stored: Origin | undefined, wanted: Origin): boolean {
  return stored !== undefined && Object.entries(wanted).every(([field, part]) => part === undefined || part === stored[field]);
}
