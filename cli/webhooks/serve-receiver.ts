/** Runs `parley webhooks receive`: the receiver with the keys that the cluster knows, and a line for each delivery. */
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';

import { createTransport, loadKubeConfig } from '../../kube/index.ts';
import { errorMessageOf } from '../../platform/caught.ts';
import { UserError } from '../../platform/user-error.ts';
import { isLoopbackHost } from '../../platform/loopback-host.ts';
import { KnownKeys } from './known-keys.ts';
import { createReceiver, type SeenDelivery } from './receiver.ts';

/** Most lines a second; more are only counted. A backlog of thousands is not for reading. */
const LINES_PER_SECOND = 20;

export interface ServeReceiverOptions {
  /** Port; 0 for a free one. */
  readonly port: number;
  readonly json: boolean;
  /** A name that leads here, next to those of this machine. */
  readonly host?: string | undefined;
  /** Token of the receiver; random where absent. */
  readonly token?: string | undefined;
}

export async function serveReceiver(options: ServeReceiverOptions): Promise<void> {
  const transport = createTransport({ kubeConfig: loadKubeConfig() });
  const keys = new KnownKeys(transport);
  const lines = new PacedLines((line) => process.stdout.write(`${line}\n`));
  const token = options.token ?? randomBytes(16).toString('hex');
  const server = createReceiver({
    token,
    isOwnHost: (host) =>
      isLoopbackHost(host, (server.address() as AddressInfo).port) || (options.host !== undefined && hostname(host) === options.host),
    keysOf: (organization, { refresh }) => keys.of(organization, { refresh }),
    onDelivery: (delivery) =>
      options.json ? process.stdout.write(`${JSON.stringify(delivery)}\n`) : lines.print(formatDelivery(delivery)),
    onFailure: (error) => lines.print(`not taken: ${errorMessageOf(error)}`),
  });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(options.port, '127.0.0.1', resolve);
    });
  } catch (error) {
    throw new UserError(`the receiver can't listen on port ${options.port}: ${(error as Error).message}`, {
      cure: 'choose another one with --port, or leave it out: a free one is found then',
      cause: error,
    });
  }
  const { port } = server.address() as AddressInfo;
  // The user knows a token that was given; logs are read by more than one.
  const shown = options.token === undefined ? `; http://127.0.0.1:${port}/${token} shows the latest deliveries` : '';
  process.stderr.write(`receiving at http://127.0.0.1:${port}/, any path${shown}\n`);
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  lines.flush();
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
  await transport.close();
}

const hostname = (host: string | undefined): string | undefined => host?.replace(/:\d+$/, '');

/** Formats `verified  call-log  CallHandler.CallEnded  evt_…  204`, for example. */
export function formatDelivery({ verdict, why, subscription, webhook_id: id, times, status, event, path }: SeenDelivery): string {
  const name = (event as { readonly eventName?: unknown } | null)?.eventName;
  // A refused delivery may say anything: nothing of it goes to a terminal as it is.
  const safe = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 200);
  return [
    verdict,
    safe(subscription ?? path),
    safe(typeof name === 'string' ? name : '-'),
    safe(id ?? '-'),
    `${status}${times > 1 ? ` (the ${times}. time)` : ''}${why === undefined ? '' : `: ${why}`}`,
  ].join('  ');
}

/** Prints so many lines in each second, and how many more there were. */
export class PacedLines {
  readonly #write: (line: string) => void;
  #inThisSecond = 0;
  #left = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  print(line: string): void {
    this.#timer ??= setTimeout(() => this.flush(), 1_000);
    this.#inThisSecond += 1;
    if (this.#inThisSecond <= LINES_PER_SECOND) this.#write(line);
    else this.#left += 1;
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#left > 0) this.#write(`… and ${this.#left} more deliveries`);
    this.#inThisSecond = 0;
    this.#left = 0;
  }
}
