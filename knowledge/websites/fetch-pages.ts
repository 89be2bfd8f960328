/** Fetches the pages that a user listed. A list, not a crawl: nothing that they link to is followed. */
import { type Clock, systemClock } from '../../platform/clock.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { fetchPage, type PageFetching, type PageLimits } from './fetch-page.ts';
import { HostTurns } from './host-turns.ts';
import type { PageResult } from './page.ts';
import { RobotsCache } from './robots-cache.ts';

/** What sites know the crawler by in their robots.txt. */
const agent = 'Parley';

export const defaultPageLimits: PageLimits & { readonly hosts: number } = {
  maxBytes: 5 * 1024 * 1024,
  timeoutMs: 20_000,
  maxRedirects: 5,
  maxCrawlDelayMs: 10_000,
  hosts: 4,
};

export interface FetchPagesOptions {
  readonly egress: Egress;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  /** Default {@link defaultPageLimits}; `hosts`: how many are asked at the same time. */
  readonly limits?: Partial<typeof defaultPageLimits>;
  /** Default `Mozilla/5.0 (compatible; Parley/1.0)`: many servers answer nothing else. */
  readonly userAgent?: string;
}

/**
 * Yields the outcome of each address as soon as it is known, so not in their order; an address that is listed twice has
 * one outcome, that of its first place. One request at a time to a host, several hosts side by side. While the caller
 * works on an outcome, at most one more page of each of these hosts is fetched and waits in memory.
 *
 * @throws nothing but what `signal` was aborted with
 */
export async function* fetchPages(urls: readonly string[], options: FetchPagesOptions): AsyncGenerator<PageResult, void, undefined> {
  const clock = options.clock ?? systemClock;
  const limits = { ...defaultPageLimits, ...options.limits };
  const userAgent = options.userAgent ?? 'Mozilla/5.0 (compatible; Parley/1.0)';
  const stopping = new AbortController();
  const signal = options.signal === undefined ? stopping.signal : AbortSignal.any([options.signal, stopping.signal]);
  const robots = new RobotsCache({ egress: options.egress, clock, agent, userAgent });
  const fetching: PageFetching = { egress: options.egress, clock, turns: new HostTurns(clock), robots, limits, userAgent, signal };

  const waiting = byHost(urls);
  type Source = AsyncGenerator<PageResult, void, undefined>;
  interface Step {
    readonly source: Source;
    readonly result: IteratorResult<PageResult, void>;
  }
  const running = new Map<Source, Promise<Step>>();
  const step = (source: Source): void => {
    running.set(
      source,
      source.next().then((result) => ({ source, result })),
    );
  };
  try {
    for (;;) {
      options.signal?.throwIfAborted();
      for (let pages = running.size < limits.hosts ? waiting.shift() : undefined; pages !== undefined;) {
        step(pagesOf(pages, fetching));
        pages = running.size < limits.hosts ? waiting.shift() : undefined;
      }
      if (running.size === 0) return;
      const { source, result } = await Promise.race(running.values());
      running.delete(source);
      if (result.done === true) continue;
      step(source);
      yield result.value;
    }
  } finally {
    // The caller may stop in the middle.
    stopping.abort();
    await Promise.allSettled(running.values());
  }
}

interface Page {
  readonly index: number;
  readonly url: string;
}

/** In the order of the list, each address once. */
function byHost(urls: readonly string[]): Page[][] {
  const hosts = new Map<string, Page[]>();
  const seen = new Set<string>();
  for (const [index, text] of urls.entries()) {
    const url = URL.parse(text);
    if (url !== null) url.hash = '';
    const address = url?.href ?? text;
    if (seen.has(address)) continue;
    seen.add(address);
    const host = url?.host ?? '';
    const pages = hosts.get(host) ?? [];
    pages.push({ index, url: text });
    hosts.set(host, pages);
  }
  return [...hosts.values()];
}

async function* pagesOf(pages: readonly Page[], fetching: PageFetching): AsyncGenerator<PageResult, void, undefined> {
  for (const page of pages) yield await fetchPage(page, fetching);
}
