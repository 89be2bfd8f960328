import type { RateLimitDecision, Counted } from './rate-limiter.ts';

/**
 * Builds the headers about a client's limits: the tightest one in numbers, and all of them as policies: `120;w=2` says that 120 requests
 * may be made and that two seconds bring them back. Source: draft-ietf-httpapi-ratelimit-headers-06; seconds are whole ones, rounded up.
 */
export function limitHeaders({ allowed, limits }: RateLimitDecision): Readonly<Record<string, string>> {
  const tightest = tightestOf(limits);
  if (tightest === undefined) return {};
  return {
    'ratelimit-limit': String(tightest.class.limit.burst),
    'ratelimit-remaining': String(tightest.standing.remaining),
    'ratelimit-reset': String(seconds(tightest.standing.fullInMs)),
    'ratelimit-policy': limits.map(policyOf).join(', '),
    ...(!allowed && { 'retry-after': String(Math.max(1, seconds(Math.max(...limits.map((each) => each.standing.nextInMs))))) }),
  };
}

/** Returns the limit that will be reached first: with the longest wait, or else with the fewest requests left. */
export function tightestOf(limits: readonly Counted[]): Counted | undefined {
  return limits.toSorted((a, b) => b.standing.nextInMs - a.standing.nextInMs || a.standing.remaining - b.standing.remaining)[0];
}

function policyOf({ class: { name, limit } }: Counted): string {
  return `${limit.burst};w=${Math.max(1, Math.ceil(limit.burst / limit.perSecond))};comment="${name}"`;
}

/** Rounds up to whole seconds, after removing a microsecond's excess: sums of fractions come out a hair too large. */
function seconds(ms: number): number {
  return Math.ceil(Math.round(ms * 1000) / 1_000_000);
}
