/** The documents beside the example resources: uploaded once, as a client would. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import { addFiles } from '../api/client/add-documents.ts';
import { createRestClient } from '../api/client/rest-client.ts';
import type { Console } from './console.ts';
import { repositoryRoot } from './repository.ts';

/** The example knowledge base that they go into. */
const KNOWLEDGE_BASE = 'workshop-handbook';

export interface ExampleDocuments {
  readonly files: readonly string[];
  /** SHA-256 of their content; undefined when there are none. */
  readonly digest: string | undefined;
}

export function findExampleDocuments(): ExampleDocuments {
  const folder = join(repositoryRoot(), 'examples', 'documents');
  const files = existsSync(folder)
    ? readdirSync(folder)
        .sort()
        .map((name) => join(folder, name))
    : [];
  if (files.length === 0) return { files, digest: undefined };
  const hash = createHash('sha256');
  for (const file of files) hash.update(basename(file)).update(readFileSync(file));
  return { files, digest: hash.digest('hex') };
}

/** @returns false, and says why, when one of them can't be found afterwards */
export async function ingestExamples(
  { files }: ExampleDocuments,
  options: { readonly url: string; readonly apiKey: string; readonly console: Console; readonly signal: AbortSignal },
): Promise<boolean> {
  const { console, signal } = options;
  const states = new Map<string, string>();
  const documents = await addFiles(createRestClient(options), {
    knowledgeBase: KNOWLEDGE_BASE,
    files,
    signal,
    onState: ({ file, status, progress }) => {
      states.set(basename(file), status === 'processing' ? (progress?.stage ?? 'queued') : status);
      console.status('documents', `  documents: ${[...states].map(([name, state]) => `${name} ${state}`).join(', ')}`);
    },
  });
  console.status('documents', undefined);
  const failed = documents.filter(({ status }) => status === 'failed');
  for (const { file, message } of failed) console.line(`! ${basename(file)} was not ingested: ${message}`);
  if (failed.length === 0) console.line(`✓ ${documents.length} documents in the knowledge base ${KNOWLEDGE_BASE}`);
  return failed.length === 0;
}
