import { createHash } from 'node:crypto';

import type { Embedder } from '../../../knowledge/embedding/embedder.ts';
import { mulberry } from '../../../platform/mulberry.ts';

/** Small multilingual models have as many. */
export const randomDimension = 384;

/** Returns a random direction for each text, always the same one: what a model costs is not measured. */
export const randomEmbedder: Embedder = {
  model: 'random',
  dimension: randomDimension,
  embed: (texts) =>
    Promise.resolve(
      texts.map((text) => {
        const random = mulberry(createHash('sha256').update(text).digest().readInt32LE());
        return Float32Array.from({ length: randomDimension }, () => random() * 2 - 1);
      }),
    ),
  close: () => Promise.resolve(),
};
