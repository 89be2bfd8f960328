/** Receives deliveries to try subscriptions with: verifies, remembers the latest, and shows them. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

import { parseJson } from '../../platform/json.ts';
import { LruMap } from '../../platform/lru.ts';
import { readBytes } from '../../platform/read-bytes.ts';
import type { SigningKey } from '../../webhooks/signing/signing-keys.ts';
import { verify, type Verdict } from '../../webhooks/signing/verify.ts';
import type { KnownKey } from './known-keys.ts';

export interface SeenDelivery {
  readonly received_at: string;
  readonly verdict: Verdict['verdict'];
  /** Reason of the refusal. */
  readonly why?: string;
  /** The subscription whose key has signed it. */
  readonly subscription?: string;
  readonly path: string;
  readonly webhook_id: string | null;
  /** Number of times that this `webhook-id` has come by now, retries and repeats among them. */
  readonly times: number;
  readonly status: number;
  readonly event: unknown;
}

export interface ReceiverOptions {
  /** Path, without its slash, of the only `GET` that is answered: deliveries are not for every account of the machine. */
  readonly token: string;
  /** Tells whether a request's `Host` is one of this receiver's: a web page may reach it by a name of its own (DNS rebinding). */
  readonly isOwnHost: (host: string | undefined) => boolean;
  /** Returns the keys that may have signed a delivery to this organisation. `refresh`: the cached ones did not fit. */
  readonly keysOf: (organization: string, options: { readonly refresh: boolean }) => Promise<readonly KnownKey[]>;
  readonly onDelivery: (delivery: SeenDelivery) => void;
  /** Called when keys could not be looked up; the sender is asked to come again. */
  readonly onFailure: (error: unknown) => void;
  /** Number of deliveries that are remembered; default 200. */
  readonly remember?: number;
}

/** Longest body, in bytes: larger than any event. */
const LONGEST_BODY = 2 * 1024 * 1024;
/** Number of ids whose arrivals are counted. */
const MOST_IDS = 10_000;

/**
 * Creates the server. `POST` to any path is a delivery: 204, or 401 where no key fits. `POST …/status/503` is one that is answered with
 * this status, to see what retries do. `GET /<token>` answers `{received, data}`, the latest deliveries first.
 */
export function createReceiver(options: ReceiverOptions): Server {
  const remember = options.remember ?? 200;
  const latest: SeenDelivery[] = [];
  const times = new LruMap<string, number>(MOST_IDS);
  const counts = { verified: 0, unsigned: 0, refused: 0 };

  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBytes(request, LONGEST_BODY);
    if (body === undefined) {
      response.writeHead(413, { connection: 'close' }).end();
      return;
    }
    const event = parseJson(body.toString(), null);
    const { verdict, ...about } = await judge(request, body, organizationOf(event));
    counts[verdict] += 1;
    const id = request.headers['webhook-id'];
    const status = verdict === 'refused' ? 401 : (wantedStatus(request.url ?? '/') ?? 204);
    const seen: SeenDelivery = {
      received_at: new Date().toISOString(),
      verdict,
      ...about,
      path: request.url ?? '/',
      webhook_id: typeof id === 'string' ? id : null,
      times: typeof id === 'string' ? countOf(id) : 1,
      status,
      event,
    };
    latest.unshift(seen);
    latest.length = Math.min(latest.length, remember);
    response.writeHead(status).end();
    options.onDelivery(seen);
  };

  const judge = async (
    { headers }: IncomingMessage,
    body: Buffer,
    organization: string | undefined,
  ): Promise<Pick<SeenDelivery, 'verdict' | 'why' | 'subscription'>> => {
    if (organization === undefined) return { verdict: 'refused', why: 'its body names no organizationId' };
    const judgeBy = (known: readonly KnownKey[]): { readonly result: Verdict; readonly known: readonly KnownKey[] } => ({
      result: verify({ headers, body, keys: known.map(({ key }) => key), now: Date.now() }),
      known,
    });
    let judged = judgeBy(await options.keysOf(organization, { refresh: false }));
    // The key may be newer than the cached ones.
    if (judged.result.verdict === 'refused') judged = judgeBy(await options.keysOf(organization, { refresh: true }));
    const { result, known } = judged;
    if (result.verdict === 'refused') return { verdict: 'refused', why: result.why };
    if (result.verdict === 'unsigned') return { verdict: 'unsigned' };
    return { verdict: 'verified', ...keyOwner(result.key, known) };
  };

  const countOf = (id: string): number => {
    const count = (times.get(id) ?? 0) + 1;
    times.set(id, count);
    return count;
  };

  return createServer((request, response) => {
    if (!options.isOwnHost(request.headers.host)) {
      request.resume();
      response.writeHead(421).end();
    } else if (request.method === 'POST') {
      take(request, response).catch((error: unknown) => {
        // A refusal is better than to take what could not be verified.
        if (!response.headersSent) response.writeHead(503);
        response.end();
        options.onFailure(error);
      });
    } else if (request.method === 'GET') {
      request.resume();
      if (!isSame(request.url ?? '', `/${options.token}`)) {
        response.writeHead(404).end();
        return;
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`${JSON.stringify({ received: counts, data: latest }, undefined, 2)}\n`);
    } else {
      request.resume();
      response.writeHead(405, { allow: 'GET, POST' }).end();
    }
  });
}

/** Compares in the same time whatever is asked for. */
function isSame(path: string, wanted: string): boolean {
  const [a, b] = [path, wanted].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(a!, b!);
}

const keyOwner = (key: SigningKey, known: readonly KnownKey[]): { readonly subscription?: string } => {
  const owner = known.find((one) => one.key === key);
  return owner === undefined ? {} : { subscription: owner.subscription };
};

/** Returns names of namespaces only: it goes into a path of the Kubernetes API. */
function organizationOf(event: unknown): string | undefined {
  const { organizationId: id } = (event ?? {}) as { readonly organizationId?: unknown };
  return typeof id === 'string' && /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(id) ? id : undefined;
}

function wantedStatus(path: string): number | undefined {
  const status = /\/status\/([2-5]\d\d)$/.exec(path.split('?', 1)[0] ?? '')?.[1];
  return status === undefined ? undefined : Number(status);
}
