/** Fetches one page: through redirects, past robots.txt, once more where the server sends Retry-After. */
import { type Clock, sleep } from '../../platform/clock.ts';
import type { Egress, EgressResponse } from '../../platform/egress/egress.ts';
import { EgressError, type EgressErrorKind } from '../../platform/egress/egress-error.ts';
import type { HostTurns } from './host-turns.ts';
import { refreshTarget } from './refresh-target.ts';
import { ACCEPTED_TYPES, type FetchedPage, PageError, type PageFailureCode, type PageResult, pageType } from './page.ts';
import { retryAfterMs } from '../../platform/retry-after.ts';
import { type RobotsCache, USER_AGENT } from './robots-cache.ts';

export interface PageLimits {
  /** Most bytes, both as sent and once inflated. */
  readonly maxBytes: number;
  /** Time limit for all requests and waits of one page, without those for its turn, in milliseconds. */
  readonly timeoutMs: number;
  readonly maxRedirects: number;
  /** The longest pause between two pages of a site that is respected, in milliseconds. */
  readonly maxCrawlDelayMs: number;
}

export interface PageFetching {
  readonly egress: Egress;
  readonly clock: Clock;
  readonly turns: HostTurns;
  readonly robots: RobotsCache;
  readonly limits: PageLimits;
  readonly signal: AbortSignal;
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Status codes of a server that can't answer now, and may be able to soon. */
const PASSING = new Set([429, 502, 503, 504]);
/** Milliseconds before the second attempt where the server names no time. */
const DEFAULT_RETRY_MS = 1000;

/** @throws only the reason with which `signal` was aborted: everything else is an outcome */
export async function fetchPage(page: { readonly index: number; readonly url: string }, fetching: PageFetching): Promise<PageResult> {
  const visit = new Visit(page.url, fetching);
  try {
    return { status: 'fetched', index: page.index, url: page.url, ...(await visit.fetch()) };
  } catch (error) {
    fetching.signal.throwIfAborted();
    const { code, message } = toPageFailure(error);
    return { status: 'failed', index: page.index, url: page.url, finalUrl: visit.at, code, reason: message };
  }
}

class Visit {
  /** The address that the redirects have led to. */
  at: string;
  readonly #fetching: PageFetching;
  #leftMs: number;

  constructor(url: string, fetching: PageFetching) {
    this.at = url;
    this.#fetching = fetching;
    this.#leftMs = fetching.limits.timeoutMs;
  }

  async fetch(): Promise<Omit<FetchedPage, 'status' | 'index' | 'url'>> {
    const { egress, turns, limits, signal } = this.#fetching;
    for (let hops = 0; hops <= limits.maxRedirects; hops += 1) {
      const problem = egress.check(this.at);
      if (problem !== undefined)
        throw new PageError('forbidden_address', hops === 0 ? problem.message : `It redirects: ${problem.message}`);
      const url = new URL(this.at);
      const response = await turns.take(url.host, async () => {
        signal.throwIfAborted();
        await this.#askRobots(url);
        return this.#get(url);
      });
      const location = redirectOf(response, url);
      if (location === undefined) return { finalUrl: this.at, ...pageContent(response) };
      const next = URL.parse(location, url.href);
      if (next === null)
        throw new PageError('redirect', `${url.host} redirects to something that is no address: give the page's own address`);
      // The part behind # is for browsers; the page is the same.
      next.hash = '';
      this.at = next.href;
    }
    throw new PageError(
      'redirect',
      `${new URL(this.at).host} redirects more than ${limits.maxRedirects} times: give the address that it leads to`,
    );
  }

  async #askRobots(url: URL): Promise<void> {
    const { robots, turns, limits, signal } = this.#fetching;
    const rules = await robots.of(url.origin, signal);
    if ('unavailable' in rules) {
      // The page could be had no more than its robots.txt: then that is the reason.
      if (rules.error?.host === url.host) throw rules.error;
      throw new PageError('robots', `Whether ${url.host} allows it can't be found out, so it is not read: ${rules.unavailable}`);
    }
    if (!rules.allows(`${url.pathname}${url.search}`)) {
      throw new PageError(
        'robots',
        `${url.host} asks not to read it (robots.txt): have its owner allow Parley there, or upload the page as a file`,
      );
    }
    await turns.pause(url.host, Math.min(rules.crawlDelayMs, limits.maxCrawlDelayMs), signal);
  }

  /** Makes at most two attempts, both within the page's time. */
  async #get(url: URL): Promise<EgressResponse> {
    const first = await this.#attempt(url);
    if (first instanceof EgressError || PASSING.has(first.status)) {
      const asked = first instanceof EgressError ? undefined : retryAfterMs(first.headers['retry-after'], this.#fetching.clock.now());
      const waitMs = asked ?? DEFAULT_RETRY_MS;
      if (waitMs < this.#leftMs) {
        this.#leftMs -= waitMs;
        await sleep(this.#fetching.clock, waitMs, this.#fetching.signal);
        const second = await this.#attempt(url);
        if (second instanceof EgressError) throw second;
        return second;
      }
      if (first instanceof EgressError) throw first;
    }
    return first;
  }

  /** Returns the errors that a second attempt may not meet again, and throws the others. */
  async #attempt(url: URL): Promise<EgressResponse | EgressError> {
    const { egress, clock, turns, limits, signal } = this.#fetching;
    const startedAt = clock.monotonic();
    try {
      return await egress.request({
        url: url.href,
        headers: { 'user-agent': USER_AGENT, accept: ACCEPTED_TYPES },
        signal,
        timeoutMs: Math.max(1, this.#leftMs),
        maxBodyBytes: limits.maxBytes,
        decompress: true,
      });
    } catch (error) {
      if (error instanceof EgressError && error.kind === 'timeout') {
        // Some of the page's time may have gone before this request.
        const message = `${url.host} took longer than ${limits.timeoutMs / 1000} s for it: try again when it is faster`;
        throw new PageError('timeout', message, { cause: error });
      }
      if (error instanceof EgressError && (error.ours || error.kind === 'connect' || error.kind === 'reset')) return error;
      throw error;
    } finally {
      this.#leftMs -= clock.monotonic() - startedAt;
      turns.ended(url.host);
    }
  }
}

/** Returns the target of a redirect: by the response's status, or by a page that sends browsers on at once. */
function redirectOf({ status, headers, body }: EgressResponse, url: URL): string | undefined {
  const { location } = headers;
  if (REDIRECTS.has(status) && typeof location === 'string') return location;
  return status === 200 && /html/i.test(String(headers['content-type'])) ? refreshTarget(body, url) : undefined;
}

function pageContent({ status, headers, body }: EgressResponse): Pick<FetchedPage, 'body' | 'extension' | 'contentType' | 'charset'> {
  if (status < 200 || status > 299) throw new PageError('http_status', `It answers ${status}: ${statusCure(status)}`);
  if (body.length === 0) throw new PageError('empty', 'It is empty');
  const contentType = headers['content-type'];
  return { body, ...pageType(body, typeof contentType === 'string' ? contentType : undefined) };
}

function statusCure(status: number): string {
  if (status === 401 || status === 403) return 'it is not open to everyone; upload the page as a file';
  if (status === 404 || status === 410) return 'there is no such page; correct the address or remove it';
  if (status === 429) return 'the site wants fewer requests; try again later';
  return status >= 500 ? 'the site is out of order; try again later' : 'open it in a browser and give the address that it ends at';
}

const CODE_OF_KIND: Partial<Readonly<Record<EgressErrorKind, PageFailureCode>>> = {
  forbidden_url: 'forbidden_address',
  forbidden_address: 'forbidden_address',
  timeout: 'timeout',
  too_large: 'too_large',
  redirect: 'redirect',
};

function toPageFailure(error: unknown): { readonly code: PageFailureCode; readonly message: string } {
  if (error instanceof PageError) return error;
  if (error instanceof EgressError) return { code: CODE_OF_KIND[error.kind] ?? 'unreachable', message: error.message };
  throw error;
}
