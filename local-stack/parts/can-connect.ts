import { connect } from 'node:net';

/** Resolves when somebody listens on this port of the loopback address. @throws what the connection failed with, or the signal's reason */
export function canConnect(port: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', signal });
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', reject);
  });
}
