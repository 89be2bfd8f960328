import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { Agent, EnvHttpProxyAgent, fetch } from 'undici';

import { errorCodeOf } from '../../platform/caught.ts';
import { causeOf } from '../../platform/user-error.ts';
import type { Checksum } from './binary-spec.ts';
import type { Fetching } from './progress.ts';

/** Time in which a server must have accepted the connection, in milliseconds. */
const CONNECT_TIMEOUT_MS = 10_000;

interface Download extends Fetching {
  /** An http(s) address, a file: address or a path. */
  readonly source: string;
  readonly file: string;
  readonly checksum: Checksum;
}

/** Copies or downloads `source` into `file`. @throws Error when the bytes are not the pinned ones, or with the reason of the network */
export async function download({ source, file, checksum, onProgress, signal }: Download): Promise<void> {
  const { body, total } = await openSource(source, signal);
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
        const remainingMs = total === undefined ? undefined : (elapsedMs / done) * (total - done);
        onProgress?.({ phase: 'downloading', done, elapsedMs, total, remainingMs });
      }
      next(null, chunk);
    },
  });
  await pipeline(body, counter, createWriteStream(file), { signal });
  const found = hash.digest('hex');
  if (found !== checksum.hex)
    throw new Error(`${source} has the ${checksum.algorithm} ${found}, expected ${checksum.hex}: it was changed or cut off on the way`);
}

/** Reads a small file, from a folder or a server. */
export async function readText(source: string): Promise<string> {
  return text((await openSource(source)).body);
}

/** Unpacks a tar archive (gzipped or not), or just `members` of it, with the system's `tar`. */
export async function unpackTar(archive: string, folder: string, members: readonly string[] = []): Promise<void> {
  // Owners inside the archive mean nothing here, least of all to root.
  await promisify(execFile)('tar', ['-xf', archive, '--no-same-owner', '-C', folder, ...members], { timeout: 600_000 });
}

async function openSource(source: string, signal?: AbortSignal): Promise<{ body: Readable; total?: number | undefined }> {
  if (!/^https?:\/\//.test(source)) {
    const path = source.startsWith('file:') ? fileURLToPath(source) : source;
    const { size } = await stat(path);
    return { body: createReadStream(path), total: size };
  }
  const connect = { timeout: CONNECT_TIMEOUT_MS };
  const dispatcher =
    (process.env['HTTPS_PROXY'] ?? process.env['https_proxy'])
      ? new EnvHttpProxyAgent({ connect })
      : new Agent({ connect, headersTimeout: 30_000, bodyTimeout: 60_000 });
  let response;
  try {
    response = await fetch(source, { dispatcher, ...(signal && { signal }) });
  } catch (error) {
    throw new Error(`${new URL(source).host} can't be reached (${rootCause(error)})`, { cause: error });
  }
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    throw new Error(`${source} answered ${response.status}`);
  }
  const length = response.headers.get('content-length');
  return { body: Readable.fromWeb(response.body), total: length === null ? undefined : Number(length) };
}

/** Finds the reason that fetch wraps: "fetch failed" helps no reader, "ENOTFOUND" does. */
const rootCause = (error: unknown): string => errorCodeOf(error) ?? causeOf(error);
