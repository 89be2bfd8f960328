import { analyse } from 'chardet';

import { IngestionError } from '../../ingestion-failure.ts';

/** Bytes from which the encoding is guessed; a page of text is enough, and the guess takes longer than reading. */
const SAMPLE_BYTES = 64_000;
/** Share of the characters beyond ASCII that may be broken in UTF-8; where the text is in another encoding, two thirds and more are. */
const MOST_BROKEN = 0.25;

/**
 * Decodes a text file of undeclared encoding: by byte order mark, as UTF-8 with at most a few broken characters, as UTF-16
 * without a mark, else the likeliest of the older encodings (windows-125x, ISO 8859, GB18030, Big5, Shift_JIS, EUC-JP, EUC-KR, KOI8).
 *
 * @param named an encoding that the sender names, tried before any guess; text that is UTF-8 beyond doubt is read as such
 * @throws IngestionError `unsupported_content` when the content is no text
 */
export function decodeText(content: Buffer, named?: string): string {
  const text =
    byMark(content) ??
    (named === undefined ? undefined : (multibyteUtf8(content, named) ?? decoded(content, named))) ??
    // NULs are no error in UTF-8, but they are in text.
    (content.includes(0) ? decodeUtf16(content) : undefined) ??
    decoded(content, 'utf-8') ??
    brokenUtf8(content) ??
    decodeUtf16(content) ??
    guessed(content);
  if (text === undefined || controlShare(text) > 0.01)
    throw new IngestionError(
      'unsupported_content',
      'The content is no text, or is in an encoding that is not understood. Save it as UTF-8 text.',
    );
  return text;
}

/** Reads byte order marks, UTF-32 first: its little-endian mark begins with that of UTF-16. */
function byMark(content: Buffer): string | undefined {
  const starts = (...bytes: readonly number[]): boolean => bytes.every((byte, at) => content[at] === byte);
  if (starts(0xff, 0xfe, 0, 0)) return decodeUtf32(content.subarray(4), 'le');
  if (starts(0, 0, 0xfe, 0xff)) return decodeUtf32(content.subarray(4), 'be');
  if (starts(0xff, 0xfe)) return new TextDecoder('utf-16le').decode(content);
  if (starts(0xfe, 0xff)) return new TextDecoder('utf-16be').decode(content);
  // The mark proves UTF-8; a few broken characters in a long file don't make it something else.
  return starts(0xef, 0xbb, 0xbf) ? new TextDecoder('utf-8').decode(content) : undefined;
}

function decoded(content: Buffer, encoding: string): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(content);
  } catch {
    return undefined;
  }
}

/** Encodings with one byte for each character. Text in them is hardly ever valid UTF-8 beyond ASCII. */
const SINGLE_BYTE = /^(?:iso-?8859|latin|l1$|windows-|cp125|x?-?mac|macintosh|koi8|us-ascii|ascii|tis-620|ibm866)/iu;

/** Decodes UTF-8 that a server calls Latin-1 by default. */
function multibyteUtf8(content: Buffer, named: string): string | undefined {
  if (!SINGLE_BYTE.test(named)) return undefined;
  const text = decoded(content, 'utf-8');
  return text !== undefined && text.length < content.length ? text : undefined;
}

/** Decodes UTF-8 in which few of the characters beyond ASCII are broken. */
function brokenUtf8(content: Buffer): string | undefined {
  // The stream mode leaves out a character that the end cuts off.
  const text = new TextDecoder('utf-8').decode(content, { stream: true });
  let beyondAscii = 0;
  let broken = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit > 0x7f) beyondAscii += 1;
    if (unit === 0xfffd) broken += 1;
  }
  return broken < beyondAscii * MOST_BROKEN ? text : undefined;
}

function guessed(content: Buffer): string | undefined {
  // Text in these encodings has no NUL.
  if (content.includes(0)) return undefined;
  const candidates = analyse(content.subarray(0, SAMPLE_BYTES))
    .map(({ name, confidence }) => ({ confidence: confidence * prior(name), text: decoded(content, whatwgName(name)) }))
    .filter((candidate): candidate is { confidence: number; text: string } => candidate.text !== undefined);
  const best = candidates.map(({ confidence, text }) => ({ text, score: confidence * plausibility(text.slice(0, 20_000)) }));
  best.sort((one, other) => other.score - one.score);
  return best[0]?.text ?? decoded(content, 'windows-1252');
}

/** Returns the name that `TextDecoder` uses; every browser reads ISO-8859-1 as windows-1252. */
function whatwgName(name: string): string {
  return name === 'ISO-2022-JP' ? 'iso-2022-jp' : name.toLowerCase();
}

/**
 * Returns the prior of an encoding. A sentence or two with a handful of accents looks much the same in all the Latin encodings, and the
 * statistics of letters would decide by chance: the most usual encoding gets the benefit of the doubt.
 */
function prior(name: string): number {
  return name === 'windows-1252' || name === 'ISO-8859-1' ? 1.4 : 1;
}

/**
 * Scores a decoded text, because short texts fit several encodings: rare characters, controls, signs in the middle of a word and changes of
 * script inside one speak against an encoding.
 */
function plausibility(text: string): number {
  const characters = text.match(/[^\s\x20-\x7e]/gu) ?? [];
  if (characters.length === 0) return 1;
  const odd = text.match(/[\p{Cc}\p{Co}\p{Cn}\ufffd\uff61-\uff9f]/gu)?.filter((character) => !/\s/u.test(character)).length ?? 0;
  const mixed =
    text.match(/(?:[a-z][A-Z\u00c0-\u00de][a-z]|\p{Script=Latin}[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Hebrew}\p{Script=Arabic}])/gu)
      ?.length ?? 0;
  const signs = text.match(/(?<=\p{L})[¡-©«-±²³´¶¸¹»-¿×÷](?=\p{L})|(?<=\s)[¨¯³¸¹¾]\p{L}/gu)?.length ?? 0;
  return Math.max(0.01, 1 - (3 * (odd + mixed + signs)) / characters.length);
}

function controlShare(text: string): number {
  const sample = text.slice(0, 200_000);
  // eslint-disable-next-line no-control-regex
  return sample.length === 0 ? 0 : (sample.match(/[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f]/gu)?.length ?? 0) / sample.length;
}

/** Decodes UTF-16 without a mark, if the bytes make sense as such in one of the two orders. */
function decodeUtf16(content: Buffer): string | undefined {
  if (content.length < 4 || content.length % 2 !== 0) return undefined;
  const sample = content.subarray(0, 8192 - (content.length % 2));
  const scored = (['utf-16le', 'utf-16be'] as const).map((encoding) => ({ encoding, score: likeness(sample, encoding) }));
  const best = scored.sort((one, other) => other.score - one.score)[0];
  return best !== undefined && best.score > 0.9 ? new TextDecoder(best.encoding).decode(content) : undefined;
}

/**
 * Returns the share of characters that text consists of, if they also keep together: text stays in one or two blocks of 256 characters, and
 * has spaces, digits or punctuation from the first of them.
 */
function likeness(sample: Buffer, encoding: string): number {
  const text = new TextDecoder(encoding).decode(sample);
  const good = text.match(/[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}\r\n\t\u200c\u200d]/gu)?.length ?? 0;
  const ascii = text.match(/[\t\r\n\x20-\x7e\u3000-\u3002\uff0c]/gu)?.length ?? 0;
  const blocks = new Map<number, number>();
  for (const character of text) {
    const block = (character.codePointAt(0) ?? 0) >> 8;
    // The CJK characters are spread over many blocks, in real text too.
    const family = block >= 0x4e && block <= 0x9f ? 0x4e : block;
    blocks.set(family, (blocks.get(family) ?? 0) + 1);
  }
  const commonest = [...blocks.values()].sort((one, other) => other - one).slice(0, 3);
  const together = commonest.reduce((sum, count) => sum + count, 0) / text.length;
  return ascii / text.length < 0.02 || together < 0.9 ? 0 : good / text.length;
}

function decodeUtf32(content: Buffer, order: 'le' | 'be'): string {
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  const parts: string[] = [];
  for (let at = 0; at + 4 <= content.length; at += 4) {
    const point = view.getUint32(at, order === 'le');
    parts.push(point <= 0x10_ffff ? String.fromCodePoint(point) : '\ufffd');
  }
  return parts.join('');
}
