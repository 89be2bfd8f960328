/** Resamples, trims and makes sounds of one channel with 16 bits. */

/** Resamples by straight lines between the samples, smoothed before as far as the new rate needs it. Good enough to be understood. */
export function resample(samples: Int16Array, from: number, to: number): Int16Array {
  if (from === to) return samples;
  const source = to < from ? smooth(samples, from / to) : samples;
  const result = new Int16Array(Math.floor((samples.length * to) / from));
  for (let index = 0; index < result.length; index += 1) {
    const at = (index * from) / to;
    const before = Math.floor(at);
    const left = source[before] ?? 0;
    const right = source[before + 1] ?? left;
    result[index] = Math.round(left + (right - left) * (at - before));
  }
  return result;
}

function smooth(samples: Int16Array, width: number): Int16Array {
  const reach = Math.floor(width / 2);
  if (reach < 1) return samples;
  return samples.map((_, index) => {
    let sum = 0;
    for (let at = index - reach; at <= index + reach; at += 1) sum += samples[at] ?? 0;
    return Math.round(sum / (2 * reach + 1));
  });
}

/** Samples below this level, of 32,768, count as silence. */
const FLOOR = 300;

/** Cuts the silence before and after; empty for silence. */
export function trimmed(samples: Int16Array): Int16Array {
  const first = samples.findIndex(isLoud);
  return first < 0 ? samples.subarray(0, 0) : samples.subarray(first, samples.findLastIndex(isLoud) + 1);
}

const isLoud = (sample: number): boolean => sample > FLOOR || sample < -FLOOR;

/** Returns a melody in place of speech: one tone for each word, as long as the word is. */
export function melody(text: string, sampleRate: number): Int16Array {
  const words = text.split(/\s+/).filter((word) => word !== '');
  const parts = words.map((word) => {
    const length = Math.round(((60 + 50 * Math.min(12, word.length)) / 1000) * sampleRate);
    const step = (2 * Math.PI * (220 + (hash(word) % 16) * 30)) / sampleRate;
    // Each tone swells and fades, so that it doesn't click.
    return Int16Array.from({ length }, (_, index) => Math.round(Math.sin(index * step) * Math.sin((Math.PI * index) / length) * 8_000));
  });
  const result = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    result.set(part, at);
    at += part.length;
  }
  return result;
}

/** Computes FNV-1a. */
export function hash(text: string): number {
  let value = 2166136261;
  for (const character of text) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 16777619) >>> 0;
  return value;
}
