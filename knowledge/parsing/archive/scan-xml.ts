import { IngestionError } from '../../ingestion-failure.ts';
import { NESTING_LIMIT } from '../limits.ts';

/** The cost of reading an XML part, counted without reading it. */
export interface XmlCounts {
  /** Depth of elements inside one another. */
  readonly depth: number;
  /** Depth of tables inside one another. */
  readonly tableDepth: number;
  /** Numbers of elements by their local name: paragraphs `p`, cells of documents `tc`, cells of sheets `c`. */
  readonly p: number;
  readonly tc: number;
  readonly c: number;
}

const LT = 0x3c;
const GT = 0x3e;
const SLASH = 0x2f;
const COLON = 0x3a;
const QUOTE = 0x22;
const APOSTROPHE = 0x27;

/**
 * Counts in one pass over the bytes.
 * @throws IngestionError `corrupt_file` for a document type declaration: Office files have none, and all it could do is harm
 */
export function scanXml(part: Buffer): XmlCounts {
  let depth = 0;
  let deepest = 0;
  let tables = 0;
  let deepestTable = 0;
  const count = { p: 0, tc: 0, c: 0 };
  for (let at = part.indexOf(LT); at >= 0; at = part.indexOf(LT, at)) {
    const next = part[at + 1];
    if (next === 0x21 || next === 0x3f) {
      at = afterSpecial(part, at);
      continue;
    }
    const closing = next === SLASH;
    const { end, name } = readTag(part, closing ? at + 2 : at + 1);
    const selfClosing = part[end - 2] === SLASH;
    if (!closing && (name === 'p' || name === 'tc' || name === 'c')) count[name] += 1;
    if (name === 'tbl' && !selfClosing) {
      tables += closing ? -1 : 1;
      deepestTable = Math.max(deepestTable, tables);
    }
    if (closing) depth -= 1;
    else if (!selfClosing) deepest = Math.max(deepest, (depth += 1));
    at = end;
  }
  return { depth: deepest, tableDepth: deepestTable, ...count };
}

export function nestedTooDeep(depth: number, limit: number = NESTING_LIMIT, what = 'elements'): void {
  if (depth > limit)
    throw new IngestionError(
      'too_large',
      `The document has ${what} nested ${depth} deep; the limit is ${limit}. Simplify its structure, and upload it again.`,
    );
}

/** Skips comments, CDATA and processing instructions. */
function afterSpecial(part: Buffer, at: number): number {
  const opens = (text: string): boolean => part.toString('latin1', at, at + text.length) === text;
  if (opens('<!DOCTYPE'))
    throw new IngestionError(
      'corrupt_file',
      'The document holds a document type declaration, which Office files never have. Save it again where it was made.',
    );
  const [from, close] = opens('<!--') ? [at + 4, '-->'] : opens('<![CDATA[') ? [at + 9, ']]>'] : [at + 2, '>'];
  const end = part.indexOf(close, from, 'latin1');
  return end < 0 ? part.length : end + close.length;
}

/** Reads the local name, if it is short enough to be one that counts, and where the tag ends. A `>` inside quotes is no end. */
function readTag(part: Buffer, from: number): { readonly end: number; readonly name: string } {
  let nameFrom = from;
  let at = from;
  for (; at < part.length; at += 1) {
    const byte = part[at] ?? 0;
    if (byte === COLON) nameFrom = at + 1;
    else if (byte <= 0x20 || byte === GT || byte === SLASH) break;
  }
  const name = at - nameFrom <= 3 ? part.toString('latin1', nameFrom, at) : '';
  let quote = 0;
  for (; at < part.length; at += 1) {
    const byte = part[at];
    if (quote !== 0) {
      if (byte === quote) quote = 0;
    } else if (byte === GT) {
      return { end: at + 1, name };
    } else if (byte === QUOTE || byte === APOSTROPHE) {
      quote = byte;
    }
  }
  return { end: part.length, name };
}
