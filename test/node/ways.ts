/** Checks whether ways in the network are open to those whom they should be open to. */
import type { ProbeTarget } from './network-probes.ts';

export interface Way {
  readonly who: string;
  readonly target: ProbeTarget;
  readonly reached: boolean;
  /** Set if the way should be open. */
  readonly may: boolean;
}

const isWrong = ({ reached, may }: Way): boolean => reached !== may;

/** Names the ways that are open and should not be, and the other way round. */
export function problemsOf(ways: readonly Way[]): readonly string[] {
  return ways
    .filter(isWrong)
    .map(
      ({ who, target, reached }) =>
        `${who} ${reached ? 'reaches' : 'does not reach'} ${target.udp ? 'udp ' : ''}${target.host}:${target.port}`,
    );
}

/** Looks until all ways are right, or returns how they were at the end: rules are there a moment after their pods. */
export async function settled(
  attempt: () => Promise<readonly Way[]>,
  { limitMs = 30_000, now = () => performance.now() }: { readonly limitMs?: number; readonly now?: () => number } = {},
): Promise<readonly Way[]> {
  const end = now() + limitMs;
  for (;;) {
    const ways = await attempt();
    if (!ways.some(isWrong) || now() > end) return ways;
  }
}
