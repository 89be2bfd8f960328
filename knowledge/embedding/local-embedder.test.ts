import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { testFolder } from '../../test/support/folders.ts';
import { EmbeddingError } from './embedding-error.ts';
import { LocalEmbedder } from './local-embedder.ts';

/**
 * Stands in for the library, which is too large to install for a test: checks how it is called, and makes vectors of a text's length.
 * "crash" ends the process, "throw" fails.
 */
const library = `
export const env = {};
export async function pipeline(task, model, options) {
  if (task !== 'feature-extraction' || model !== 'tiny' || options.dtype !== 'fp32' || env.allowRemoteModels !== false) throw new Error('wrongly called');
  if (process.env.DATABASE_URL !== undefined) throw new Error('the environment has leaked');
  return async (texts, { pooling, normalize }) => {
    if (pooling !== 'mean' || normalize !== true) throw new Error('wrongly called');
    if (texts.some((text) => text.endsWith('crash'))) process.exit(1);
    if (texts.some((text) => text.endsWith('throw'))) throw new Error('about ' + texts[0]);
    if (texts.some((text) => text.endsWith('hang'))) return new Promise(() => setInterval(() => undefined, 1000));
    return { dims: [texts.length, 2], data: Float32Array.from(texts.flatMap((text) => [text.length, 1])) };
  };
}
`;

let folder: string;
let embedder: LocalEmbedder;

function create(dimension = 2): LocalEmbedder {
  return new LocalEmbedder({
    profile: {
      name: 'here',
      provider: 'local',
      model: 'tiny',
      dimension,
      path: join(folder, 'tiny'),
      quantized: false,
      queryPrefix: 'q ',
      passagePrefix: '',
      maxTokens: 512,
    },
  });
}

async function installLibrary(): Promise<void> {
  const place = join(folder, 'tiny/node_modules/@huggingface/transformers');
  await mkdir(place, { recursive: true });
  await writeFile(join(place, 'package.json'), JSON.stringify({ name: '@huggingface/transformers', type: 'module', main: 'index.js' }));
  await writeFile(join(place, 'index.js'), library);
}

async function failure(promise: Promise<unknown>): Promise<EmbeddingError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof EmbeddingError)) throw new Error('it did not fail as it should', { cause: error });
  return error;
}

beforeEach(async () => {
  folder = testFolder();
  await mkdir(join(folder, 'tiny/onnx'), { recursive: true });
  await writeFile(join(folder, 'tiny/onnx/model.onnx'), 'a model');
  embedder = create();
});

afterEach(() => embedder.close());

describe('a model in a process of its own', () => {
  it('makes vectors in the order of the texts, over several batches', async () => {
    await installLibrary();
    const texts = Array.from({ length: 40 }, (_, index) => 'x'.repeat(index));
    expect(await embedder.embed(texts, 'passage')).toEqual(texts.map((text) => Float32Array.of(text.length, 1)));
    expect(await embedder.embed(['abc'], 'query')).toEqual([Float32Array.of(5, 1)]);
  });

  it('says what to do when the library or the model is missing', async () => {
    const missing = await failure(embedder.embed(['text'], 'passage'));
    expect(missing).toMatchObject({ code: 'misconfigured', retryable: false });
    expect(missing.message).toMatch(/"here".*npm install @huggingface\/transformers/);
    await rm(join(folder, 'tiny/onnx'), { recursive: true });
    const noModel = await failure(embedder.embed(['text'], 'passage'));
    expect(noModel.message).toContain(join(folder, 'tiny/onnx/model.onnx'));
  });

  it('survives a model that fails or dies, and never repeats a text', async () => {
    await installLibrary();
    for (const bad of ['throw', 'crash']) {
      const error = await failure(embedder.embed([`confidential ${bad}`], 'passage'));
      expect(error).toMatchObject({ code: 'unavailable', retryable: true });
      expect(error.message).not.toContain('confidential');
      expect(await embedder.embed(['fine'], 'passage')).toEqual([Float32Array.of(4, 1)]);
    }
  });

  it('refuses vectors of another length than the profile says', async () => {
    await installLibrary();
    await embedder.close();
    embedder = create(3);
    expect(await failure(embedder.embed(['text'], 'passage'))).toMatchObject({ code: 'wrong_dimension', retryable: false });
  });

  it('is no longer waited for once the caller gives up', async () => {
    await installLibrary();
    await embedder.embed(['warm'], 'passage');
    const controller = new AbortController();
    const pending = embedder.embed(['hang'], 'passage', { signal: controller.signal });
    controller.abort(new Error('not needed any more'));
    await expect(pending).rejects.toThrow('not needed any more');
  });
});
