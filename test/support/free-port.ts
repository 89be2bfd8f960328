import { freePorts } from '../../local-stack/ports.ts';

/** A port of the loopback address that nobody listens on. */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  if (port === undefined) throw new Error('no free port');
  return port;
}
