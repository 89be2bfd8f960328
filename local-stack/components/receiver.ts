import type { Component } from '../supervisor.ts';
import { isOk } from './probes.ts';

/** The examples use this name: names below `.example` are reserved (RFC 2606). */
const HOST = 'receiver.example';

/** Returns an entry for PARLEY_EGRESS_HOSTS of the stack's roles: every stack has a receiver of its own behind the same name. */
export const receiverHost = (port: number): string => `${HOST}=127.0.0.1:${port}`;

/** Returns the address at which the receiver shows the deliveries. */
export const receiverUrl = (port: number, token: string): string => `http://127.0.0.1:${port}/${token}`;

interface ReceiverComponentOptions {
  /** Runs the `parley` command. */
  readonly command: readonly [file: string, ...args: string[]];
  readonly port: number;
  /** Component of the address at which the receiver shows the deliveries. */
  readonly token: string;
  /** Environment of the person, whose KUBECONFIG may read the signing Secrets. */
  readonly env: NodeJS.ProcessEnv;
  readonly onDelivery?: ((line: string) => void) | undefined;
}

/** Shows the deliveries: `parley webhooks receive`. */
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
