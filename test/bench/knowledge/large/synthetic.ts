/** Makes the same chunks of a large knowledge base in every run: words as rare as in a language, vectors in clusters, three fields. */
import { mulberry } from '../../../../platform/mulberry.ts';
import { termsOf } from '../../../../knowledge/lexical/terms.ts';
import { documentVector, type SparseVector } from '../../../../knowledge/lexical/vectors.ts';
import { wordsInChunk } from '../fill.ts';
import { nameOf, zipf } from '../texts.ts';

/** Distinct words of a million chunks. */
export const VOCABULARY = 400_000;
/** Values of the fields of a chunk's metadata: a filter leaves a tenth, a hundredth or a thousandth. */
export const FIELDS = { tenth: 10, hundredth: 100, thousandth: 1_000 } as const;
export type SyntheticField = keyof typeof FIELDS;

/** Chunks of one subject; subjects of one theme. */
const IN_SUBJECT = 50;
const IN_THEME = 20;
/** How far a subject is from its theme, and a chunk from its subject, where a theme has length 1. */
const SUBJECT_SPREAD = 0.8;
const CHUNK_SPREAD = 0.6;

const terms = new Map<number, readonly string[]>();

/** Returns the words of a chunk, by its number. */
export function wordsOf(number: number): SparseVector {
  const random = mulberry(number + 1);
  const found: string[] = [];
  for (let count = 0; count < wordsInChunk; count += 1) {
    const rank = zipf(random(), VOCABULARY);
    let ofWord = terms.get(rank);
    if (ofWord === undefined) terms.set(rank, (ofWord = termsOf(nameOf(rank), 'en')));
    found.push(...ofWord);
  }
  return documentVector({ words: found, more: [], inQuestions: new Set() });
}

/** Returns the subject of a chunk: neighbours in number have different ones, as in a knowledge base of many documents. */
const subjectOf = (number: number, chunks: number): number => number % Math.max(1, Math.ceil(chunks / IN_SUBJECT));

/** Returns the direction of a chunk; of a question about the same subject where `asked` is given. */
export function vectorOf(number: number, chunks: number, dimension: number, asked = 0): Float32Array {
  const vector = direction(number + 1 + asked * 2_000_000_000, dimension).map((value) => CHUNK_SPREAD * value);
  return add(vector, middleOf(subjectOf(number, chunks), dimension));
}

const middles = new Map<string, Float32Array>();

/** Returns the middle of a subject's chunks. */
function middleOf(subject: number, dimension: number): Float32Array {
  const key = `${subject}/${dimension}`;
  let middle = middles.get(key);
  if (middle === undefined) {
    const off = direction(1_000_000_000 + subject, dimension).map((value) => SUBJECT_SPREAD * value);
    middles.set(key, (middle = add(off, direction(-1 - Math.floor(subject / IN_THEME), dimension))));
  }
  return middle;
}

export function metadataOf(number: number): Readonly<Record<SyntheticField, string>> {
  // Values don't depend on the subject: a filter then leaves some of each.
  const random = mulberry(-number - 1);
  const value = (field: SyntheticField): string => `${field}-${Math.floor(random() * FIELDS[field])}`;
  return { tenth: value('tenth'), hundredth: value('hundredth'), thousandth: value('thousandth') };
}

/** Returns a random direction of length 1. */
function direction(seed: number, dimension: number): Float32Array {
  const random = mulberry(seed);
  const vector = new Float32Array(dimension);
  let square = 0;
  for (let index = 0; index < dimension; index += 1) {
    // A sum of uniform numbers is near enough to a normal one.
    const value = random() + random() + random() - 1.5;
    vector[index] = value;
    square += value * value;
  }
  const length = Math.sqrt(square);
  return vector.map((value) => value / length);
}

function add(to: Float32Array, other: Float32Array): Float32Array {
  for (let index = 0; index < to.length; index += 1) to[index] = (to[index] ?? 0) + (other[index] ?? 0);
  return to;
}
