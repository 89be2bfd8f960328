/** Reads lines of the logs of pods, through the API server, or of the files of the local stack. */
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';

import type { Transport } from '../../../kube/index.ts';
import { awakeClock, sleep } from '../../../platform/clock.ts';
import { findLayout, type Layout, layoutOf } from '../../../local-stack/layout.ts';
import { linesOf } from '../../../platform/lines-of.ts';
import { ROLE_NAMES } from '../../../platform/role-names.ts';
import { type Pod, roleOf } from '../../cluster/installation.ts';

export interface ReadLogsOptions {
  /** Milliseconds since the Unix epoch; absent for everything that is there. */
  readonly since?: number | undefined;
  readonly follow: boolean;
  /** Number of the last lines to read, where the source supports it. */
  readonly tail?: number;
  readonly signal: AbortSignal;
}

export interface LogSource {
  /** Identifies the source: a pod, or a component of the stack. */
  readonly name: string;
  readonly role: string;
  /** True if a crash of it has left lines of the process before. */
  readonly restarted: boolean;
  read(options: ReadLogsOptions & { readonly previous?: boolean }): AsyncIterable<string>;
}

export function podSource(transport: Transport, pod: Pod): LogSource | undefined {
  const role = roleOf(pod);
  const { name, namespace = '' } = pod.metadata;
  const container = pod.spec.containers.find((each) => each.name === role)?.name;
  if (container === undefined) return undefined;
  return {
    name,
    role,
    restarted: (pod.status?.containerStatuses?.find((each) => each.name === container)?.restartCount ?? 0) > 0,
    async *read({ since, follow, tail, signal, previous = false }) {
      const stream = await transport.stream({
        method: 'GET',
        path: `/api/v1/namespaces/${namespace}/pods/${name}/log`,
        query: {
          container,
          follow,
          ...(previous && { previous }),
          ...(tail !== undefined && { tailLines: tail }),
          ...(since !== undefined && { sinceTime: new Date(since).toISOString() }),
        },
        accept: '*/*',
        signal,
      });
      try {
        yield* linesOf(stream.body);
      } finally {
        stream.destroy();
      }
    },
  };
}

/** Returns the log files of the `parley dev` that runs this cluster; `undefined` without one. */
export function localSources(options: {
  readonly server: string;
  readonly kubeconfig: string | undefined;
  readonly folder: string;
}): readonly LogSource[] | undefined {
  const adjacent = options.kubeconfig === undefined ? undefined : layoutBeside(options.kubeconfig);
  const layout = [adjacent, findLayout(options.folder)].find((each) => each !== undefined && isServedBy(each, options.server));
  if (layout === undefined) return undefined;
  return ROLE_NAMES.map((role) => ({ role, file: join(layout.logs, `${role}.log`) }))
    .filter(({ file }) => existsSync(file))
    .map(({ role, file }) => ({
      name: role,
      role,
      restarted: existsSync(`${file}.1`),
      read: ({ follow, signal, previous = false }) => readFile(previous ? `${file}.1` : file, follow && !previous, signal),
    }));
}

function layoutBeside(kubeconfig: string): Layout | undefined {
  const folder = dirname(kubeconfig);
  return basename(folder) === '.parley' ? layoutOf(dirname(folder)) : undefined;
}

function isServedBy(layout: Layout, server: string): boolean {
  try {
    return readFileSync(layout.kubeconfig, 'utf8').includes(server);
  } catch {
    return false;
  }
}

const ASK_AGAIN_MS = 500;

async function* readFile(file: string, follow: boolean, signal: AbortSignal): AsyncGenerator<string> {
  let at = 0;
  for (;;) {
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    // The file was rotated: new lines go to a new file.
    if (size < at) at = 0;
    if (size > at) {
      let read = at;
      for await (const line of createInterface({ input: createReadStream(file, { start: at, end: size - 1 }) })) {
        // A line that is still being written is read again when it is whole.
        if (read + Buffer.byteLength(line) >= size && follow) break;
        read += Buffer.byteLength(line) + 1;
        yield line;
      }
      at = read;
    }
    if (!follow || signal.aborted) return;
    await sleep(awakeClock, ASK_AGAIN_MS, signal).catch(() => undefined);
  }
}
