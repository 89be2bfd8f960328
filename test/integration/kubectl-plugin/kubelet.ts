/** Answers for a node as its kubelet does when the API server asks for the log of a pod. */
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';

import { eventually } from '../../support/eventually.ts';
import type { Plugin } from './plugin.ts';

export interface Kubelet {
  readonly node: string;
  /** Writes lines into the log of a container. */
  write(pod: string, ...lines: readonly (object | string)[]): void;
  stop(): Promise<void>;
}

export async function startKubelet(plugin: Plugin, node: string): Promise<Kubelet> {
  const logs = new Map<string, string[]>();
  const readers = new Map<string, Set<(line: string) => void>>();
  // The API server doesn't ask who the kubelet is unless it has been given a CA for that: any certificate will do.
  const pki = join(dirname(plugin.addresses.kubeconfig), 'pki/apiserver/apiserver');
  const [cert, key] = await Promise.all([readFile(`${pki}.crt`), readFile(`${pki}.key`)]);
  const server: Server = createServer({ cert, key }, (request, response) => {
    const url = new URL(request.url ?? '', 'https://kubelet');
    const [, area, , pod = ''] = url.pathname.split('/');
    if (area !== 'containerLogs') {
      response.writeHead(404).end();
      return;
    }
    const since = Date.parse(url.searchParams.get('sinceTime') ?? '');
    const tail = url.searchParams.get('tailLines');
    const all = (logs.get(pod) ?? []).filter((line) => Number.isNaN(since) || timeOf(line) >= since);
    response.writeHead(200, { 'content-type': 'text/plain' });
    response.write(all.slice(tail === null ? 0 : -Number(tail)).join(''));
    if (url.searchParams.get('follow') !== 'true') {
      response.end();
      return;
    }
    response.flushHeaders();
    const push = (line: string): void => void response.write(line);
    const mine = readers.get(pod) ?? new Set();
    readers.set(pod, mine.add(push));
    response.on('close', () => mine.delete(push));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await plugin.put({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: node },
    status: {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
    },
  });
  await eventually(() => plugin.transport.request({ method: 'GET', path: `/api/v1/nodes/${node}` }));
  return {
    node,
    write(pod, ...lines) {
      const texts = lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`);
      logs.set(pod, [...(logs.get(pod) ?? []), ...texts]);
      for (const push of readers.get(pod) ?? []) push(texts.join(''));
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function timeOf(line: string): number {
  try {
    return Date.parse((JSON.parse(line) as { readonly time: string }).time);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
