/** Fetches the robots.txt of each site once in a run. */
import { type Clock, sleep } from '../../platform/clock.ts';
import type { Egress } from '../../platform/egress/egress.ts';
import { EgressError } from '../../platform/egress/egress-error.ts';
import { parseRobots, type Robots, ROBOTS_MAX_BYTES } from './robots.ts';

/** A site whose robots.txt is unreachable is not crawled at all (RFC 9309, 2.3.1.4). */
export interface NoRobots {
  /** The reason why there is no robots.txt, for a person. */
  readonly unavailable: string;
  /** The error that kept an answer from coming. */
  readonly error?: EgressError;
}

/** Header of requests, because many servers answer nothing but a browser. */
export const USER_AGENT = 'Mozilla/5.0 (compatible; Parley/1.0)';
const AGENT = 'Parley';
const TIMEOUT_MS = 10_000;
const RETRY_MS = 1000;

/** Redirects that are followed, as many as the RFC asks for; a site with more is taken to have none. */
const MAX_REDIRECTS = 5;

interface RobotsCacheOptions {
  readonly egress: Egress;
  readonly clock: Clock;
}

export class RobotsCache {
  readonly #options: RobotsCacheOptions;
  readonly #known = new Map<string, Promise<Robots | NoRobots>>();

  constructor(options: RobotsCacheOptions) {
    this.#options = options;
  }

  /** @param origin scheme, host and port: each has its own */
  of(origin: string, signal: AbortSignal): Promise<Robots | NoRobots> {
    const known = this.#known.get(origin) ?? this.#fetch(origin, signal);
    this.#known.set(origin, known);
    return known;
  }

  async #fetch(origin: string, signal: AbortSignal): Promise<Robots | NoRobots> {
    const first = await this.#attempt(origin, signal);
    if (!('unavailable' in first)) return first;
    // This tries once more, because all pages of the site depend on it.
    await sleep(this.#options.clock, RETRY_MS, signal);
    return this.#attempt(origin, signal);
  }

  async #attempt(origin: string, signal: AbortSignal): Promise<Robots | NoRobots> {
    const { egress } = this.#options;
    try {
      const { status, body } = await egress.request({
        url: `${origin}/robots.txt`,
        headers: { 'user-agent': USER_AGENT, accept: 'text/plain,*/*;q=0.1' },
        signal,
        timeoutMs: TIMEOUT_MS,
        maxRedirects: MAX_REDIRECTS,
        maxBodyBytes: ROBOTS_MAX_BYTES,
        overflow: 'truncate',
      });
      if (status >= 200 && status < 300) return parseRobots(body.toString('utf8'), AGENT);
      // Without a robots.txt everything is allowed.
      if (status < 500) return parseRobots('', AGENT);
      return { unavailable: `${origin}/robots.txt answers ${status}` };
    } catch (error) {
      if (!(error instanceof EgressError)) throw error;
      if (error.kind === 'redirect') return parseRobots('', AGENT);
      return { unavailable: error.message, error };
    }
  }
}
