import { createHash } from 'node:crypto';

import type { Embedder } from '../../../knowledge/embedding/embedder.ts';
import { mulberry } from '../../../platform/mulberry.ts';

/** As many as small multilingual models have. */
export const randomDimension = 384;

/** A direction by chance for each text, always the same one: what a model costs is not what is measured. */
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
