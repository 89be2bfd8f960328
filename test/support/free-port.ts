import { freePorts } from '../../local-stack/ports.ts';

/** Finds a free port of the loopback address. */
export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  if (port === undefined) throw new Error('no free port');
  return port;
}
