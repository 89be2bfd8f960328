import { connect } from 'node:net';

/** Whether a TCP connection to `host:port` (443 where none is given) can be made, within 5 s. */
export function reachable(host: string): Promise<boolean> {
  const { hostname, port } = new URL(`tcp://${host}`);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: port === '' ? 443 : Number(port) });
    const answer = (value: boolean): void => {
      socket.destroy();
      resolve(value);
    };
    socket.setTimeout(5_000, () => answer(false));
    socket.once('connect', () => answer(true));
    socket.once('error', () => answer(false));
  });
}
