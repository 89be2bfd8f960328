/** Parses and checks the answer of an embedding server: a wrong vector would never be noticed again. */
import { z } from 'zod';

import { parseJson } from '../../platform/json.ts';
import { reportedUseOf, type ReportedUse } from '../model-use.ts';
import { EmbeddingError } from './embedding-error.ts';

const answer = z.object({
  data: z.array(
    z.object({
      index: z.int().min(0).optional(),
      /** Servers that ignore the requested format send Base64 of little-endian 32-bit floats. */
      embedding: z.union([z.array(z.number()), z.string()]),
    }),
  ),
});

export interface Expected {
  readonly count: number;
  readonly dimension: number;
}

export interface Embeddings {
  /** Vectors in the order of the texts. */
  readonly vectors: readonly Float32Array[];
  readonly reported: ReportedUse;
}

/**
 * @throws EmbeddingError `invalid_response`, which another attempt may cure, or `wrong_dimension`, which none will
 */
export function embeddingsOf(body: string, { count, dimension }: Expected): Embeddings {
  const { data, reported } = parse(body);
  if (data.length !== count) throw invalid(`there are ${data.length} for ${count} texts`);
  const indexed = data.filter(({ index }) => index !== undefined).length;
  if (indexed !== 0 && indexed !== count) throw invalid('only some of them say which text they belong to');
  const vectors: (Float32Array | undefined)[] = Array.from({ length: count });
  for (const [position, { index = position, embedding }] of data.entries()) {
    if (index >= count || vectors[index] !== undefined) throw invalid('some belong to no text, or two to the same');
    vectors[index] = vectorOf(embedding, dimension);
  }
  return { vectors: vectors.filter((vector) => vector !== undefined), reported };
}

function parse(body: string): z.output<typeof answer> & Pick<Embeddings, 'reported'> {
  const value = parseJson(body);
  if (value === undefined) throw invalid('the answer is not JSON, or broke off');
  const result = answer.safeParse(value);
  if (!result.success)
    throw invalid(`the answer has not the form of an embedding response (at ${result.error.issues[0]?.path.join('.') ?? ''})`);
  return { ...result.data, reported: reportedUseOf(value) };
}

function vectorOf(embedding: readonly number[] | string, dimension: number): Float32Array {
  return checkedVector(typeof embedding === 'string' ? fromBase64(embedding) : Float32Array.from(embedding), dimension);
}

/**
 * Returns the vector itself, if it can be compared with others.
 * @throws EmbeddingError `wrong_dimension` or `invalid_response`
 */
export function checkedVector(vector: Float32Array, dimension: number): Float32Array {
  if (vector.length !== dimension)
    throw new EmbeddingError(
      'wrong_dimension',
      `The model gives vectors of ${vector.length} dimensions, but the profile says ${dimension}: correct the profile's model or dimension.`,
    );
  let norm = 0;
  for (const value of vector) norm += value * value;
  if (!Number.isFinite(norm)) throw invalid('a vector has values that are no numbers, or too large');
  if (norm === 0) throw invalid('a vector has nothing but zeros');
  return vector;
}

function fromBase64(text: string): Float32Array {
  const bytes = Buffer.from(text, 'base64');
  if (bytes.length === 0 || bytes.length % 4 !== 0) throw invalid('a vector is neither a list of numbers nor Base64 of 32-bit floats');
  return Float32Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
}

function invalid(what: string): EmbeddingError {
  return new EmbeddingError('invalid_response', `The vectors can't be used: ${what}.`);
}
