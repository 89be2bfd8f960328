/** Encodings with two or four bytes a character, which say nothing of themselves unless they begin with a byte order mark. */

/** UTF-16 without a mark, if the bytes make sense as such in one of the two orders. */
export function decodeUtf16(content: Buffer): string | undefined {
  if (content.length < 4 || content.length % 2 !== 0) return undefined;
  const sample = content.subarray(0, 8192 - (content.length % 2));
  const scored = (['utf-16le', 'utf-16be'] as const).map((encoding) => ({ encoding, score: likeness(sample, encoding) }));
  const best = scored.sort((one, other) => other.score - one.score)[0];
  return best !== undefined && best.score > 0.9 ? new TextDecoder(best.encoding).decode(content) : undefined;
}

/**
 * The share of characters that text consists of, if they also keep together: text stays in one or two blocks of 256 characters, and has
 * spaces, digits or punctuation from the first of them.
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

export function decodeUtf32(content: Buffer, order: 'le' | 'be'): string {
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  const parts: string[] = [];
  for (let at = 0; at + 4 <= content.length; at += 4) {
    const point = view.getUint32(at, order === 'le');
    parts.push(point <= 0x10_ffff ? String.fromCodePoint(point) : '\ufffd');
  }
  return parts.join('');
}
