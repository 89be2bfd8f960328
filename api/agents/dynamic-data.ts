/** `dynamic_data_config` ↔ `spec.dynamicData`. REST items have no name; resources need one to tell them apart. */
import type { AgentSpec } from '../../crds/index.ts';
import { originOf } from '../../crds/address.ts';
import { millisecondsOf } from '../../crds/duration.ts';
import { durationOfMilliseconds } from '../codec/duration.ts';
import { headersFromRest, headersToRest, looksSecret } from '../codec/headers.ts';
import { present } from '../codec/present.ts';
import { masked, type SecretValues, type SecretWriter } from '../codec/secrets.ts';
import { mask } from '../http/caller.ts';
import { sameJson } from '../validation/same-json.ts';
import type { ValidationIssue } from '../validation/issue.ts';
import type { DynamicDataItem } from './schema.ts';

type Lookup = NonNullable<AgentSpec['dynamicData']>[number];

export interface LookupView {
  readonly url: string;
  readonly method: string;
  /** Milliseconds. */
  readonly timeout: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  readonly cache: boolean;
  readonly response_data: readonly { readonly name: string; readonly data: string; readonly context: string | undefined }[];
}

const defaultTimeoutMs = 5000;

export function lookupToRest(lookup: Lookup, secrets: SecretValues): LookupView {
  return {
    url: lookup.url,
    method: lookup.method ?? 'GET',
    timeout: lookup.timeout === undefined ? defaultTimeoutMs : millisecondsOf(lookup.timeout),
    headers: headersToRest(lookup.headers, secrets),
    body: lookup.body ?? {},
    query: lookup.query ?? {},
    cache: lookup.cache ?? false,
    response_data: (lookup.response ?? []).map(({ name, path, context }) => ({ name, data: path, context })),
  };
}

export interface LookupEncoding {
  readonly secrets: SecretWriter;
  readonly found: ValidationIssue[];
}

/** The list as it should be; items keep the name of the stored item that they continue. */
export function lookupsFromRest(items: readonly DynamicDataItem[], previous: readonly Lookup[], encoding: LookupEncoding): Lookup[] {
  const continued = matchStored(items, previous);
  const taken = new Set(previous.map(({ name }) => name));
  return items.map((item, index) => {
    const stored = continued[index];
    const name = stored?.name ?? freeName(taken);
    taken.add(name);
    return lookupFromRest(item, name, index, stored, encoding);
  });
}

function lookupFromRest(
  item: DynamicDataItem,
  name: string,
  index: number,
  stored: Lookup | undefined,
  { secrets, found }: LookupEncoding,
): Lookup {
  const headers = headersFromRest(item.headers ?? {}, {
    previous: stored?.headers,
    secrets,
    purpose: `dynamic-data.${name}`,
    loc: ['body', 'dynamic_data_config', index, 'headers'],
    found,
  });
  const response = (item.response_data ?? []).map(({ name: field, data, context }) =>
    present({ name: field, path: data, context: context ?? undefined }),
  );
  return present({
    name,
    url: item.url,
    method: unlessDefault(item.method, 'GET', stored?.method),
    timeout: timeoutFromRest(item.timeout, stored?.timeout),
    headers: unlessDefault(headers, [], stored?.headers),
    query: unlessDefault(item.query, {}, stored?.query),
    body: unlessDefault(item.body, {}, stored?.body),
    cache: unlessDefault(item.cache, false, stored?.cache),
    response: unlessDefault(response, [], stored?.response as typeof response | undefined),
  });
}

/** Defaults and empty values where nothing was stored stay unwritten: they read the same. */
function unlessDefault<T>(value: T | null | undefined, fallback: unknown, before: T | undefined): T | undefined {
  return value === null || value === undefined || (before === undefined && sameJson(value, fallback)) ? undefined : value;
}

function timeoutFromRest(milliseconds: number | null | undefined, previous: string | undefined): string | undefined {
  if (milliseconds === null || milliseconds === undefined) return undefined;
  return previous === undefined && milliseconds === defaultTimeoutMs ? undefined : durationOfMilliseconds(milliseconds, previous);
}

/** For each item the stored one it continues: an equal one, else one of the same address, of the same origin, or the next that is left. */
function matchStored(items: readonly DynamicDataItem[], previous: readonly Lookup[]): readonly (Lookup | undefined)[] {
  const left = [...previous];
  const result: (Lookup | undefined)[] = items.map(() => undefined);
  const rules: readonly ((item: DynamicDataItem, stored: Lookup) => boolean)[] = [
    (item, stored) => sameJson(comparable(item), comparableStored(stored)),
    (item, stored) => item.url === stored.url && (item.method ?? 'GET') === (stored.method ?? 'GET'),
    (item, stored) => originOf(item.url) === originOf(stored.url),
    () => true,
  ];
  for (const rule of rules) {
    for (const [index, item] of items.entries()) {
      if (result[index] !== undefined) continue;
      const at = left.findIndex((stored) => rule(item, stored));
      if (at >= 0) result[index] = left.splice(at, 1)[0];
    }
  }
  return result;
}

/** What a request item says, with defaults filled in and the values of secrets left out. */
function comparable(item: DynamicDataItem): LookupView {
  const headers = Object.entries(item.headers ?? {}).map(([name, value]) => [name, looksSecret(name) ? mask : value]);
  return {
    url: item.url,
    method: item.method ?? 'GET',
    timeout: item.timeout ?? defaultTimeoutMs,
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: item.body ?? {},
    query: item.query ?? {},
    cache: item.cache ?? false,
    response_data: (item.response_data ?? []).map(({ name, data, context }) => ({ name, data, context: context ?? undefined })),
  };
}

function comparableStored(stored: Lookup): LookupView {
  return lookupToRest(stored, masked);
}

function freeName(taken: ReadonlySet<string>): string {
  for (let n = 1; ; n += 1) if (!taken.has(`lookup-${n}`)) return `lookup-${n}`;
}
