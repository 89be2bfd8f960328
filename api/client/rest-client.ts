/** Calls the REST API for commands; address and key come from the environment. */
import { awakeClock, sleep, type Clock, type Timer } from '../../platform/clock.ts';
import { parseJson } from '../../platform/json.ts';
import { linesOf } from '../../platform/lines-of.ts';
import { retryAfterMs } from '../../platform/retry-after.ts';
import { retry } from '../../platform/retry.ts';
import { serverEventsOf, type ServerEvent } from '../../platform/server-events.ts';
import { causeOf, UserError } from '../../platform/user-error.ts';

export interface RequestOptions {
  /** Ends the request, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request that a rate limit refused once more after its `Retry-After`; all others wait as long. */
export interface RestClient {
  /** @throws UserError with the server's message, or saying that it does not answer, and with a cure where one is known */
  request(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object | FormData, options?: RequestOptions): Promise<unknown>;
  /** Makes a request whose answer is not JSON; fails as `request` does. */
  download(method: 'GET' | 'POST', path: string, body?: object, options?: RequestOptions): Promise<Uint8Array>;
  /** Sends lines of JSON, and hands over each line of the answer as it comes. Rejects where the answer breaks off. */
  lines(path: string, lines: readonly string[], onLine: (value: unknown) => void, options?: RequestOptions): Promise<void>;
  /** Reads Server-Sent Events until the server ends them. Rejects where they break off. */
  events(path: string, onEvent: (event: ServerEvent) => void, options?: RequestOptions): Promise<void>;
}

/** Longest time for a whole answer, in milliseconds: an api that is being restarted needs less. */
const ANSWER_WITHIN_MS = 30_000;
/** Longest time for a request or an answer that carries a file, in milliseconds. */
const FILE_WITHIN_MS = 600_000;

/** Longest time that one request waits under a rate limit, all waits together, in milliseconds. */
const RATE_LIMITED_WITHIN_MS = 300_000;

/** Reports that the server answered with a refusal. */
export class RestError extends UserError {
  readonly status: number;
  /** The server's code: `not_found`. */
  readonly code: string | undefined;
  /** The server's message, without the request. */
  readonly said: string;
  /** Milliseconds from now until a request that a rate limit refused may be sent again. */
  readonly retryAfterMs: number | undefined;

  constructor(
    status: number,
    answer: unknown,
    request: { readonly method: string; readonly path: string; readonly retryAfterMs?: number | undefined },
  ) {
    const said = readMessage(answer);
    super(
      `${request.method} ${request.path}: ${status} ${said || NOT_PARLEY}`,
      said === '' ? { cure: RIGHT_URL } : cureForStatus(status, request.path),
    );
    this.status = status;
    this.code = (answer as { readonly error?: string } | undefined)?.error;
    this.said = said;
    // A place for a call gets free when a call ends, which may take long.
    this.retryAfterMs = status === 429 && this.code !== 'concurrent_call_limit_reached' ? request.retryAfterMs : undefined;
  }
}

/** Completes the message about an answer of some other server, or of a proxy that doesn't reach Parley. */
const NOT_PARLEY = '(no answer of Parley)';
const RIGHT_URL = "is PARLEY_URL that of Parley's REST API, and does a proxy in front of it reach the api?";

export interface RestClientOptions {
  readonly url: string;
  readonly apiKey: string;
  readonly fetch?: typeof fetch;
  readonly clock?: Clock;
}

/** @throws UserError when PARLEY_URL or PARLEY_API_KEY is not set */
export function restClientFromEnvironment(env: NodeJS.ProcessEnv): RestClient {
  const { PARLEY_URL: url, PARLEY_API_KEY: apiKey } = env;
  if (url !== undefined && url !== '' && apiKey !== undefined && apiKey !== '') return createRestClient({ url, apiKey });
  throw new UserError(`${url === undefined || url === '' ? 'PARLEY_URL' : 'PARLEY_API_KEY'} is not set`, {
    cure: 'with the local stack running: eval "$(parley env)"; elsewhere: export PARLEY_URL=https://… PARLEY_API_KEY=pk_…',
  });
}

export function createRestClient({ url, apiKey, fetch: ask = fetch, clock = awakeClock }: RestClientOptions): RestClient {
  const once = async <T>({ method, path, body, signal }: Exchange, read: (answer: Response, limit: Limit) => Promise<T>): Promise<T> => {
    const { type, content } = encoded(body);
    const limit = new Limit(clock, type === 'application/json' ? ANSWER_WITHIN_MS : FILE_WITHIN_MS);
    try {
      const response = await ask(new URL(path, url), {
        method,
        headers: { authorization: `Bearer ${apiKey}`, ...(content !== undefined && type !== undefined && { 'content-type': type }) },
        ...(content !== undefined && { body: content }),
        signal: signal === undefined ? limit.signal : AbortSignal.any([signal, limit.signal]),
      });
      if (!response.ok) {
        const wait = retryAfterMs(response.headers.get('retry-after'), clock.now());
        throw new RestError(response.status, parseJson(await response.text()), { method, path, retryAfterMs: wait });
      }
      return await read(response, limit);
    } catch (error) {
      if (error instanceof UserError) throw error;
      signal?.throwIfAborted();
      throw limit.signal.aborted ? tooLate(`${url}: ${method} ${path}`, limit.ms, error) : unreachable(url, error);
    } finally {
      limit.cancel();
    }
  };
  // A server's Retry-After for one request holds for all: the limit is that of the key.
  let pausedUntil = 0;
  const exchange = async <T>(request: Exchange, read: (answer: Response, limit: Limit) => Promise<T>): Promise<T> => {
    const giveUpAt = clock.monotonic() + RATE_LIMITED_WITHIN_MS;
    const attempt = async (): Promise<T> => {
      for (let wait = pausedUntil - clock.monotonic(); wait > 0; wait = pausedUntil - clock.monotonic())
        await sleep(clock, wait, request.signal);
      return once(request, read);
    };
    const delayMs = (error: unknown): number | undefined => {
      const now = clock.monotonic();
      if (!(error instanceof RestError) || error.retryAfterMs === undefined || now + error.retryAfterMs > giveUpAt) return undefined;
      pausedUntil = Math.max(pausedUntil, now + error.retryAfterMs);
      return 0;
    };
    return retry(attempt, { delayMs, clock, signal: request.signal });
  };
  return {
    request: (method, path, body, options) =>
      exchange({ method, path, body, ...options }, async (answer) =>
        jsonOf(await answer.text(), `${url}: ${method} ${path}: ${answer.status}`),
      ),
    download: (method, path, body, options) =>
      exchange({ method, path, body, ...options }, async (answer, limit) => {
        // The headers had to come in the usual time; the file may take longer.
        limit.renew(FILE_WITHIN_MS);
        return new Uint8Array(await answer.arrayBuffer());
      }),
    lines: (path, lines, onLine, options) =>
      exchange({ method: 'POST', path, body: new JsonLines(lines), ...options }, async (answer, limit) => {
        for await (const line of linesOf((answer.body ?? []) as AsyncIterable<Uint8Array>)) {
          limit.renew(FILE_WITHIN_MS);
          onLine(JSON.parse(line));
        }
      }),
    events: (path, onEvent, options) =>
      exchange({ method: 'GET', path, body: undefined, ...options }, async (answer, limit) => {
        const body = async function* (): AsyncGenerator<Uint8Array> {
          for await (const part of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
            // A comment comes every 15 s where nothing else does.
            limit.renew(ANSWER_WITHIN_MS);
            yield part;
          }
        };
        for await (const event of serverEventsOf(body())) onEvent(event);
      }),
  };
}

/** Parses an answer; undefined for an empty one, such as a deletion's. */
function jsonOf(text: string, what: string): unknown {
  const value = text === '' ? undefined : parseJson(text);
  if (text !== '' && value === undefined) throw new UserError(`${what} ${NOT_PARLEY}`, { cure: RIGHT_URL });
  return value;
}

interface Exchange extends RequestOptions {
  readonly method: string;
  readonly path: string;
  readonly body: object | FormData | JsonLines | undefined;
}

class JsonLines {
  readonly lines: readonly string[];

  constructor(lines: readonly string[]) {
    this.lines = lines;
  }
}

/** Encodes a body. A form sets its own Content-Type. */
function encoded(body: Exchange['body']): { readonly type: string | undefined; readonly content: FormData | string | undefined } {
  if (body instanceof FormData) return { type: undefined, content: body };
  if (body instanceof JsonLines) return { type: 'application/x-ndjson', content: body.lines.map((line) => `${line}\n`).join('') };
  return { type: 'application/json', content: body === undefined ? undefined : JSON.stringify(body) };
}

/** A deadline that can be extended. */
class Limit {
  readonly #clock: Clock;
  readonly #over = new AbortController();
  readonly signal = this.#over.signal;
  #ms = 0;
  #timer: Timer | undefined;

  constructor(clock: Clock, ms: number) {
    this.#clock = clock;
    this.renew(ms);
  }

  get ms(): number {
    return this.#ms;
  }

  renew(ms: number): void {
    this.cancel();
    this.#ms = ms;
    this.#timer = this.#clock.after(ms, () => this.#over.abort());
  }

  cancel(): void {
    this.#timer?.cancel();
  }
}

function tooLate(what: string, ms: number, cause: unknown): UserError {
  return new UserError(`${what} has not been answered within ${ms / 1_000} s`, {
    cure: 'is the api overloaded, or a server that it needs unavailable? Its /readyz and its log say so (here: `parley dev status`); then try again',
    cause,
  });
}

function unreachable(url: string, cause: unknown): UserError {
  return new UserError(`${url} does not answer: ${causeOf(cause)}`, { cure: 'is the api running, and is PARLEY_URL right?', cause });
}

/** Permissions, by the beginning of the addresses that need them. */
const areas = [
  ['/v1/public/webhook', 'webhooks'],
  ['/v1/calls', 'calls'],
  ['/v1/call-recording', 'recordings'],
] as const;

function cureForStatus(status: number, path: string): { readonly cure?: string } {
  const area = areas.find(([prefix]) => path.startsWith(prefix))?.[1] ?? 'knowledge_bases';
  if (status === 403 && /^\/v1\/calls\/[^/]+\/(say|instructions|transfer|mute)$/.test(path))
    return { cure: 'use a key with the permission calls:control' };
  if (status === 401) return { cure: 'check PARLEY_API_KEY: `parley keys list --org <organisation>` shows what there is' };
  if (status === 403) return { cure: `use a key with the permission ${area}:read, or :write to change something` };
  if (status === 404 && area === 'webhooks')
    return { cure: '`parley webhooks list` shows the subscriptions, `parley webhooks deliveries <subscription>` what was sent to one' };
  if (status === 404 && path.startsWith('/api/v1/'))
    return { cure: '`kubectl get knowledgebases` shows what there is: the id of a knowledge base is the name of its resource' };
  return {};
}

/** Reads the message of `{error, message}` or of FastAPI's `{detail: [{loc, msg}]}`. */
function readMessage(answer: unknown): string {
  const { message, detail } = (answer ?? {}) as {
    readonly message?: string;
    readonly detail?: readonly { readonly loc: readonly unknown[]; readonly msg: string }[];
  };
  if (detail !== undefined) return detail.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ');
  return message ?? '';
}
