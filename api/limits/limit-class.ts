import type { RateLimit } from './bucket.ts';

/** Where knowledge bases are searched. */
export const SEARCH_PATH = '/api/v1/vector/search';

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
