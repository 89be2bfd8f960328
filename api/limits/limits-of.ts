import type { Config } from '../../platform/config/config.ts';
import { NumberAssignments, numberReservationMs, NumberPool } from '../../platform/config/phone-numbers.ts';
import type { Limits } from '../dependencies.ts';
import { SEARCH_PATH, type LimitClass } from './limit-class.ts';

const CALL_CREATION_PATHS: ReadonlySet<string> = new Set(['/v1/calls/create-web-call', '/v1/calls/dial-outbound-phone-call']);

/** Reads the limits from the configuration: a rate of 0 switches one off. */
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
