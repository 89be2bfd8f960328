/** Reads the headers of a request, with values from Secrets. */
import { type DynamicData, fillTemplate } from '../../../crds/template.ts';
import type { SecretKeyRef } from '../../../calls/provider-access/index.ts';
import { Redaction } from './redaction.ts';

export interface HeaderSpec {
  readonly name: string;
  readonly value?: string | undefined;
  readonly valueFrom?: { readonly secretKeyRef: SecretKeyRef } | undefined;
}

/** Reads a Secret. Rejects where it can't be read. */
export type ReadSecret = (ref: SecretKeyRef) => Promise<string>;

export interface ReadHeaders {
  readonly headers: Readonly<Record<string, string>>;
  readonly redaction: Redaction;
}

/** Reads headers. Plain values are templates; values of Secrets are sent as they are. Rejects with what `readSecret` rejects with. */
export async function readHeaders(specs: readonly HeaderSpec[], data: DynamicData, readSecret: ReadSecret): Promise<ReadHeaders> {
  const secrets: string[] = [];
  const headers = await Promise.all(
    specs.map(async ({ name, value, valueFrom }): Promise<readonly [string, string]> => {
      // HTTP forbids some characters in headers, and users supply the data of a call.
      if (valueFrom === undefined) return [name, fillTemplate(value ?? '', data).replaceAll(/[^\t\x20-\x7e\x80-\xff]+/g, ' ')];
      const secret = await readSecret(valueFrom.secretKeyRef);
      secrets.push(secret);
      return [name, secret];
    }),
  );
  return { headers: Object.fromEntries(headers), redaction: new Redaction(secrets) };
}

/** Adds the headers that the owner didn't set; names ignore case. */
export function withDefaults(
  headers: Readonly<Record<string, string>>,
  defaults: Readonly<Record<string, string>>,
): Record<string, string> {
  const set = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  return { ...headers, ...Object.fromEntries(Object.entries(defaults).filter(([name]) => !set.has(name))) };
}
