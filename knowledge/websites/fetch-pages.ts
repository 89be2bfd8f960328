/** Fetches the pages that a user listed. It is a list, not a crawl: links in them are not followed. */
import { type Clock, systemClock } from '../../platform/clock.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { fetchPage, type PageFetching, type PageLimits } from './fetch-page.ts';
import { HostTurns } from './host-turns.ts';
import type { PageResult } from './page.ts';
import { RobotsCache } from './robots-cache.ts';

export const DEFAULT_PAGE_LIMITS: PageLimits & { readonly hosts: number } = {
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
  /** Limits, by default {@link DEFAULT_PAGE_LIMITS}; `hosts`: how many are asked at the same time. */
  readonly limits?: Partial<typeof DEFAULT_PAGE_LIMITS>;
}

/**
 * Yields the outcome of each address as soon as it is known, so not in their order. An address that is listed twice has one outcome, that
 * of its first place; of several that lead to the same page, one is read and the others are `duplicate`. There is one request at a time to
 * a host, and several hosts side by side. While the caller works on an outcome, at most one more page of each of these hosts is fetched and
 * waits in memory.
 *
 * @throws only the reason with which `signal` was aborted
 */
export async function* fetchPages(urls: readonly string[], options: FetchPagesOptions): AsyncGenerator<PageResult, void, undefined> {
  const clock = options.clock ?? systemClock;
  const limits = { ...DEFAULT_PAGE_LIMITS, ...options.limits };
  const stopping = new AbortController();
  const signal = options.signal === undefined ? stopping.signal : AbortSignal.any([options.signal, stopping.signal]);
  const robots = new RobotsCache({ egress: options.egress, clock });
  const fetching: PageFetching = { egress: options.egress, clock, turns: new HostTurns(clock), robots, limits, signal };

  const waiting = byHost(urls);
  const led = new Map<string, string>();
  type Source = AsyncGenerator<PageResult, void, undefined>;
  interface Step {
    readonly source: Source;
    readonly result: IteratorResult<PageResult, void>;
  }
  const running = new Map<Source, Promise<Step>>();
  const step = (source: Source): void => {
    const next = source.next().then((result) => ({ source, result }));
    // The page may fail while the caller works on another one, before anybody waits for it.
    next.catch(() => undefined);
    running.set(source, next);
  };
  try {
    for (;;) {
      options.signal?.throwIfAborted();
      while (running.size < limits.hosts) {
        const pages = waiting.shift();
        if (pages === undefined) break;
        step(pagesOf(pages, fetching));
      }
      if (running.size === 0) return;
      const { source, result } = await Promise.race(running.values());
      running.delete(source);
      if (result.done === true) continue;
      step(source);
      yield once(result.value, led);
    }
  } finally {
    // The caller may stop in the middle.
    stopping.abort();
    await Promise.allSettled(running.values());
  }
}

/** Reads a page that two addresses lead to once; ten that all lead to a login page are recognised, too. */
function once(result: PageResult, led: Map<string, string>): PageResult {
  if (result.status === 'failed') return result;
  const { index, url, finalUrl } = result;
  const address = addressOf(finalUrl);
  const earlier = led.get(address);
  if (earlier === undefined) {
    led.set(address, url);
    return result;
  }
  const reason = `It leads to ${finalUrl}, as ${earlier} does: that page is read once`;
  return { status: 'failed', index, url, finalUrl, code: 'duplicate', reason };
}

/** Returns an address for comparison, without the part behind #, which is for browsers. */
export function addressOf(text: string): string {
  const url = URL.parse(text);
  if (url === null) return text;
  url.hash = '';
  return url.href;
}

interface Page {
  readonly index: number;
  readonly url: string;
}

/** Groups addresses by host, in the order of the list, each address once. */
function byHost(urls: readonly string[]): Page[][] {
  const hosts = new Map<string, Page[]>();
  const seen = new Set<string>();
  for (const [index, text] of urls.entries()) {
    const address = addressOf(text);
    if (seen.has(address)) continue;
    seen.add(address);
    const host = URL.parse(text)?.host ?? '';
    const pages = hosts.get(host) ?? [];
    pages.push({ index, url: text });
    hosts.set(host, pages);
  }
  return [...hosts.values()];
}

async function* pagesOf(pages: readonly Page[], fetching: PageFetching): AsyncGenerator<PageResult, void, undefined> {
  for (const page of pages) yield await fetchPage(page, fetching);
}
