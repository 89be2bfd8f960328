import dgram from 'node:dgram';
import dns from 'node:dns';
import net from 'node:net';

export function sealNetwork(): void {
  const refuse = (): never => {
    throw new Error('a parser has no network');
  };
  Object.assign(net.Socket.prototype, { connect: refuse });
  Object.assign(net.Server.prototype, { listen: refuse });
  Object.assign(dgram.Socket.prototype, { bind: refuse, send: refuse, connect: refuse });
  Object.assign(dns, { lookup: refuse, resolve: refuse });
  Object.assign(dns.promises, { lookup: refuse, resolve: refuse });
  Object.assign(globalThis, { fetch: refuse, WebSocket: undefined, EventSource: undefined });
}
