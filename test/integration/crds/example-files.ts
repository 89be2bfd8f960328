import { readFile } from 'node:fs/promises';

import { parseAllDocuments } from 'yaml';

import { findExamples } from '../../../local-stack/manifests.ts';
import type { TestManifest } from '../../support/builders.ts';

/** Reads every object that `parley dev` applies, in the order of the files. */
export async function readExamples(): Promise<readonly TestManifest[]> {
  const texts = await Promise.all(findExamples().files.map((file) => readFile(file, 'utf8')));
  return texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as TestManifest));
}
