/** Opens a TCP or TLS connection to addresses that were vetted, and to nothing else. */
import { connect as connectTcp, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext } from 'node:tls';

import { type Address, parseAddress } from './address.ts';
import type { AddressPolicy } from './address-policy.ts';
import { EgressError, egressErrorOf } from './egress-error.ts';
import type { Target } from './target.ts';

export interface OpenedSocket {
  readonly socket: Socket;
  /** Where it really leads. */
  readonly address: string;
}

/** A connection under way, which can be given up at any moment. */
export interface SocketOpening {
  readonly opened: Promise<OpenedSocket>;
  cancel(): void;
}

/** With several addresses, the next one is tried after this time, in milliseconds. */
const nextAddressMs = 300;

const ignore = (): void => undefined;

/** How many of a name's addresses are tried. */
const mostAddresses = 6;

export function openSocket(options: {
  readonly target: Target;
  /** At least one. */
  readonly addresses: readonly Address[];
  readonly policy: AddressPolicy;
  readonly secureContext: SecureContext;
  /** Told when the TCP connection stands and the TLS handshake begins. */
  readonly onTls: () => void;
}): SocketOpening {
  const { target, policy } = options;
  const { promise: opened, resolve, reject } = Promise.withResolvers<OpenedSocket>();
  const tcp = dial(target, options.addresses.slice(0, mostAddresses));
  let socket = tcp;

  // A socket that was given up may still report why, with nobody left to hear it.
  tcp.on('error', ignore);
  const onTcpError = (error: Error): void => reject(egressErrorOf(error, 'connect', target.host));
  tcp.once('error', onTcpError);
  tcp.once('connect', () => {
    tcp.off('error', onTcpError);
    const address = parseAddress(tcp.remoteAddress ?? '');
    // The last word: whatever happened above, no byte goes to an address that may not be called.
    if (address === undefined || policy.objection(address) !== undefined) {
      tcp.destroy();
      reject(
        new EgressError({
          kind: 'forbidden_address',
          phase: 'connect',
          host: target.host,
          message: `the connection to ${target.host} led to an address that may not be called`,
        }),
      );
      return;
    }
    if (!target.secure) {
      resolve({ socket: tcp, address: address.text });
      return;
    }
    options.onTls();
    const tls = connectTls({
      socket: tcp,
      host: target.hostname,
      // An address is no server name (RFC 6066); the certificate is checked against `host` all the same.
      servername: target.literal === undefined ? target.hostname : '',
      ALPNProtocols: ['http/1.1'],
      secureContext: options.secureContext,
    });
    socket = tls;
    tls.on('error', ignore);
    const onTlsError = (error: Error): void => {
      tls.destroy();
      reject(egressErrorOf(error, 'tls', target.host));
    };
    tls.once('error', onTlsError);
    tls.once('secureConnect', () => {
      tls.off('error', onTlsError);
      resolve({ socket: tls, address: address.text });
    });
  });
  return {
    opened,
    cancel: () => {
      socket.destroy();
      tcp.destroy();
    },
  };
}

function dial(target: Target, addresses: readonly Address[]): Socket {
  const [first] = addresses;
  if (addresses.length === 1 && first !== undefined) return connectTcp({ host: first.text, port: target.port, noDelay: true });
  const vetted: LookupFunction = (_name, _options, callback) =>
    callback(
      null,
      addresses.map(({ text, family }) => ({ address: text, family })),
    );
  return connectTcp({
    host: 'vetted.invalid',
    port: target.port,
    lookup: vetted,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: nextAddressMs,
    noDelay: true,
  });
}
