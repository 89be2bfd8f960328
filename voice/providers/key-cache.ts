/**
 * The voice role reads provider keys for its jobs and caches them: a job lives as long as one call, so without the role each call would ask the
 * Kubernetes API again, and none could begin while that is away. Jobs ask over a Unix socket, and report the takeovers of fallbacks and their requests to
 * providers there, for the role's metrics.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { Measurement } from '../../platform/telemetry/gen-ai/model-requests.ts';
import {
  PART_NAMES,
  ProviderKeyError,
  type ProviderKeyReader,
  type ProviderKeyErrorReason,
  type ProviderPart,
  type SecretKeyRef,
} from '../calls/provider-access/index.ts';

/** Path of the role's socket, in the environment that its jobs inherit. */
export const KEY_CACHE_VARIABLE = 'PARLEY_VOICE_KEY_CACHE';

/** How long a job waits, in milliseconds: longer than the role waits for the Kubernetes API. */
const TIMEOUT_MS = 10_000;
/** Of a request: keys are asked for by name, measurements come together. */
const MAX_BYTES = 64 * 1024;

export interface KeyCacheServer {
  /** Of the socket; its folder is closed to other users. */
  readonly path: string;
  close(): Promise<void>;
}

interface KeyRequest {
  readonly org: string;
  readonly ref: SecretKeyRef;
}

type KeyResponse = { readonly value: string } | { readonly reason: ProviderKeyErrorReason; readonly message: string };

const TAKEOVERS_PATH = '/takeovers/';
const MEASUREMENTS_PATH = '/measurements';

/** What jobs report. */
export interface JobReports {
  readonly onTakeover?: (part: ProviderPart) => void;
  readonly onMeasurement?: (measurement: Measurement) => void;
}

/** For the role. */
export async function serveKeyCache(
  keys: ProviderKeyReader,
  { onTakeover = () => undefined, onMeasurement = () => undefined }: JobReports = {},
): Promise<KeyCacheServer> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-voice-'));
  const path = join(folder, 'keys');
  const server = createServer((incoming, response) => {
    let text = '';
    incoming.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.length > MAX_BYTES) incoming.destroy();
    });
    incoming.on('error', () => undefined);
    incoming.on('end', () => {
      const { url = '' } = incoming;
      if (url.startsWith(TAKEOVERS_PATH)) {
        const part = url.slice(TAKEOVERS_PATH.length);
        if (Object.hasOwn(PART_NAMES, part)) onTakeover(part as ProviderPart);
        response.end('{}');
      } else if (url === MEASUREMENTS_PATH) {
        for (const measurement of measurementsIn(text)) onMeasurement(measurement);
        response.end('{}');
      } else void readKey(keys, text).then((answer) => response.end(JSON.stringify(answer)));
    });
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve));
  return {
    path,
    async close() {
      await new Promise<void>((resolve) => server.close(() => resolve()).closeAllConnections());
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function measurementsIn(text: string): readonly Measurement[] {
  try {
    return JSON.parse(text) as readonly Measurement[];
  } catch {
    // Of a job that ended in the middle of it.
    return [];
  }
}

async function readKey(keys: ProviderKeyReader, text: string): Promise<KeyResponse> {
  try {
    const { org, ref } = JSON.parse(text) as KeyRequest;
    return { value: await keys.read(org, ref) };
  } catch (error) {
    if (error instanceof ProviderKeyError) return { reason: error.reason, message: error.message };
    return { reason: 'unavailable', message: 'the voice role failed to read the Secret: see its log' };
  }
}

/** For a job. @param options.fallback used when the role does not answer */
export function keysFromCache({ path, fallback }: { readonly path: string; readonly fallback: ProviderKeyReader }): ProviderKeyReader {
  return {
    async read(org, ref) {
      const answer = (await ask(path, '/', { org, ref }).catch(() => undefined)) as KeyResponse | undefined;
      if (answer === undefined) return fallback.read(org, ref);
      if ('value' in answer) return answer.value;
      throw new ProviderKeyError(answer.reason, answer.message);
    },
  };
}

/** For a job. Never fails: a role that is gone counts nothing. */
export function reportTakeover(path: string, part: ProviderPart): void {
  ask(path, TAKEOVERS_PATH + part, {}).catch(() => undefined);
}

/** For a job. Never fails: a role that is gone counts nothing. */
export async function reportMeasurements(path: string, measurements: readonly Measurement[]): Promise<void> {
  await ask(path, MEASUREMENTS_PATH, measurements).catch(() => undefined);
}

function ask(socketPath: string, path: string, question: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, method: 'POST', path, agent: false, timeout: TIMEOUT_MS }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('error', reject).on('end', () => {
        try {
          resolve(JSON.parse(text));
        } catch (error) {
          reject(error);
        }
      });
    });
    sent.on('timeout', () => sent.destroy(new Error('no answer'))).on('error', reject);
    sent.end(JSON.stringify(question));
  });
}
