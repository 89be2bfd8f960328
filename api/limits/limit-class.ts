import type { Config } from '../../platform/config/config.ts';
import { NumberAssignments, numberReservationMs, NumberPool } from '../../platform/config/phone-numbers.ts';
import type { Limits } from '../dependencies.ts';
import type { RateLimit } from './bucket.ts';

/** Where knowledge bases are searched. */
export const SEARCH_PATH = '/api/v1/vector/search';

/** Where calls are made. */
const CALL_CREATION_PATHS: ReadonlySet<string> = new Set(['/v1/calls/create-web-call', '/v1/calls/dial-outbound-phone-call']);

export interface LimitedRoute {
  readonly method: string;
  readonly path: string;
}

/** The subject whose requests are counted. */
export interface LimitedCaller {
  readonly keyId: string;
  readonly org: string;
}

/** A named limit: for whom requests are counted, which of them, and how many there may be. */
export interface LimitClass {
  /** Stands in answers, metrics and the log. */
  readonly name: string;
  readonly limit: RateLimit;
  /** Whose requests add up. */
  readonly of: 'key' | 'organization';
  /** Which requests count; all where absent. */
  readonly applies?: (route: LimitedRoute) => boolean;
}

/** Under which name the replicas add up. */
export function subjectOf({ name, of }: LimitClass, caller: LimitedCaller): string {
  return `${name}:${of === 'key' ? caller.keyId : caller.org}`;
}

/** The limits that the configuration names: a rate of 0 switches one off. */
export function limitsOf(config: Config): Limits {
  const classes: readonly LimitClass[] = [
    {
      name: 'key',
      of: 'key',
      limit: { perSecond: config.PARLEY_RATE_LIMIT_KEY_PER_SECOND, burst: config.PARLEY_RATE_LIMIT_KEY_BURST },
    },
    {
      name: 'organization',
      of: 'organization',
      limit: { perSecond: config.PARLEY_RATE_LIMIT_ORGANIZATION_PER_SECOND, burst: config.PARLEY_RATE_LIMIT_ORGANIZATION_BURST },
    },
    {
      name: 'search',
      of: 'organization',
      limit: { perSecond: config.PARLEY_RATE_LIMIT_SEARCH_PER_SECOND, burst: config.PARLEY_RATE_LIMIT_SEARCH_BURST },
      applies: ({ path }) => path === SEARCH_PATH,
    },
    {
      name: 'calls',
      of: 'organization',
      limit: { perSecond: config.PARLEY_RATE_LIMIT_CALLS_PER_SECOND, burst: config.PARLEY_RATE_LIMIT_CALLS_BURST },
      applies: ({ path }) => CALL_CREATION_PATHS.has(path),
    },
  ];
  return {
    classes: classes.filter(({ limit }) => limit.perSecond > 0),
    exchangeMs: config.PARLEY_RATE_LIMIT_EXCHANGE_MS,
    requestTimeoutMs: config.PARLEY_REQUEST_TIMEOUT_MS,
    nativeNumbers: new NumberPool(config.PARLEY_NATIVE_NUMBERS),
    numberReservationMs: numberReservationMs(config),
    numberAssignments: new NumberAssignments(config.PARLEY_NUMBER_ASSIGNMENTS),
    trustedProxies: config.PARLEY_TRUSTED_PROXIES.split(',').flatMap((entry) => (entry.trim() === '' ? [] : [entry.trim()])),
  };
}
