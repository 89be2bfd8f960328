/** Undoes `Content-Encoding`, never beyond a limit: ten kilobytes of gzip can hold ten megabytes, and brotli gigabytes. */
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, inflateRaw } from 'node:zlib';

import { EgressError } from './egress-error.ts';

const unzip = { gzip: promisify(gunzip), zlib: promisify(inflate), deflate: promisify(inflateRaw), br: promisify(brotliDecompress) };

/** `Accept-Encoding` of requests whose caller wants bodies inflated. */
export const ACCEPTED_CODINGS = 'gzip, deflate, br';

/** @throws EgressError `too_large`, or `protocol` for a damaged body or another coding */
export async function decodeBody(body: Buffer, coding: string | undefined, options: { maxBytes: number; host: string }): Promise<Buffer> {
  const { host, maxBytes } = options;
  const name = coding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity' || body.length === 0) return body;
  const decode =
    name === 'gzip' || name === 'x-gzip'
      ? unzip.gzip
      : name === 'br'
        ? unzip.br
        : name === 'deflate'
          ? // The standard asks for a zlib header (low half of the first byte: 8); some servers leave it out.
            ((body[0] ?? 0) & 0x0f) === 8
            ? unzip.zlib
            : unzip.deflate
          : undefined;
  const failure = (kind: 'too_large' | 'protocol', message: string, cause?: unknown): EgressError =>
    new EgressError({ kind, phase: 'body', host, message, cause });
  if (decode === undefined)
    throw failure('protocol', `${host} answered in the coding ${JSON.stringify(name)}; supported are ${ACCEPTED_CODINGS}`);
  try {
    return await decode(body, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(host, maxBytes);
    throw failure('protocol', `the ${name} body of ${host} is damaged or cut short`, error);
  }
}

export function tooLarge(host: string, maxBytes: number): EgressError {
  return new EgressError({ kind: 'too_large', phase: 'body', host, message: `the answer of ${host} is longer than ${maxBytes} bytes` });
}
