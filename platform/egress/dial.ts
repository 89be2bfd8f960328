/**
 * Opens a TCP connection to the first of several addresses that answers. Tries the next one when the last has failed or
 * takes a while; attempts under way go on (RFC 8305, 5). Node's own algorithm gives up on the first address when it
 * tries the second, and so never reaches a host that is only far away.
 */
import { connect, type Socket } from 'node:net';

import type { Clock, Timer } from '../clock.ts';
import type { Address } from './address.ts';

export interface Dialling {
  /** Rejects with the error of the last attempt. */
  readonly connected: Promise<Socket>;
  cancel(): void;
}

/** Milliseconds that an address has before the next one is tried in parallel. */
const NEXT_AFTER_MS = 250;

const MOST_ADDRESSES = 6;

/** @param options.addresses at least one, in the order in which they are tried */
export function dial(options: { readonly addresses: readonly Address[]; readonly port: number; readonly clock: Clock }): Dialling {
  const { promise: connected, resolve, reject } = Promise.withResolvers<Socket>();
  const waiting = options.addresses.slice(0, MOST_ADDRESSES);
  const trying = new Set<Socket>();
  let timer: Timer | undefined;

  const end = (winner?: Socket): void => {
    timer?.cancel();
    waiting.length = 0;
    for (const socket of trying) if (socket !== winner) socket.destroy();
    trying.clear();
  };

  const tryNext = (): void => {
    timer?.cancel();
    const address = waiting.shift();
    if (address === undefined) return;
    const socket = connect({ host: address.text, port: options.port, noDelay: true });
    trying.add(socket);
    // The listener stays: a socket that was given up may still emit an error, which would otherwise be unhandled.
    socket.on('error', (error) => {
      if (!trying.delete(socket)) return;
      if (waiting.length > 0) tryNext();
      else if (trying.size === 0) reject(error);
    });
    socket.once('connect', () => {
      end(socket);
      resolve(socket);
    });
    if (waiting.length > 0) timer = options.clock.after(NEXT_AFTER_MS, tryNext);
  };

  tryNext();
  return { connected, cancel: () => end() };
}
