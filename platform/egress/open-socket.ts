/** Opens a TCP or TLS connection to addresses that were vetted, and to nothing else. */
import type { Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';

import type { Clock } from '../clock.ts';
import { type Address, parseAddress } from './address.ts';
import type { AddressPolicy } from './address-policy.ts';
import { dial } from './dial.ts';
import { EgressError, egressErrorOf } from './egress-error.ts';
import type { Target } from './target.ts';

export interface OpenedSocket {
  readonly socket: Socket;
  readonly address: string;
}

/** A connection attempt that can be aborted at any moment. */
export interface SocketOpening {
  /** @throws EgressError */
  readonly opened: Promise<OpenedSocket>;
  cancel(): void;
}

export interface SocketOptions {
  readonly target: Target;
  readonly addresses: readonly Address[];
  readonly policy: AddressPolicy;
  readonly secureContext: SecureContext;
  readonly clock: Clock;
  /** Called when the TCP connection is established and the TLS handshake begins. */
  readonly onTls: () => void;
}

export function openSocket(options: SocketOptions): SocketOpening {
  const { target } = options;
  const dialling = dial({ addresses: options.addresses, port: target.port, clock: options.clock });
  let socket: Socket | undefined;
  let cancelled = false;

  const open = async (): Promise<OpenedSocket> => {
    const tcp = await dialling.connected.catch((error: unknown) => {
      throw egressErrorOf(error, 'connect', target.host);
    });
    socket = tcp;
    if (cancelled) tcp.destroy();
    const address = parseAddress(tcp.remoteAddress ?? '');
    // The final check: whatever happened above, no byte goes to a forbidden address.
    if (address === undefined || options.policy.objection(address, target.portIsFixed === true ? undefined : target.port) !== undefined) {
      tcp.destroy();
      throw address === undefined ? lost(target) : forbidden(target);
    }
    if (!target.secure) return { socket: tcp, address: address.text };
    options.onTls();
    socket = await secure(tcp, options);
    return { socket, address: address.text };
  };

  return {
    opened: open(),
    cancel: () => {
      cancelled = true;
      dialling.cancel();
      socket?.destroy();
    },
  };
}

function secure(tcp: Socket, { target, secureContext }: SocketOptions): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const tls = connectTls({
      socket: tcp,
      host: target.hostname,
      // An IP address is not a valid server name (RFC 6066); the certificate is still checked against `host`.
      servername: target.literal === undefined ? target.hostname : '',
      ALPNProtocols: ['http/1.1'],
      secureContext,
    });
    // This listener stays, as that of the TCP socket does.
    tls.on('error', (error) => {
      tls.destroy();
      reject(egressErrorOf(error, 'tls', target.host));
    });
    tls.once('secureConnect', () => resolve(tls));
  });
}

const forbidden = ({ host }: Target): EgressError =>
  new EgressError({
    kind: 'forbidden_address',
    phase: 'connect',
    host,
    message: `the connection to ${host} reached a forbidden address`,
  });

/** Reports that the peer has closed the connection before it was used. */
const lost = ({ host }: Target): EgressError =>
  new EgressError({ kind: 'reset', phase: 'connect', host, message: `${host} closed the connection at once` });
