/**
 * The text of an API key: `pk_<8 public>_<40 random>_<6 checksum>`, all of them base62.
 * The public part finds the row, the random part (238 bits) is the secret, and the checksum lets a mistyped or invented key
 * be refused, and a leaked one be recognised by a scanner, without asking the database.
 */
import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PUBLIC_LENGTH = 8;
const SECRET_LENGTH = 40;
const CHECKSUM_LENGTH = 6;

/** Longer random parts parse too, so that they can grow without a new format. */
const SHAPE = /^(pk_([0-9A-Za-z]{8})_[0-9A-Za-z]{32,64})_([0-9A-Za-z]{6})$/;

export interface GeneratedApiKey {
  /** The clear key: shown once, never stored. */
  readonly apiKey: string;
  readonly publicId: string;
  readonly lastFour: string;
  /** SHA-256 of `apiKey`. */
  readonly hash: Buffer;
}

export interface ParsedApiKey {
  readonly publicId: string;
  readonly hash: Buffer;
}

/** @param random gives `size` unpredictable bytes */
export function generateApiKey(random: (size: number) => Buffer = randomBytes): GeneratedApiKey {
  const publicId = base62(PUBLIC_LENGTH, random);
  const head = `pk_${publicId}_${base62(SECRET_LENGTH, random)}`;
  const apiKey = `${head}_${checksumOf(head)}`;
  return { apiKey, publicId, lastFour: apiKey.slice(-4), hash: hashOf(apiKey) };
}

/** @returns undefined for a text that no Parley ever issued: a wrong shape or a wrong checksum */
export function parseApiKey(apiKey: string): ParsedApiKey | undefined {
  const [, head, publicId, checksum] = SHAPE.exec(apiKey) ?? [];
  if (head === undefined || publicId === undefined || checksumOf(head) !== checksum) return undefined;
  return { publicId, hash: hashOf(apiKey) };
}

/**
 * A fast hash is right here: the input is 238 random bits and not a password that a person chose,
 * so that there is nothing to guess that slowness would protect.
 */
function hashOf(apiKey: string): Buffer {
  return createHash('sha256').update(apiKey, 'ascii').digest();
}

/** CRC-32 in base62, padded: 62^6 is more than 2^32. */
function checksumOf(head: string): string {
  let rest = crc32(head);
  let text = '';
  for (let digit = 0; digit < CHECKSUM_LENGTH; digit += 1) {
    text = ALPHABET.charAt(rest % 62) + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}

function base62(length: number, random: (size: number) => Buffer): string {
  let text = '';
  while (text.length < length) {
    for (const byte of random(length)) {
      // 248 is the largest multiple of 62 in a byte: values above it would favour the first letters.
      if (byte < 248 && text.length < length) text += ALPHABET.charAt(byte % 62);
    }
  }
  return text;
}
