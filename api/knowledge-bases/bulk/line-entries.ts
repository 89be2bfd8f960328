/** Reads the entries of a body of JSON lines (`application/x-ndjson`). */
import { z } from 'zod';

import { hasMoreValues } from '../../http/large-bodies.ts';
import { idempotencyKey } from '../../validation/idempotency-key.ts';
import type { ValidationIssue } from '../../validation/issue.ts';
import { unknownFields } from '../../validation/unknown-fields.ts';
import { validate } from '../../validation/validate.ts';
import { unknownFieldWarnings } from '../../validation/warning.ts';
import { readMetadata } from '../metadata.ts';
import { documentMetadata, MAX_FILE_BYTES } from '../schema.ts';
import { EntryError, requireFileName, tooLargeFile, type BulkEntry, type SoundEntry } from './entry.ts';
import { MAX_BODY_BYTES, MAX_ENTRIES, MAX_LINE_BYTES, MAX_LINE_VALUES, MAX_UNREADABLE_IN_A_ROW } from './limits.ts';
import { readLines, type BodyLine } from './read-lines.ts';

const MOST_WARNINGS = 10;

export const entryKey = idempotencyKey
  .nullish()
  .describe(
    'What you call this entry in this knowledge base: sent again with the same key, it is stored once, whatever its content. Its content (SHA-256) where absent.',
  );

export const entryMetadata = documentMetadata.nullish().describe('What a search can filter by: at most 8 KiB and 256 fields.');

export const bulkEntry = z
  .object({
    name: z.string().describe('Name of the file, with its extension and without a path.'),
    content: z.string().nullish().describe('The file as text, which is stored in UTF-8; either this or `content_base64`.'),
    content_base64: z
      .string()
      .nullish()
      .meta({ contentEncoding: 'base64' })
      .describe('The bytes of the file in Base64 (RFC 4648, section 4).'),
    metadata: entryMetadata,
    idempotency_key: entryKey,
  })
  .meta({ id: 'BulkDocument' });

/** Yields entries; one that says so is the last after too many entries, bytes or unreadable lines. @throws the body's error */
export async function* lineEntries(body: AsyncIterable<Uint8Array>): AsyncGenerator<BulkEntry> {
  let index = 0;
  let unreadable = 0;
  const limited = new LimitedBody(body);
  for await (const line of readLines(limited.chunks(), { maxBytes: MAX_LINE_BYTES })) {
    // The last line was cut off in the middle, and is none.
    if (limited.isOver) break;
    if (index === MAX_ENTRIES) {
      yield overLimit(index, `one request takes ${MAX_ENTRIES} entries`);
      return;
    }
    if (unreadable === MAX_UNREADABLE_IN_A_ROW) {
      yield {
        index,
        name: null,
        failure: {
          code: 'bad_request',
          message: `the ${unreadable} lines before this one can't be used: correct them, and send them, this one and all after it again`,
        },
      };
      return;
    }
    const entry = toBulkEntry(line, index);
    // An unsupported type doesn't count: a folder may well have a hundred pictures between its documents.
    unreadable = 'failure' in entry && entry.failure.code !== 'unsupported_media_type' ? unreadable + 1 : 0;
    yield entry;
    index += 1;
  }
  if (limited.isOver) yield overLimit(index, `one request takes ${MAX_BODY_BYTES / 1024 / 1024} MB`);
}

class LimitedBody {
  readonly #body: AsyncIterable<Uint8Array>;
  isOver = false;

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#body = body;
  }

  async *chunks(): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    for await (const chunk of this.#body) {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) {
        this.isOver = true;
        return;
      }
      yield chunk;
    }
  }
}

function overLimit(index: number, limit: string): BulkEntry {
  return {
    index,
    name: null,
    failure: { code: 'payload_too_large', message: `${limit}: send this entry and all after it in another one` },
  };
}

export function toBulkEntry(line: BodyLine, index: number): BulkEntry {
  let name: string | null = null;
  try {
    if ('tooLong' in line)
      throw new EntryError({
        code: 'payload_too_large',
        message: `a line may have ${MAX_LINE_BYTES / 1024 / 1024} MB: send larger files in a zip archive, or each by itself`,
      });
    const value = parse(line.bytes);
    name = sentName(value);
    const file = toSoundEntry(value);
    // This comes after the checks that refuse a line: looking for similar names takes longer than they do.
    const warnings = unknownFieldWarnings(unknownFields(bulkEntry, value, [], MOST_WARNINGS), MOST_WARNINGS);
    return { index, name, ...(warnings.length > 0 && { warnings }), file };
  } catch (error) {
    if (!(error instanceof EntryError)) throw error;
    return { index, name, failure: error.failure };
  }
}

/** @throws EntryError for too many values, and for a line that is no UTF-8 or no JSON */
export function parse(line: Buffer): unknown {
  if (hasMoreValues(line, MAX_LINE_VALUES))
    throw new EntryError({ code: 'payload_too_large', message: `the line holds more than ${MAX_LINE_VALUES} values` });
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(line);
  } catch {
    throw new EntryError({ code: 'bad_request', message: 'the line is not UTF-8' });
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new EntryError({ code: 'bad_request', message: 'the line is not JSON: send one object a line' });
  }
}

function sentName(value: unknown): string | null {
  const { name } = (value ?? {}) as { readonly name?: unknown };
  return typeof name === 'string' ? Array.from(name.slice(0, 510).toWellFormed()).slice(0, 255).join('') : null;
}

function toSoundEntry(value: unknown): SoundEntry {
  const read = validate(bulkEntry, value, []);
  if (!read.ok) throw asEntryError(read.issues);
  const { name, content, content_base64: base64, metadata, idempotency_key: key } = read.value;
  return {
    ...requireFileName(name),
    content: decodeContent(content, base64),
    metadata: metadataOf(metadata),
    idempotencyKey: key ?? undefined,
  };
}

/** @throws EntryError for metadata that can't be used */
export function metadataOf(sent: Readonly<Record<string, unknown>> | null | undefined): SoundEntry['metadata'] {
  const read = readMetadata({ json: sent ?? {} });
  if (!read.ok) throw new EntryError({ code: 'bad_request', message: `metadata: ${read.issue.msg}` });
  return read.metadata;
}

export function asEntryError(found: readonly ValidationIssue[]): EntryError {
  const message = found
    .slice(0, 5)
    .map(({ loc, msg }) => (loc.length === 0 ? msg : `${loc.join('.')}: ${msg}`))
    .join('; ');
  return new EntryError({ code: 'bad_request', message });
}

function decodeContent(text: string | null | undefined, base64: string | null | undefined): Buffer {
  if ((text ?? undefined) !== undefined && (base64 ?? undefined) !== undefined)
    throw new EntryError({ code: 'bad_request', message: 'send either content or content_base64, not both' });
  const content = typeof text === 'string' ? textContent(text) : decoded(base64);
  if (content.length > MAX_FILE_BYTES) throw tooLargeFile();
  return content;
}

function textContent(text: string): Buffer {
  if (!text.isWellFormed())
    throw new EntryError({ code: 'bad_request', message: 'content: half a character (a lone surrogate) is no text' });
  return Buffer.from(text);
}

function decoded(base64: string | null | undefined): Buffer {
  if (typeof base64 !== 'string') throw new EntryError({ code: 'bad_request', message: 'content: send content, or content_base64' });
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64))
    throw new EntryError({ code: 'bad_request', message: 'content_base64: this is no Base64 as of RFC 4648, section 4' });
  return Buffer.from(base64, 'base64');
}
