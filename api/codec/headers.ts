/** Converts HTTP headers: a map of texts in REST, a list with plain values or references to Secrets in resources. */
import { MASK } from '../http/caller.ts';
import { issues, type Loc, type ValidationIssue } from '../validation/issue.ts';
import type { StoredSecret } from './fields.ts';
import { plainId, refId, type KeyRef, type SecretValues, type SecretWriter } from './secrets.ts';

export interface Header {
  readonly name: string;
  readonly value?: string | undefined;
  readonly valueFrom?: { readonly secretKeyRef: KeyRef } | undefined;
}

const SECRET_NAME = /auth(?!or(?!i[sz]))|token|secret|key|pass|pwd|credential|cookie|session|bearer|jwt|signature/i;

/** Returns whether headers of this name hold credentials: their values go into a Secret and are masked. */
export function looksSecret(headerName: string): boolean {
  return SECRET_NAME.test(headerName);
}

export function headersToRest(headers: readonly Header[] | undefined, secrets: SecretValues): Record<string, string> {
  return Object.fromEntries(
    (headers ?? []).map(({ name, value, valueFrom }) => {
      if (valueFrom !== undefined) return [name, secrets.read(valueFrom.secretKeyRef) ?? MASK];
      return [name, looksSecret(name) && !secrets.unmasked ? MASK : (value ?? '')];
    }),
  );
}

export interface HeaderContext {
  readonly previous: readonly Header[] | undefined;
  readonly secrets: SecretWriter;
  /** Begins the name of the key in the Secret. */
  readonly purpose: string;
  readonly loc: Loc;
  readonly found: ValidationIssue[];
  /** Returns whether a header's value goes into the Secret; {@link looksSecret} decides where it is absent. */
  readonly isSecret?: (headerName: string) => boolean;
}

/** Turns headers of a request into a spec's. A masked value keeps the stored one of that name; without one it is reported. */
export function headersFromRest(headers: Readonly<Record<string, string>>, context: HeaderContext): Header[] {
  const { previous, secrets, purpose, loc, found, isSecret = looksSecret } = context;
  return Object.entries(headers).map(([name, value]) => {
    const stored = previous?.find((header) => header.name.toLowerCase() === name.toLowerCase());
    if (value === MASK && (stored?.valueFrom !== undefined || isSecret(name))) {
      if (stored !== undefined) return renamed(stored, name);
      found.push(unchangedNothing([...loc, name]));
      return { name, value: '' };
    }
    if (stored?.valueFrom === undefined && !isSecret(name)) return { name, value };
    if (stored?.value !== undefined && stored.value === value) {
      secrets.bring(plainId(value));
      return renamed(stored, name);
    }
    return { name, valueFrom: { secretKeyRef: secrets.write(`${purpose}.${name}`, value, stored?.valueFrom?.secretKeyRef) } };
  });
}

/** Gives a stored header the request's spelling of its name: case makes no difference to which header it is. */
function renamed(header: Header, name: string): Header {
  return { ...header, name };
}

/** Reports that {@link MASK} was sent where there is nothing that it could stand for. */
export function unchangedNothing(loc: Loc): ValidationIssue {
  return issues.value(loc, `${MASK} stands for a stored secret, and none is stored here: send the secret itself`);
}

/** Returns the values that answers mask. */
export function headerSecrets(
  headers: readonly Header[],
  isShown: (header: Header) => boolean = ({ name, valueFrom }) => valueFrom === undefined && !looksSecret(name),
): readonly StoredSecret[] {
  return headers
    .filter((header) => !isShown(header))
    .map(({ name, value = '', valueFrom }) =>
      valueFrom === undefined
        ? { id: plainId(value), below: [name] }
        : { id: refId(valueFrom.secretKeyRef), ref: valueFrom.secretKeyRef, below: [name] },
    );
}
