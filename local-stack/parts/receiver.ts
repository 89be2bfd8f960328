import type { Part } from '../supervisor.ts';
import { httpCheck } from './http-check.ts';

/** What the examples call it. Nobody can own a name below `.example` (RFC 2606), so that it means nothing anywhere else. */
const HOST = 'receiver.example';

/** For PARLEY_EGRESS_HOSTS of the stack's roles: every stack has a receiver of its own behind the same name. */
export const receiverHost = (port: number): string => `${HOST}=127.0.0.1:${port}`;

/** Where it shows what it has received. */
export const receiverUrl = (port: number, token: string): string => `http://127.0.0.1:${port}/${token}`;

export interface ReceiverOptions {
  /** How to run the `parley` command. */
  readonly command: readonly [file: string, ...args: string[]];
  readonly port: number;
  /** Part of the address at which it shows what it has received. */
  readonly token: string;
  /** With the KUBECONFIG of somebody who may read the signing Secrets: the person's own. */
  readonly env: NodeJS.ProcessEnv;
  readonly onDelivery?: (line: string) => void;
}

/** Where one sees what is delivered: `parley webhooks receive`. */
export function receiverPart({ command: [file, ...args], port, token, env, onDelivery }: ReceiverOptions): Part {
  return {
    name: 'receiver',
    dependsOn: ['kube-apiserver'],
    command: () => ({
      file,
      args: [...args, 'webhooks', 'receive', '--port', String(port), '--host', HOST],
      // Every account of the machine can read the arguments of a process.
      env: { ...env, PARLEY_RECEIVER_TOKEN: token },
    }),
    check: async (signal) => (await httpCheck({ url: receiverUrl(port, token), signal })).status === 200,
    stopTimeoutMs: 5_000,
    ...(onDelivery === undefined ? {} : { onLine: onDelivery }),
  };
}
