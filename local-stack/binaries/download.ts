import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';

import { Agent, EnvHttpProxyAgent, fetch } from 'undici';

import type { BinaryProgress } from './progress.ts';

export interface Checksum {
  readonly algorithm: 'sha256' | 'sha512';
  readonly hex: string;
}

/** The bytes that arrived are not the ones that were pinned; they are thrown away. */
export class ChecksumError extends Error {
  override readonly name = 'ChecksumError';
  readonly expected: Checksum;
  readonly found: string;
  constructor(source: string, expected: Checksum, found: string) {
    super(`${source} has the ${expected.algorithm} ${found}, expected ${expected.hex}: it was changed or cut off on the way`);
    this.expected = expected;
    this.found = found;
  }
}

export interface Download {
  /** http(s):, file: or a path. */
  readonly source: string;
  readonly file: string;
  readonly checksum: Checksum;
  readonly onProgress?: (progress: BinaryProgress) => void;
  readonly signal?: AbortSignal;
  /** Milliseconds until a server must have taken the connection; default 10,000. */
  readonly connectTimeoutMs?: number;
}

/** Copies or downloads `source` into `file` and checks it. @throws ChecksumError, or what the network said. */
export async function download(options: Download): Promise<void> {
  const { checksum, onProgress } = options;
  const { body, total } = await openSource(options.source, options);
  const hash = createHash(checksum.algorithm);
  const startedAt = performance.now();
  let done = 0;
  let lastReport = 0;
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, next) {
      hash.update(chunk);
      done += chunk.length;
      const elapsedMs = performance.now() - startedAt;
      if (elapsedMs - lastReport >= 500) {
        lastReport = elapsedMs;
        onProgress?.({
          phase: 'downloading',
          done,
          elapsedMs,
          ...(total === undefined ? {} : { total, remainingMs: (elapsedMs / done) * (total - done) }),
        });
      }
      next(null, chunk);
    },
  });
  await pipeline(body, counter, createWriteStream(options.file), options.signal === undefined ? {} : { signal: options.signal });
  const found = hash.digest('hex');
  if (found !== checksum.hex) throw new ChecksumError(options.source, checksum, found);
}

/** The text of a small file, from a folder or a server. */
export async function readText(
  source: string,
  options: { readonly signal?: AbortSignal; readonly connectTimeoutMs?: number } = {},
): Promise<string> {
  const { body } = await openSource(source, options);
  const chunks: Buffer[] = [];
  for await (const chunk of body) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

const isWeb = (source: string): boolean => /^https?:\/\//.test(source);

async function openSource(
  source: string,
  options: { readonly signal?: AbortSignal; readonly connectTimeoutMs?: number },
): Promise<{ body: Readable; total?: number }> {
  if (!isWeb(source)) {
    const path = source.startsWith('file:') ? fileURLToPath(source) : source;
    const { size } = await stat(path);
    return { body: createReadStream(path), total: size };
  }
  const timeout = options.connectTimeoutMs ?? 10_000;
  const dispatcher =
    (process.env['HTTPS_PROXY'] ?? process.env['https_proxy'])
      ? new EnvHttpProxyAgent({ connect: { timeout } })
      : new Agent({ connect: { timeout }, headersTimeout: 30_000, bodyTimeout: 60_000 });
  let response;
  try {
    response = await fetch(source, { dispatcher, ...(options.signal === undefined ? {} : { signal: options.signal }) });
  } catch (error) {
    throw new Error(`${new URL(source).host} can't be reached (${rootCause(error)})`, { cause: error });
  }
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw new Error(`${source} answered ${response.status}`);
  }
  const length = Number(response.headers.get('content-length') ?? Number.NaN);
  return { body: Readable.fromWeb(response.body), ...(Number.isFinite(length) ? { total: length } : {}) };
}

/** fetch wraps the reason: "fetch failed" helps nobody, "getaddrinfo ENOTFOUND" does. */
function rootCause(error: unknown): string {
  let current = error;
  while (current instanceof Error && current.cause instanceof Error) current = current.cause;
  return current instanceof Error ? ((current as NodeJS.ErrnoException).code ?? current.message) : String(current);
}
