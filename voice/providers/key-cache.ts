/**
 * The voice role reads provider keys for its jobs and caches them: a job lives as long as one call, so without the role each call would ask the
 * Kubernetes API again, and none could begin while that is away. Jobs ask over a Unix socket. They report the takeovers of fallbacks, their requests
 * to providers and what their calls use there, for the role's metrics, and have tokens counted: a tokenizer in each of them would take 67 MB.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { parseJson } from '../../platform/json.ts';
import type { Measurement } from '../../platform/telemetry/gen-ai/model-requests.ts';
import {
  PART_NAMES,
  ProviderKeyError,
  type ProviderKeyReader,
  type ProviderKeyErrorReason,
  type ProviderPart,
  type SecretKeyRef,
} from '../../calls/provider-access/index.ts';
import { countTokens as count } from '../../calls/usage/count-tokens.ts';
import type { CountTokens } from '../../calls/usage/token-usage.ts';
import type { UsageReport } from '../../calls/usage/usage-metrics.ts';

/** Path of the role's socket, in the environment that its jobs inherit. */
export const KEY_CACHE_VARIABLE = 'PARLEY_VOICE_KEY_CACHE';

/** How long a job waits, in milliseconds: longer than the role waits for the Kubernetes API. */
const TIMEOUT_MS = 10_000;
/** Of a request. */
const MAX_LENGTH = 2_000_000;

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
const USAGE_PATH = '/usage';
const TOKENS_PATH = '/tokens';

/** What jobs report, and ask for. */
export interface JobReports {
  readonly onTakeover?: (part: ProviderPart) => void;
  readonly onMeasurement?: (measurement: Measurement) => void;
  readonly onUsage?: (report: UsageReport) => void;
  readonly countTokens?: CountTokens;
}

/** For the role. */
export async function serveKeyCache(
  keys: ProviderKeyReader,
  { onTakeover = () => undefined, onMeasurement = () => undefined, onUsage = () => undefined, countTokens = count }: JobReports = {},
): Promise<KeyCacheServer> {
  const answer = async (url: string, text: string): Promise<unknown> => {
    if (url === TOKENS_PATH) return countTokens(JSON.parse(text) as readonly string[]);
    if (url === USAGE_PATH) {
      onUsage(JSON.parse(text) as UsageReport);
      return {};
    }
    if (url === MEASUREMENTS_PATH) {
      // Nothing of a job that ended in the middle of it.
      for (const measurement of parseJson(text, []) as readonly Measurement[]) onMeasurement(measurement);
      return {};
    }
    if (!url.startsWith(TAKEOVERS_PATH)) return readKey(keys, text);
    const part = url.slice(TAKEOVERS_PATH.length);
    if (Object.hasOwn(PART_NAMES, part)) onTakeover(part as ProviderPart);
    return {};
  };
  const folder = await mkdtemp(join(tmpdir(), 'parley-voice-'));
  const path = join(folder, 'keys');
  const server = createServer((incoming, response) => {
    let text = '';
    incoming.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.length > MAX_LENGTH) incoming.destroy();
    });
    incoming.on('error', () => undefined);
    incoming.on('end', () => {
      answer(incoming.url ?? '', text).then(
        (value) => response.end(JSON.stringify(value)),
        () => response.destroy(),
      );
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

/** For a job. Never fails. */
export function reportUsage(path: string, report: UsageReport): void {
  ask(path, USAGE_PATH, report).catch(() => undefined);
}

/** For a job. */
export function tokensFromRole(path: string): CountTokens {
  return async (texts) => (await ask(path, TOKENS_PATH, texts)) as readonly number[];
}

/** A turn asks several times. */
const agent = new Agent({ keepAlive: true });

function ask(socketPath: string, path: string, question: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, method: 'POST', path, agent, timeout: TIMEOUT_MS }, (response) => {
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
