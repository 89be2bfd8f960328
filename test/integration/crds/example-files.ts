import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { parseAllDocuments } from 'yaml';

import type { Manifest } from '../../support/builders.ts';

export const examplesFolder = join(import.meta.dirname, '../../../examples');

/** Every object of `examples/`, in the order of the files. */
export async function readExamples(): Promise<readonly Manifest[]> {
  const files = (await readdir(examplesFolder)).filter((file) => file.endsWith('.yaml')).toSorted();
  const texts = await Promise.all(files.map((file) => readFile(join(examplesFolder, file), 'utf8')));
  return texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Manifest));
}
