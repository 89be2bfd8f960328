/** Computes latencies from emitted events and arrivals. */
import { summarize, type Distribution } from '../harness/stats.ts';
import { duration, figure } from '../harness/table.ts';
import type { Emitted } from './emit.ts';
import type { Arrival } from './sink-process.ts';

export interface Latencies {
  /** Time from the answer to the event's commit until the receiver had the request. */
  readonly sinceCommit: Distribution;
  /** Time since the event was made, its commit included. */
  readonly sinceMade: Distribution;
  readonly deliveries: number;
  readonly duplicates: number;
}

/** First arrivals count; arrivals of events that are not among `emitted` don't. */
export function latenciesOf(emitted: readonly Emitted[], arrivals: readonly Arrival[]): Latencies {
  const events = new Map(emitted.map((event) => [event.id, event]));
  const seen = new Set<string>();
  const sinceCommit: number[] = [];
  const sinceMade: number[] = [];
  let duplicates = 0;
  for (const { path, id, at } of arrivals) {
    const event = events.get(id);
    if (event === undefined) continue;
    const key = `${path} ${id}`;
    if (seen.has(key)) {
      duplicates += 1;
      continue;
    }
    seen.add(key);
    sinceCommit.push(at - event.committedAt);
    sinceMade.push(at - event.madeAt);
  }
  return { sinceCommit: summarize(sinceCommit), sinceMade: summarize(sinceMade), deliveries: seen.size, duplicates };
}

export const latencyColumns = ['deliveries', 'commit → receipt p50', 'p90', 'p99', 'max', 'made → receipt p50', 'p99'] as const;

export function latencyCells({ sinceCommit, sinceMade, deliveries }: Latencies): readonly string[] {
  return [
    figure(deliveries),
    ...[sinceCommit.p50, sinceCommit.p90, sinceCommit.p99, sinceCommit.max, sinceMade.p50, sinceMade.p99].map((ms) => duration(ms)),
  ];
}
