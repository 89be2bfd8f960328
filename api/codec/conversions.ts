/** How values of specs read in REST, and the other way round. */
import { mask } from '../http/caller.ts';
import type { Conversion } from './fields.ts';
import { unchangedNothing } from './headers.ts';
import type { KeyRef } from './secrets.ts';

/** The name of another resource. */
export const reference: Conversion = {
  read: (stored: { readonly name: string }) => stored.name,
  write: (name) => ({ name }),
  below: { '.name': '' },
};

/** A value that is kept in a Secret. */
export const secret: Conversion = {
  read: (ref: KeyRef, { secrets }) => secrets.read(ref) ?? mask,
  write: (value: string, { name, stored }, { secrets, loc, found }) => {
    if (value !== mask) return secrets.write(name.replaceAll(/[._]/g, '-'), value, stored as KeyRef | undefined);
    if (stored === undefined) found.push(unchangedNothing([...loc, ...name.split('.')]));
    return stored;
  },
  isSecret: true,
};
