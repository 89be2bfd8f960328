/**
 * Runs one model, so that memory and crashes of its runtime stay in this process. The only argument is the model as JSON. Nothing is
 * downloaded: the library may read the folder alone.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The process's argument. */
export interface LocalModel {
  readonly path: string;
  readonly quantized: boolean;
}

export interface LocalRequest {
  readonly id: number;
  readonly texts: readonly string[];
}

export type LocalAnswer =
  | { readonly id: number; readonly vectors: readonly Float32Array[] }
  /** A code and no message of the library, which may quote a text. */
  | { readonly id: number; readonly failure: 'library_missing' | 'model_missing' | 'failed' };

/** The few functions that are used of the library, which is not among our dependencies. */
interface Transformers {
  readonly env: { allowRemoteModels: boolean; allowLocalModels: boolean; localModelPath: string };
  pipeline(
    task: 'feature-extraction',
    model: string,
    options: { readonly dtype: string; readonly local_files_only: true },
  ): Promise<Extractor>;
}

type Extractor = (
  texts: readonly string[],
  options: { readonly pooling: 'mean'; readonly normalize: true },
) => Promise<{ readonly dims: readonly number[]; readonly data: Float32Array }>;

class MissingDependencyError extends Error {
  readonly failure: 'library_missing' | 'model_missing';

  constructor(failure: 'library_missing' | 'model_missing') {
    super(failure);
    this.failure = failure;
  }
}

const model = JSON.parse(process.argv[2] ?? '{}') as LocalModel;
let extractor: Promise<Extractor> | undefined;
let queue: Promise<void> = Promise.resolve();

process.on('message', (request: LocalRequest) => {
  // Requests run one after the other: the runtime uses all cores for one batch already.
  queue = answerAfter(queue, request);
});
process.on('disconnect', () => process.exit(0));

async function answerAfter(before: Promise<void>, request: LocalRequest): Promise<void> {
  await before;
  const answer = await answerTo(request);
  process.send?.(answer);
}

async function answerTo({ id, texts }: LocalRequest): Promise<LocalAnswer> {
  try {
    extractor ??= load(model);
    const { dims, data } = await (await extractor)(texts, { pooling: 'mean', normalize: true });
    const length = dims.at(-1) ?? 0;
    return { id, vectors: texts.map((_, index) => data.slice(index * length, (index + 1) * length)) };
  } catch (error) {
    // The next request may find the model in its place.
    extractor = undefined;
    return { id, failure: error instanceof MissingDependencyError ? error.failure : 'failed' };
  }
}

async function load({ path, quantized }: LocalModel): Promise<Extractor> {
  const folder = resolve(path);
  if (!existsSync(join(folder, 'onnx', quantized ? 'model_quantized.onnx' : 'model.onnx')))
    throw new MissingDependencyError('model_missing');
  const library = await libraryNear(folder);
  library.env.allowRemoteModels = false;
  library.env.allowLocalModels = true;
  library.env.localModelPath = dirname(folder);
  return library.pipeline('feature-extraction', basename(folder), { dtype: quantized ? 'q8' : 'fp32', local_files_only: true });
}

/** Finds the library next to this program, or with the model. */
async function libraryNear(folder: string): Promise<Transformers> {
  const name = '@huggingface/transformers';
  for (const from of [import.meta.url, pathToFileURL(join(folder, 'index.js')), pathToFileURL(join(process.cwd(), 'index.js'))]) {
    let entry: string;
    try {
      entry = createRequire(from).resolve(name);
    } catch {
      continue;
    }
    const loaded = (await import(pathToFileURL(entry).href)) as Transformers & { readonly default?: Transformers };
    return loaded.default ?? loaded;
  }
  throw new MissingDependencyError('library_missing');
}
