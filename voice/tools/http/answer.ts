/** Reads the answer of a server, bounded, and without the secrets that were sent to it. */
import { Readable } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';

import type { EgressResponse } from '../../../platform/egress/egress.ts';
import type { JsonValue } from '../tool-result.ts';
import { isNestedDeeply, parseJson } from './json.ts';
import type { Redaction } from './redaction.ts';

/** Longest answer that reaches the model, in bytes of JSON. */
export const MAX_ANSWER_LENGTH = 64 * 1024;

/** Most bytes of an answer that are read: a little more, for secrets that lie across the limit. */
export const MAX_ANSWER_BYTES = MAX_ANSWER_LENGTH + 8 * 1024;

export type Answer =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: JsonValue }
  /** Text of an answer. `broken`: its content type is JSON, its content isn't. */
  | { readonly kind: 'text'; readonly text: string; readonly cut: boolean; readonly broken: boolean }
  | { readonly kind: 'unreadable'; readonly why: string };

type Received = Pick<EgressResponse, 'body' | 'headers' | 'truncated'>;

const TEXT_TYPE = /^(text\/.*|application\/(.*\+)?(json|xml|yaml|x-yaml|javascript|x-www-form-urlencoded|x-ndjson|graphql))$/;
const JSON_TYPE = /^application\/(.*\+)?json$/;

export async function readAnswer(received: Received, redaction: Redaction): Promise<Answer> {
  const { body, headers } = received;
  if (body.length === 0) return { kind: 'none' };
  const type = single(headers['content-type'])?.split(';')[0]?.trim().toLowerCase() ?? '';
  const coding = single(headers['content-encoding'])?.trim().toLowerCase() ?? '';
  const inflated = await inflate(body, coding, received.truncated);
  if (inflated === undefined) return { kind: 'unreadable', why: `its coding ${JSON.stringify(coding.slice(0, 40))} can't be read` };
  // An answer without a content type is text if it decodes as such.
  if (type !== '' && !TEXT_TYPE.test(type)) return { kind: 'unreadable', why: `it is ${type.slice(0, 80)} and no text` };
  const text = decode(inflated.bytes, /charset="?([^\s";]+)/i.exec(single(headers['content-type']) ?? '')?.[1]);
  if (text === undefined || (type === '' && text.includes('\u0000'))) return { kind: 'unreadable', why: 'it is no text' };
  const value = !inflated.cut && (JSON_TYPE.test(type) || /^\s*[[{]/.test(text)) ? parseJson(text) : undefined;
  // Deeply nested JSON goes on as text: nothing after this could traverse it.
  const usable = value === undefined ? undefined : usableJson(value, redaction);
  if (usable !== undefined) return { kind: 'json', value: usable };
  return { ...shorten(text, redaction, inflated.cut), broken: JSON_TYPE.test(type) && value === undefined && !inflated.cut };
}

/** Returns JSON that the model can be given as it is, without secrets; undefined for JSON that is too large or nested too deeply. */
export function usableJson(value: JsonValue, redaction: Redaction): JsonValue | undefined {
  if (isNestedDeeply(value)) return undefined;
  const masked = redaction.value(value);
  return fits(masked) ? masked : undefined;
}

/** Returns the text of a whole answer, without secrets, cut to the length that the model can be given. */
export function usableText(text: string, redaction: Redaction): { readonly text: string; readonly cut: boolean } {
  const { text: shown, cut } = shorten(text, redaction, false);
  return { text: shown, cut };
}

const fits = (value: JsonValue): boolean => Buffer.byteLength(JSON.stringify(value)) <= MAX_ANSWER_LENGTH + QUOTES;
const QUOTES = 2;

/** Masks, then cuts. An answer that was cut before loses its end, which may be the beginning of a secret. */
function shorten(text: string, redaction: Redaction, incomplete: boolean): { kind: 'text'; text: string; cut: boolean } {
  const whole = redaction.text(text);
  const masked = incomplete ? whole.slice(0, Math.max(0, whole.length - redaction.longest)) : whole;
  if (fits(masked)) return { kind: 'text', text: masked.replace(incomplete ? /\uFFFD{1,3}$/ : '', ''), cut: incomplete };
  let [least, most] = [0, masked.length];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fits(masked.slice(0, middle))) least = middle;
    else most = middle - 1;
  }
  // The cut is never in the middle of a character.
  return { kind: 'text', text: masked.slice(0, least).replace(/[\ud800-\udbff]$/, ''), cut: true };
}

function decode(bytes: Buffer, charset = 'utf-8'): string | undefined {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Inflates a body, and stops at the limit: a few kilobytes of gzip can hold megabytes. Undefined for an unknown coding or damaged data. */
async function inflate(body: Buffer, coding: string, truncated: boolean): Promise<{ bytes: Buffer; cut: boolean } | undefined> {
  if (coding === '' || coding === 'identity') return { bytes: body, cut: truncated };
  const decoder = decoderOf(coding, body);
  if (decoder === undefined) return undefined;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of Readable.from([body]).pipe(decoder) as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= MAX_ANSWER_BYTES) return { bytes: Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES), cut: true };
    }
  } catch {
    return undefined;
  } finally {
    decoder.destroy();
  }
  return { bytes: Buffer.concat(chunks), cut: truncated };
}

function decoderOf(coding: string, body: Buffer) {
  // A truncated answer ends in the middle of a block.
  const lenient = { finishFlush: constants.Z_SYNC_FLUSH };
  if (coding === 'gzip' || coding === 'x-gzip') return createGunzip(lenient);
  if (coding === 'br') return createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH });
  if (coding !== 'deflate') return undefined;
  // RFC 9110 has a zlib header (low half of the first byte: 8); some servers leave it out.
  return ((body[0] ?? 0) & 0x0f) === 8 ? createInflate(lenient) : createInflateRaw(lenient);
}

const single = (value: string | readonly string[] | undefined): string | undefined => (typeof value === 'string' ? value : value?.[0]);
