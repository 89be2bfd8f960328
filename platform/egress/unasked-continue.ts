/**
 * Hides the `100 Continue` that servers may send although the request did not ask for it (RFC 9110, 15.2), and some do. The HTTP client
 * takes it for an attack but skips other interim answers: so this replaces it with one of those.
 */
import type { Socket } from 'node:net';

const INTERIM = /^HTTP\/1\.[01] 1\d\d$/;
const UNASKED = '100';
const statusAt = 'HTTP/1.1 '.length;
const headEnd = Buffer.from('\r\n\r\n');

/** @param onBytes called for each chunk; returns whether it begins an answer, or goes on with what comes before it */
export function skipUnaskedContinue(socket: Socket, onBytes: () => boolean): void {
  const read = socket.read.bind(socket);
  socket.read = (size?: number): unknown => {
    const chunk: unknown = read(size);
    if (Buffer.isBuffer(chunk) && onBytes()) disguise(chunk);
    return chunk;
  };
}

/** Replaces each `100 Continue` among the interim answers at the start of the chunk by `102 Processing`. */
function disguise(chunk: Buffer): void {
  for (let at = 0; ;) {
    const statusEnd = at + statusAt + UNASKED.length;
    const line = chunk.toString('latin1', at, statusEnd);
    if (!INTERIM.test(line)) return;
    if (line.endsWith(UNASKED)) chunk.write('2', statusEnd - 1, 'latin1');
    const end = chunk.indexOf(headEnd, at);
    if (end < 0) return;
    at = end + headEnd.length;
  }
}
