/** Reads the last lines of every role, masked. */
import { KubeError, type Transport } from '../../../kube/index.ts';
import { parseLine } from '../logs/line.ts';
import type { LogSource } from '../logs/sources.ts';
import { maskTree } from './objects.ts';
import type { Redactor } from './redactor.ts';

/** Longest line that is kept, in characters; longer ones are cut. */
const MAX_LINE = 16_384;

/** @throws KubeError when the log can't be read */
export async function lastLines(
  source: LogSource,
  options: { readonly count: number; readonly signal: AbortSignal; readonly previous?: boolean },
): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of source.read({
    follow: false,
    signal: options.signal,
    tail: options.count,
    previous: options.previous === true,
  })) {
    lines.push(line);
    // A file gives more than the last lines.
    if (lines.length > options.count * 2) lines.splice(0, lines.length - options.count);
  }
  return lines.slice(-options.count);
}

export function maskLine(raw: string, redactor: Redactor): string {
  const line = parseLine(raw, { source: '', role: '' });
  if (line !== undefined) return JSON.stringify(maskTree(line.fields, redactor)).slice(0, MAX_LINE);
  return redactor.text(raw.slice(0, MAX_LINE));
}

/** Returns what a role says of its readiness, through the API server; and why that is not known where it isn't. */
export async function readinessOf(
  transport: Transport,
  pod: { readonly namespace: string; readonly name: string; readonly port: number },
): Promise<string> {
  const path = `/api/v1/namespaces/${pod.namespace}/pods/http:${pod.name}:${pod.port}/proxy/readyz`;
  try {
    // The answer is `ok`, or JSON with what is missing.
    const { body } = await transport.stream({ method: 'GET', path, accept: '*/*', timeoutMs: 5_000 });
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks).toString().trim().slice(0, MAX_LINE);
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    return error.body ?? `not known: ${error.message}`;
  }
}
