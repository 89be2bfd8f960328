/**
 * Keeps large bodies from holding up other requests. Reading one takes some tens of milliseconds in which nothing else runs. So bodies that
 * would take longer are refused, and those that come at the same moment take turns, with everything else that waits in between.
 */
import type { FastifyInstance } from 'fastify';

import { nextTurn } from '../../platform/pacer.ts';
import { ApiError } from './api-error.ts';

/** Bodies of fewer bytes are read at once. */
const LARGE = 16 * 1024;

/** Most values (texts, numbers, lists, objects …) in one body. An agent with 64 tools of 30 parameters each has half as many. */
export const MAX_VALUES = 20_000;

/** Registers the hook; comes after the hooks that give a request its state. */
export function registerLargeBodies(app: FastifyInstance): void {
  app.addHook('preValidation', async ({ body }) => {
    if (!(body instanceof Uint8Array) || body.length < LARGE) return;
    await nextTurn();
    if (!hasMoreValues(body, MAX_VALUES)) return;
    throw new ApiError(
      'payload_too_large',
      `the request body holds more than ${MAX_VALUES} values: send fewer fields and list items at once`,
    );
  });
}

const [quote, backslash, comma, openBracket, openBrace] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];

/** Bytes of a text that are read one by one; the rest of a longer text is skipped at once. */
const SHORT_TEXT = 64;

/** Returns, in one pass that builds nothing, whether JSON has more than `most` values; all but one follow a comma or bracket. */
export function hasMoreValues(json: Uint8Array, most: number): boolean {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.length);
  let values = 1;
  for (let at = 0; at < bytes.length && values <= most; at += 1) {
    const byte = bytes[at];
    if (byte === quote) at = endOfText(bytes, at + 1);
    else if (byte === comma || byte === openBracket || byte === openBrace) values += 1;
  }
  return values > most;
}

/** Returns the index of the quote that ends the text. */
function endOfText(json: Buffer, from: number): number {
  for (let at = from; at < json.length;) {
    for (const near = at + SHORT_TEXT; at < near; at += json[at] === backslash ? 2 : 1)
      if (at >= json.length || json[at] === quote) return at;
    const end = json.indexOf(quote, at);
    if (end === -1) break;
    let before = end;
    while (before > at && json[before - 1] === backslash) before -= 1;
    if ((end - before) % 2 === 0) return end;
    at = end + 1;
  }
  return json.length;
}
