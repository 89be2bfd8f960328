import { openAsBlob } from 'node:fs';
import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { beforeEach, expect, it } from 'vitest';

import { testFolder } from '../../test/support/folders.ts';
import { addDocuments } from './add-documents.ts';
import type { DocumentUpload } from './prepare-uploads.ts';
import { createRestClient } from './rest-client.ts';

let folder: string;
beforeEach(() => void (folder = testFolder()));

interface Stored {
  readonly document_id: string;
  readonly filename: string;
  readonly key: string;
}

/** Makes an API whose documents are found as soon as they are uploaded; like the real one it stores an entry once. */
function api({ old = false, loses = 0 }: { readonly old?: boolean; readonly loses?: number } = {}) {
  const stored: Stored[] = [];
  const requests: string[] = [];
  let toLose = loses;
  const store = (filename: string, key: string): Stored => {
    const known = stored.find((each) => each.key === key);
    if (known !== undefined) return known;
    const document = { document_id: `doc_${stored.length + 1}`, filename, key };
    stored.push(document);
    return document;
  };
  const listed = ({ document_id, filename }: Stored) => ({
    document_id,
    filename,
    status: 'completed',
    message: 'found',
    source: null,
    sha256: null,
  });
  const answer = async (url: unknown, init: RequestInit = {}): Promise<Response> => {
    const { pathname } = new URL(String(url));
    if (init.method !== 'POST') return Response.json({ data: stored.map(listed), next_page_token: null });
    requests.push(pathname);
    if (pathname.endsWith('/file')) {
      const file = (init.body as FormData).get('file') as File;
      return Response.json(listed(store(file.name, `${requests.length}`)));
    }
    if (old) return Response.json({ error: 'method_not_allowed', message: 'no such route' }, { status: 405 });
    const lines = (init.body as string).trimEnd().split('\n');
    const results = lines.map((line, index) => {
      const { name, content_base64: content, idempotency_key: key } = JSON.parse(line) as Record<string, string>;
      if (
        Buffer.from(content ?? '', 'base64')
          .toString()
          .startsWith('bad')
      )
        return { index, status: 'failed', error: { code: 'bad_request', message: 'this is bad' } };
      const { document_id } = store(name ?? '', key ?? content ?? '');
      return { index, status: 'accepted', document_id };
    });
    const text = results.map((result) => `${JSON.stringify(result)}\n`).join('');
    if (toLose === 0) return new Response(text);
    toLose -= 1;
    // The answer breaks off after its first half.
    const half = new TextEncoder().encode(text.slice(0, text.length / 2));
    let pulls = 0;
    return new Response(
      new ReadableStream({
        pull: (controller) => {
          pulls += 1;
          if (pulls === 1) controller.enqueue(half);
          else controller.error(new TypeError('terminated'));
        },
      }),
    );
  };
  return { stored, requests, client: createRestClient({ url: 'http://127.0.0.1', apiKey: 'pk', fetch: answer }) };
}

const texts = (...contents: readonly string[]): readonly DocumentUpload[] =>
  contents.map((content, n) => ({ file: `${n}.txt`, filename: `${n}.txt`, open: () => Promise.resolve(new Blob([content])) }));
const many = Array.from({ length: 250 }, (_, n) => `Text ${n}.`);
const adding = { knowledgeBase: 'manuals', skipExisting: true, onEnd: () => undefined };

it('sends small files a hundred at a time, large ones alone, and names what is refused', async () => {
  const { client, requests, stored } = api();
  const uploads = texts(...many, 'bad one', 'x'.repeat(300 * 1024));
  const added = await addDocuments(client, { ...adding, uploads });
  expect(requests.filter((path) => path.endsWith('/bulk'))).toHaveLength(3);
  expect(requests).toHaveLength(4);
  expect(stored).toHaveLength(251);
  expect(added.map(({ status }) => status)).toEqual([...many.map(() => 'completed'), 'failed', 'completed']);
  expect(added[250]?.message).toBe('this is bad');
});

it('uploads files of the same content once, whether the first has ended or not', async () => {
  const { client, stored } = api();
  const added = await addDocuments(client, { ...adding, uploads: texts('same', ...many, 'same', 'bad', 'bad'), concurrency: 1 });
  expect(stored).toHaveLength(251);
  expect(added.at(-3)).toMatchObject({ document_id: added[0]?.document_id, status: 'skipped' });
  expect(added.slice(-2).map(({ status }) => status)).toEqual(['failed', 'failed']);
  const every = await addDocuments(client, { ...adding, uploads: texts('same', 'same'), skipExisting: false });
  expect(new Set(every.map(({ document_id: id }) => id)).size).toBe(2);
});

it('sends again what was not answered, and doubles nothing', async () => {
  const { client, stored, requests } = api({ loses: 1 });
  const added = await addDocuments(client, { ...adding, uploads: texts(...many), skipExisting: false });
  expect(added.every(({ status }) => status === 'completed')).toBe(true);
  expect(stored).toHaveLength(many.length);
  expect(requests).toHaveLength(4);
});

it('uploads one by one where the api is too old for more', async () => {
  const { client, stored } = api({ old: true });
  const added = await addDocuments(client, { ...adding, uploads: texts(...many) });
  expect(added.every(({ status }) => status === 'completed')).toBe(true);
  expect(stored).toHaveLength(many.length);
});

it('ends with the uploads where nothing is to be waited for', async () => {
  const { client } = api();
  const added = await addDocuments(client, { ...adding, uploads: texts(...many), wait: false });
  expect(added.every(({ status }) => status === 'processing')).toBe(true);
});

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
  const added = await addDocuments(api().client, { knowledgeBase: 'manuals', uploads, skipExisting: true, onEnd: () => undefined });
  expect(added.map(({ status }) => status)).toEqual(['completed', 'failed', 'completed']);
  expect(added[1]?.message).toContain('it cannot be read');
});

it('begins no other request once it is stopped, and goes on where it is repeated', async () => {
  const { client, stored } = api();
  const stopping = new AbortController();
  const onAccepted = (): void => stopping.abort();
  const stopped = await addDocuments(client, { ...adding, uploads: texts(...many), concurrency: 1, stop: stopping.signal, onAccepted });
  expect(stopped.map(({ status }) => status)).toEqual(many.map((_, n) => (n < 100 ? 'processing' : 'unsent')));
  const repeated = await addDocuments(client, { ...adding, uploads: texts(...many) });
  expect(repeated.every(({ status }) => status === 'completed')).toBe(true);
  expect(stored).toHaveLength(many.length);
});
