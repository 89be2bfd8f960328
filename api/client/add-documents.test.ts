import { openAsBlob } from 'node:fs';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { addDocuments, type DocumentUpload } from './add-documents.ts';
import { createRestClient } from './rest-client.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-add-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** An API whose documents are found as soon as they are uploaded. */
function api() {
  const documents: object[] = [];
  const answer = (_url: unknown, init: RequestInit = {}): Promise<Response> => {
    if (init.method !== 'POST') return Promise.resolve(Response.json({ data: documents, next_page_token: null }));
    const file = (init.body as FormData).get('file') as File;
    const document = {
      document_id: `doc_${documents.length + 1}`,
      filename: file.name,
      status: 'completed',
      message: 'found',
      source: null,
    };
    documents.push({ ...document, sha256: null });
    return Promise.resolve(Response.json(document));
  };
  return createRestClient({ url: 'http://127.0.0.1', apiKey: 'pk', fetch: answer });
}

it('goes on with the other files when one changes while it is read', async () => {
  const uploads = await Promise.all(
    ['a.txt', 'changing.txt', 'z.txt'].map(async (filename): Promise<DocumentUpload> => {
      const file = join(folder, filename);
      await writeFile(file, filename);
      const open = async (): Promise<Blob> => {
        const content = await openAsBlob(file);
        if (filename === 'changing.txt') await appendFile(file, 'more');
        return content;
      };
      return { file, filename, open };
    }),
  );
  const added = await addDocuments(api(), { knowledgeBase: 'manuals', uploads, skipExisting: true, onEnd: () => undefined });
  expect(added.map(({ status }) => status)).toEqual(['completed', 'failed', 'completed']);
  expect(added[1]?.message).toContain('it cannot be read');
});
