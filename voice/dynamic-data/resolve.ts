/**
 * Resolves the data of a call before it begins: the given values, and those that its agent looks up. Lookups run in parallel, each within
 * its own timeout; the names of a failed lookup are missing, and the call begins without them.
 */
import { ProviderKeyError, type ProviderKeyReader } from '../../calls/provider-access/index.ts';
import { fillTemplate, formatValue, type DynamicData } from '../../crds/template.ts';
import { millisecondsOf } from '../../crds/duration.ts';
import { PathError, valueAt } from '../../crds/json-path.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { EgressError } from '../../platform/egress/egress-error.ts';
import { errorMessageOf } from '../../platform/caught.ts';
import type { Logger } from '../../platform/logging.ts';
import { parseJson } from '../tools/http/json.ts';
import type { JsonValue } from '../tools/tool-result.ts';
import { untilAborted } from '../../platform/aborted.ts';
import { ask, cacheKey, LookupError, prepare, timeoutOf, type Lookup } from './lookup.ts';

export interface DynamicDataCache {
  get(org: string, key: string): Promise<string | undefined>;
  put(org: string, key: string, answer: string, options: { readonly forMs: number }): Promise<void>;
}

export interface ResolveOptions {
  readonly org: string;
  readonly lookups: readonly Lookup[];
  /** Values that the call was registered with: they fill the lookups' templates, and win over what these find, unless they are null. */
  readonly given: DynamicData;
  readonly egress: Egress;
  readonly cache: DynamicDataCache;
  readonly keys: Pick<ProviderKeyReader, 'read'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface ResolvedDynamicData {
  readonly data: DynamicData;
  /** Lines for the model, each with a value that was found and its meaning. */
  readonly contexts: readonly string[];
}

/** Bound of all that is looked up for one call, in bytes of JSON. */
export const MAX_BYTES = 64 * 1024;

/** Returns the lookups to make. In a test, a lookup whose values are all given is not made: that is how a test replaces it. */
export function lookupsToMake({ lookups, given }: Pick<ResolveOptions, 'lookups' | 'given'>): readonly Lookup[] {
  return lookups.filter(({ response = [] }) => response.length === 0 || response.some(({ name }) => !Object.hasOwn(given, name)));
}

/** Returns whether a value is given. `null` is none: a lookup may supply one. */
const isGiven = (name: string, given: DynamicData): boolean => Object.hasOwn(given, name) && given[name] !== null;

/** Resolves the data. Never rejects. */
export async function resolveDynamicData(options: ResolveOptions): Promise<ResolvedDynamicData> {
  const { lookups, given, logger } = options;
  const answers = await Promise.all(lookups.map(async (lookup) => ({ lookup, answer: await answerTo(lookup, options) })));
  const found = answers.flatMap(({ lookup, answer }) => (answer === undefined ? [] : valuesIn(lookup, answer, logger)));
  const data: Record<string, unknown> = {};
  const explained: { readonly name: string; readonly value: unknown; readonly context: string }[] = [];
  let left = MAX_BYTES;
  for (const { lookup, name, value, context } of found) {
    if (isGiven(name, given) || Object.hasOwn(data, name)) continue;
    const bytes = Buffer.byteLength(JSON.stringify(value));
    if (bytes > left) {
      logger.warn({ lookup, name }, 'a value was left out: all that is looked up for a call may have 64 KiB');
      continue;
    }
    left -= bytes;
    Object.defineProperty(data, name, { value, enumerable: true, configurable: true, writable: true });
    if (context !== undefined) explained.push({ name, value, context });
  }
  const all = { ...given, ...data };
  // Only text that the owner wrote is a template.
  const contexts = explained.map(({ name, value, context }) => `${name} = ${oneLine(formatValue(value))} (${fillTemplate(context, all)})`);
  return { data: all, contexts };
}

async function answerTo(
  lookup: Lookup,
  { org, given, egress, cache, keys, clock, logger }: ResolveOptions,
): Promise<JsonValue | undefined> {
  const begin = clock.monotonic();
  const timeoutMs = timeoutOf(lookup);
  const late = new AbortController();
  const timer = clock.after(timeoutMs, () => late.abort(new LookupError('timeout', `it took longer than ${timeoutMs} ms`)));
  const work = async (): Promise<{ answer: JsonValue; cached: boolean }> => {
    const prepared = await prepare(lookup, given, (ref) => keys.read(org, ref));
    const forMs = lookup.cache === undefined ? undefined : millisecondsOf(lookup.cache);
    const key = forMs === undefined ? undefined : cacheKey(prepared, forMs);
    const known = key === undefined ? undefined : await kept(cache, org, key, logger);
    if (known !== undefined) return { answer: known, cached: true };
    const answer = await ask(egress, prepared, { timeoutMs: Math.max(1, timeoutMs - (clock.monotonic() - begin)), signal: late.signal });
    if (key !== undefined && forMs !== undefined) keep(cache, { org, key, answer, forMs }, logger);
    return { answer, cached: false };
  };
  const durationMs = (): number => Math.round(clock.monotonic() - begin);
  try {
    const { answer, cached } = await untilAborted(work(), late.signal);
    logger.info({ lookup: lookup.name, cached, durationMs: durationMs() }, 'data were looked up');
    return answer;
  } catch (error) {
    const message = errorMessageOf(error);
    const reason = lookupReason(error);
    logger.warn(
      { lookup: lookup.name, reason, durationMs: durationMs() },
      `a lookup failed, and its names are missing in the call: ${message}`,
    );
    return undefined;
  } finally {
    timer.cancel();
  }
}

function lookupReason(error: unknown): string {
  if (error instanceof LookupError) return error.reason;
  if (error instanceof EgressError) return error.kind;
  return error instanceof ProviderKeyError ? 'credentials' : 'internal';
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** Reads the cache. While Postgres is away, lookups only become slower. */
async function kept(cache: DynamicDataCache, org: string, key: string, logger: Logger): Promise<JsonValue | undefined> {
  try {
    const text = await cache.get(org, key);
    return text === undefined ? undefined : parseJson(text);
  } catch (err) {
    logger.warn({ err }, 'failed to read the cache of dynamic data; looking it up again');
    return undefined;
  }
}

/** Stores an answer in the background. */
function keep(
  cache: DynamicDataCache,
  entry: { readonly org: string; readonly key: string; readonly answer: JsonValue; readonly forMs: number },
  logger: Logger,
): void {
  cache.put(entry.org, entry.key, storable(entry.answer), { forMs: entry.forMs }).catch((err: unknown) => {
    logger.warn({ err }, 'failed to cache dynamic data');
  });
}

/** Makes the answer well-formed: Postgres refuses lone surrogates. */
const storable = (answer: JsonValue): string => JSON.stringify(answer).toWellFormed();

interface Found {
  readonly lookup: string;
  readonly name: string;
  readonly value: unknown;
  readonly context: string | undefined;
}

function valuesIn(lookup: Lookup, answer: JsonValue, logger: Logger): readonly Found[] {
  return (lookup.response ?? []).flatMap(({ name, path, context }) => {
    try {
      const value = valueAt(path, answer);
      if (value !== undefined && value !== null) return [{ lookup: lookup.name, name, value, context }];
      logger.warn({ lookup: lookup.name, name, path }, 'the answer to a lookup has nothing there: the name is missing in the call');
    } catch (error) {
      if (!(error instanceof PathError)) throw error;
      logger.warn({ lookup: lookup.name, name }, `${error.message}: the name is missing in the call`);
    }
    return [];
  });
}
