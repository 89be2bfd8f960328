import type { Component } from '../supervisor.ts';
import { isOk } from './probes.ts';

/** What the examples call it: names below `.example` are reserved (RFC 2606). */
const HOST = 'receiver.example';

/** For PARLEY_EGRESS_HOSTS of the stack's roles: every stack has a receiver of its own behind the same name. */
export const receiverHost = (port: number): string => `${HOST}=127.0.0.1:${port}`;

/** Where it shows what it has received. */
export const receiverUrl = (port: number, token: string): string => `http://127.0.0.1:${port}/${token}`;

interface ReceiverComponentOptions {
  /** How to run the `parley` command. */
  readonly command: readonly [file: string, ...args: string[]];
  readonly port: number;
  /** Component of the address at which it shows what it has received. */
  readonly token: string;
  /** With a KUBECONFIG that may read the signing Secrets: the person's own. */
  readonly env: NodeJS.ProcessEnv;
  readonly onDelivery?: ((line: string) => void) | undefined;
}

/** Shows what is delivered: `parley webhooks receive`. */
export function receiverComponent({ command: [file, ...args], port, token, env, onDelivery }: ReceiverComponentOptions): Component {
  return {
    name: 'receiver',
    dependsOn: ['kube-apiserver'],
    command: () => ({
      file,
      args: [...args, 'webhooks', 'receive', '--port', String(port), '--host', HOST],
      // Every account of the machine can read the arguments of a process.
      env: { ...env, PARLEY_RECEIVER_TOKEN: token },
    }),
    check: (signal) => isOk(receiverUrl(port, token), signal),
    liveUrl: `http://127.0.0.1:${port}/`,
    stopTimeoutMs: 5_000,
    onLine: onDelivery,
  };
}
