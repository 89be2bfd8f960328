/** Maps a term to its dimension in a sparse vector. Dimensions are stored: after a change here all documents must be indexed again. */

/** pgvector's sparsevec takes indices up to 10⁹; one less keeps the hash's range clear of both its ends. */
export const DIMENSIONS = 999_999_999;

const C1 = 0xcc9e2d51;
const C2 = 0x1b873593;

/**
 * Hashes the term's UTF-16 code units as little-endian bytes by MurmurHash3 (x86, 32 bits, seed 0), modulo 999,999,999, plus 1. Two terms
 * of a hundred thousand meet in one dimension about five times; they then count as one term.
 */
export function dimensionOf(term: string): number {
  const length = term.length;
  let hash = 0;
  let index = 0;
  for (; index + 1 < length; index += 2) {
    hash ^= scramble(term.charCodeAt(index) | (term.charCodeAt(index + 1) << 16));
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  if (index < length) hash ^= scramble(term.charCodeAt(index));
  hash ^= length * 2;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (((hash ^ (hash >>> 16)) >>> 0) % DIMENSIONS) + 1;
}

function scramble(block: number): number {
  const mixed = Math.imul(block, C1);
  return Math.imul((mixed << 15) | (mixed >>> 17), C2);
}
