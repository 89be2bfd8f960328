import { connect } from 'node:net';

import { systemClock } from '../../platform/clock.ts';

/** Tells whether a TCP connection to `host:port` (443 where none is given) can be made, within 5 s. */
export function reachable(host: string): Promise<boolean> {
  const { hostname, port } = new URL(`tcp://${host}`);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: port === '' ? 443 : Number(port) });
    // Uses no timeout of the socket: after a pause of this process it would pass over a connection that is there.
    const late = systemClock.after(5_000, () => answer(false));
    const answer = (value: boolean): void => {
      late.cancel();
      socket.destroy();
      resolve(value);
    };
    socket.once('connect', () => answer(true));
    socket.once('error', () => answer(false));
  });
}
