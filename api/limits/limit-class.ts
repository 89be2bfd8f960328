import type { RateLimit } from './bucket.ts';

export const SEARCH_PATH = '/api/v1/vector/search';

export interface LimitedRoute {
  readonly method: string;
  readonly path: string;
}

export interface LimitedCaller {
  readonly keyId: string;
  readonly org: string;
}

/** A named limit: whose requests are counted, which of them, and how many there may be. */
export interface LimitClass {
  /** Appears in answers, metrics and the log. */
  readonly name: string;
  readonly limit: RateLimit;
  /** The subject whose requests add up. */
  readonly of: 'key' | 'organization';
  /** Returns whether a route's requests count; all do where absent. */
  readonly applies?: (route: LimitedRoute) => boolean;
}

/** Returns the name under which the replicas add up requests. */
export function subjectOf({ name, of }: LimitClass, caller: LimitedCaller): string {
  return `${name}:${of === 'key' ? caller.keyId : caller.org}`;
}
