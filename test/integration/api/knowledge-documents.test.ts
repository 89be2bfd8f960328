import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { Readable } from 'node:stream';

import { beforeAll, describe, expect, it } from 'vitest';

import type { Store } from '../../../store/index.ts';
import { workflowIds } from '../../../knowledge/jobs/names.ts';
import { eventually } from '../../support/eventually.ts';
import { settle } from '../../support/fake-clock.ts';
import { unlimited } from '../../support/limits.ts';
import { requestClock } from '../../support/request-clock.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { type RestAnswer, brief, canary, organization, startFacade, type TestOrganization } from './facade.ts';
import { complete, knowledgeMeans, type KnowledgeMeans } from './knowledge-means.ts';
import { StorageError } from '../../../knowledge/storage/file-storage.ts';

const all = '/api/v1/knowledge-bases';
const means = suiteFixture(knowledgeMeans);
const facade = suiteFixture(() => startFacade({ knowledge: means.knowledge }));
/** No request gets more than this many milliseconds, on a clock that the test moves. */
const requestTimeoutMs = 2_100;
const { clock, time } = requestClock(requestTimeoutMs);
/** Counts the bytes of files that have come to the storage of `hasty`. */
let arrived = 0;
const hasty = suiteFixture(() => {
  const knowledge = (store: Store) => {
    const real = means.knowledge(store);
    const put: typeof real.files.put = (key, content, options) => {
      content.on('data', (part: Buffer) => (arrived += part.length));
      return real.files.put(key, content, options);
    };
    const files = { put, read: real.files.read.bind(real.files), delete: real.files.delete.bind(real.files) };
    return { ...real, files };
  };
  return startFacade({ database: facade.database, limits: { ...unlimited, requestTimeoutMs }, knowledge, clock });
});
let ours: TestOrganization;
let base: string;

beforeAll(async () => {
  ours = await organization(facade);
  base = `${all}/${(await ours.call('POST', all, { name: 'Manuals' })).body.id}`;
});

const boundary = 'xxBOUNDARYxx';
const multipart = { headers: { 'content-type': `multipart/form-data; boundary=${boundary}` } };
const filePart = (filename: string, content: string, name = 'file'): string =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"; filename="${filename}"\r\nContent-Type: application/octet-stream\r\n\r\n${content}\r\n`;
const fieldPart = (name: string, value: string): string =>
  `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const end = `--${boundary}--\r\n`;

const upload = (parts: readonly string[], org = ours, at = base): Promise<RestAnswer> =>
  org.call('POST', `${at}/documents/file`, parts.join(''), multipart);
const accepted = async (...parts: string[]): Promise<string> => {
  const answer = await upload([...parts, end]);
  expect([answer.status, answer.body], answer.text).toEqual([
    202,
    expect.objectContaining({
      document_id: expect.stringMatching(/^doc_[0-9a-f-]{36}$/),
      status: 'processing',
      message: expect.any(String),
    }),
  ]);
  return answer.body.document_id as string;
};
const documentCount = async (): Promise<number> => (await ours.call('GET', base)).body.total_documents;
/** Checks that nothing of a refused upload is left. */
const leavesNothing = async (work: () => Promise<void>): Promise<void> => {
  const [files, documents] = [await means.files(), await documentCount()];
  await work();
  await eventually(async () => expect(await means.files()).toEqual(files));
  expect(await documentCount()).toBe(documents);
};

/** Sends a request whose body comes bit by bit. */
async function stream(
  body: AsyncIterable<Uint8Array>,
  { headers = {}, signal, at = facade.url }: { headers?: Record<string, string>; signal?: AbortSignal; at?: string } = {},
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sending = httpRequest(
      `${at}${base}/documents/file`,
      // Each request has a connection for itself: some of these are left with half a request on them.
      {
        method: 'POST',
        agent: false,
        headers: { ...multipart.headers, authorization: `Bearer ${ours.key}`, ...headers },
        ...(signal && { signal }),
      },
      (answer) => {
        let text = '';
        answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
        answer.on('end', () => {
          resolve({ status: answer.statusCode ?? 0, text });
          sending.destroy();
        });
        answer.on('error', reject);
      },
    );
    sending.on('error', reject);
    Readable.from(body)
      .on('error', () => undefined)
      .pipe(sending);
  });
}

describe('an uploaded file', () => {
  it('is stored as it came and taken on, whichever part of the form comes first', async () => {
    const mark = canary();
    const metadata = fieldPart('metadata', '{"product": "XK-7420", "year": 2026, "public": true}');
    for (const parts of [
      [metadata, filePart('রিপোর্ট.TXT', mark)],
      [filePart('রিপোর্ট.TXT', mark), fieldPart('extra', 'ignored'), metadata],
    ]) {
      const id = await accepted(...parts);
      const { body } = await ours.call('GET', `${base}/documents/${id}`);
      expect(body).toEqual({
        document_id: id,
        knowledge_base_id: base.split('/').at(-1),
        type: 'file',
        filename: 'রিপোর্ট.TXT',
        title: null,
        page_urls: null,
        size_bytes: mark.length,
        sha256: createHash('sha256').update(mark).digest('hex'),
        metadata: { product: 'XK-7420', year: 2026, public: true },
        source: null,
        status: 'processing',
        message: 'Waiting to be ingested',
        chunk_count: 0,
        warnings: [],
        created_by_user_id: 'user-1',
        created_at: expect.any(String),
        updated_at: body.created_at,
      });
      const record = await facade.store.knowledge.documents.get({ org: ours.name, id });
      expect(record).toMatchObject({ extension: 'txt', sha256: createHash('sha256').update(mark).digest('hex') });
      const stored = (await means.files()).filter((path) => path.includes(id));
      expect(stored).toHaveLength(1);
      expect(await readFile(stored[0] ?? '', 'utf8')).toBe(mark);
      await eventually(async () => expect(await means.isStarted(workflowIds.ingestion(id))).toBe(true));
    }
    expect(facade.log()).not.toContain(mark);
    expect(facade.log()).not.toContain('XK-7420');
  });

  it('can be sent as browsers and clients send forms, and makes another document each time', async () => {
    const form = new FormData();
    form.set('file', new Blob(['# Title']), 'read "me".md');
    form.set('metadata', '');
    const ids = await Promise.all([1, 2].map(async () => (await ours.call('POST', `${base}/documents/file`, form)).body.document_id));
    expect(new Set(ids).size).toBe(2);
    const typed = `--${boundary}\r\nContent-Disposition: form-data; name="metadata"\r\nContent-Type: application/json\r\n\r\n{"a": 1}\r\n`;
    const id = await accepted(typed, filePart('a.txt', 'x'));
    expect((await ours.call('GET', `${base}/documents/${id}`)).body.metadata).toEqual({ a: 1 });
  });

  it('of every kind that is read is taken, and of no other', async () => {
    for (const name of ['a.pdf', 'a.docx', 'a.txt', 'a.md', 'a.xlsx', 'a.xls', 'A.PDF']) await accepted(filePart(name, 'x'));
    await leavesNothing(async () => {
      for (const name of ['a.exe', 'a.html', 'a', 'a.pdf.zip', 'pdf']) {
        const answer = await upload([filePart(name, 'x'), end]);
        expect([answer.status, answer.body.error], name).toEqual([415, 'unsupported_media_type']);
      }
    });
  });

  it('is refused with everything that is wrong with the form', async () => {
    const file = filePart('a.txt', 'x');
    const cases: [string[], string[]][] = [
      [[fieldPart('metadata', '{}')], ['body.file missing']],
      [[], ['body.file missing']],
      [[fieldPart('file', 'text')], ['body.file value_error']],
      [[filePart('', '')], ['body.file missing']],
      [[fieldPart('metadata', '{')], ['body.file missing', 'body.metadata json_invalid']],
      [[file, fieldPart('metadata', '{')], ['body.metadata json_invalid']],
      [[fieldPart('metadata', '{'), file, fieldPart('metadata', '{}')], ['body.metadata json_invalid']],
      [[fieldPart('metadata', '[1]'), file], ['body.metadata dict_type']],
      [[file, fieldPart('metadata', '{"a": null}')], ['body.metadata value_error']],
      [[file, fieldPart('metadata', `{"a": "${'x'.repeat(8190)}"}`)], ['body.metadata value_error']],
      [[file, fieldPart('metadata', `{"a": "${'x'.repeat(200_000)}"}`)], ['body.metadata value_error']],
      [[file, filePart('metadata.txt', '{}', 'metadata')], ['body.metadata string_type']],
      [[file, filePart('b.txt', 'y')], ['body.file value_error']],
      [
        [file, filePart('b.txt', 'y'), fieldPart('metadata', 'x')],
        ['body.file value_error', 'body.metadata json_invalid'],
      ],
      [
        [file, `--${boundary}\r\nContent-Disposition: form-data; name="metadata"\r\nContent-Type: application/json\r\n\r\n{\r\n`],
        ['body.metadata json_invalid'],
      ],
      [[filePart('../../etc/passwd.txt', 'x')], ['body.file value_error']],
      [[filePart('..\\\\..\\\\boot.txt', 'x')], ['body.file value_error']],
      [[filePart('a\u0000.txt', 'x')], ['body.file value_error']],
      [[filePart(`${'x'.repeat(296)}.txt`, 'x')], ['body.file value_error']],
      [[filePart('invoice\u202etxt.pdf', 'x')], ['body.file value_error']],
    ];
    await leavesNothing(async () => {
      for (const [parts, failures] of cases) {
        const answer = await upload([...parts, end]);
        expect(answer.status, `${parts.join('').slice(0, 300)}\n${answer.text}`).toBe(422);
        expect(brief(answer), parts.join('').slice(0, 300)).toEqual(failures);
      }
      expect(brief(await ours.call('POST', `${base}/documents/file`))).toEqual(['body.file missing']);
    });
  });

  it('is refused where the body is no form, or one that breaks off', async () => {
    await leavesNothing(async () => {
      expect((await ours.call('POST', `${base}/documents/file`, { file: 'x' })).status).toBe(415);
      const urlencoded = { headers: { 'content-type': 'application/x-www-form-urlencoded' } };
      expect((await ours.call('POST', `${base}/documents/file`, 'file=x', urlencoded)).status).toBe(415);
      const packed = { headers: { ...multipart.headers, 'content-encoding': 'gzip' } };
      expect((await ours.call('POST', `${base}/documents/file`, 'x', packed)).status).toBe(415);
      const bare = { headers: { 'content-type': 'multipart/form-data' } };
      for (const [text, options] of [
        [filePart('a.txt', 'x') + end, bare],
        [filePart('a.txt', 'x'), multipart],
        [filePart('a.txt', 'x').slice(0, -40), multipart],
        [`--${boundary}\r\n${end}`.slice(0, 10), multipart],
        ['nonsense', multipart],
        [`--${boundary}\r\n__proto__: x\r\n\r\n--${boundary}`, multipart],
        [fieldPart('a', 'x').repeat(100) + filePart('a.txt', 'x') + end, multipart],
        [fieldPart('__proto__', 'x') + filePart('a.txt', 'x') + end, multipart],
      ] as const) {
        const answer = await ours.call('POST', `${base}/documents/file`, text, options);
        expect([answer.status, answer.body.error], text.slice(0, 100)).toEqual([400, 'bad_request']);
      }
      // Other routes take no forms.
      expect((await ours.call('POST', all, filePart('a.txt', 'x') + end, multipart)).status).toBe(415);
    });
  });

  it('may have 50 MB, and not a byte more, announced or not', async () => {
    const limit = 50 * 1024 * 1024;
    const part = randomBytes(1024 * 1024);
    async function* body(bytes: number): AsyncGenerator<Uint8Array> {
      yield Buffer.from(filePart('big.pdf', '').slice(0, -2));
      for (let left = bytes; left > 0; left -= part.length) yield part.subarray(0, Math.min(left, part.length));
      yield Buffer.from(`\r\n${end}`);
    }
    const answer = await stream(body(limit));
    expect(answer.status, answer.text).toBe(202);
    const { document_id: id } = JSON.parse(answer.text) as { document_id: string };
    expect((await ours.call('GET', `${base}/documents/${id}`)).body.size_bytes).toBe(limit);

    await leavesNothing(async () => {
      for (const headers of [{}, { 'content-length': String(limit + 1 + filePart('big.pdf', '').length + end.length) }]) {
        const refused = await stream(body(limit + 1), { headers });
        expect([refused.status, JSON.parse(refused.text).error]).toEqual([413, 'payload_too_large']);
      }
      const announced = await stream(body(10 * 1024), { headers: { 'content-length': String(10 * limit) } }).catch(() => undefined);
      expect(announced?.status).toBe(413);
    });
  });

  it('is read no faster than it is stored', async () => {
    const started = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const storage = await knowledgeMeans({
      files: {
        async put(key, content, options) {
          started.resolve();
          await go.promise;
          return means.knowledge(facade.store).files.put(key, content, options);
        },
        read: () => Promise.reject(new StorageError('unavailable', 'nothing is read here')),
        delete: () => Promise.resolve(),
      },
    });
    const behind = await startFacade({ database: facade.database, knowledge: storage.knowledge });
    let sent = 0;
    async function* body(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(filePart('big.txt', '').slice(0, -2));
      for (; sent < 40; sent += 1) yield Buffer.alloc(1024 * 1024, 'x');
      yield Buffer.from(`\r\n${end}`);
    }
    const sending = stream(body(), { at: behind.url });
    await started.promise;
    // Nothing is read ahead but what the system keeps for the two ends of the connection. Both ends are turns of this event loop.
    await eventually(async () => {
      const before = sent;
      await settle(500);
      expect(sent).toBe(before);
    });
    expect(sent).toBeLessThan(20);
    go.resolve();
    expect((await sending).status).toBe(202);
    await behind.close();
    await storage.close();
  });

  it('leaves nothing behind where the client goes away', async () => {
    await leavesNothing(async () => {
      const gone = new AbortController();
      async function* body(): AsyncGenerator<Uint8Array> {
        yield Buffer.from(filePart('big.txt', '').slice(0, -2));
        for (let index = 0; index < 8; index += 1) yield randomBytes(256 * 1024);
        await eventually(async () => expect((await means.files()).some((path) => path.includes('.incoming'))).toBe(true));
        gone.abort();
        await new Promise(() => undefined);
      }
      await expect(stream(body(), { signal: gone.signal })).rejects.toThrow('abort');
      await eventually(async () => expect((await means.files()).some((path) => path.includes('.incoming'))).toBe(false));
    });
  });

  it('may take longer than any other request while it keeps coming, and is cut off where it stops', async () => {
    async function* slowly(parts: number): AsyncGenerator<Uint8Array> {
      const part = Buffer.alloc(32 * 1024, 'x');
      yield Buffer.from(filePart('slow.txt', '').slice(0, -2));
      arrived = 0;
      for (let sent = 1; sent <= parts; sent += 1) {
        yield part;
        // The end of a part is kept back: it may be where the file ends.
        await eventually(() => expect(arrived).toBeGreaterThan((sent - 1) * part.length), 10);
        await time.advance(requestTimeoutMs / 2);
      }
    }
    async function* finishing(): AsyncGenerator<Uint8Array> {
      yield* slowly(6);
      yield Buffer.from(`\r\n${end}`);
    }
    async function* stopping(): AsyncGenerator<Uint8Array> {
      yield* slowly(1);
      await time.advance(2 * requestTimeoutMs);
      await new Promise(() => undefined);
    }
    const at = { at: hasty.url };
    const slow = await stream(finishing(), at);
    const stuck = await stream(stopping(), at);
    expect(slow.status, slow.text).toBe(202);
    expect([stuck.status, JSON.parse(stuck.text).error]).toEqual([408, 'request_timeout']);
    await eventually(async () => expect((await means.files()).some((path) => path.includes('.incoming'))).toBe(false));
  });
});

describe('a website', () => {
  const submit = (body: unknown): Promise<RestAnswer> => ours.call('POST', `${base}/documents/website`, body);

  it('is one document, whatever the number of its pages', async () => {
    const urls = Array.from({ length: 100 }, (_, index) => `https://example.com/${index}?q=a+b#${'x'.repeat(index)}`);
    const { status, body } = await submit({ page_urls: urls, metadata: { team: 'sales' } });
    expect([status, body.status]).toEqual([202, 'processing']);
    const read = await ours.call('GET', `${base}/documents/${body.document_id}`);
    expect(read.body).toMatchObject({
      type: 'website',
      filename: urls[0],
      metadata: { team: 'sales' },
      size_bytes: null,
      page_urls: urls.map((url) => ({ url, status: 'pending' })),
    });
    await eventually(async () => expect(await means.isStarted(workflowIds.ingestion(body.document_id))).toBe(true));
  });

  it.each([
    [{}, ['body.page_urls missing']],
    [{ page_urls: 'https://example.com' }, ['body.page_urls list_type']],
    [{ page_urls: ['https://example.com'], metadata: { a: [1] } }, ['body.metadata value_error']],
    [{ page_urls: ['https://example.com'], metadata: { a: 'x'.repeat(9_000) } }, ['body.metadata value_error']],
    [{ page_urls: [] }, ['body.page_urls too_short']],
    [{ page_urls: Array(101).fill('https://example.com') }, ['body.page_urls too_long']],
    [
      { page_urls: ['ftp://example.com', 'https://example.com', 5, `https://e.com/${'x'.repeat(2048)}`] },
      ['body.page_urls.0 string_pattern_mismatch', 'body.page_urls.2 string_type', 'body.page_urls.3 string_too_long'],
    ],
    [
      { page_urls: ['http://', 'https://a b', 'https://x/\u0000', 'https://[', 'https://ok.example'] },
      [0, 1, 2, 3].map((at) => `body.page_urls.${at} value_error`),
    ],
    [
      { page_urls: ['https://user:secret@example.com/', 'https://user@example.com', 'https://@example.com', 'https://example.com/@me'] },
      [0, 1, 2].map((at) => `body.page_urls.${at} value_error`),
    ],
  ] as [object, string[]][])('is refused where its addresses are none (%#)', async (body, failures) => {
    const answer = await submit(body);
    expect([answer.status, brief(answer)]).toEqual([422, failures]);
  });
});

describe('a document', () => {
  it('says how far it is, and in the end what is wrong with it', async () => {
    const id = await accepted(filePart('a.txt', 'x'));
    const status = async () => (await ours.call('GET', `${base}/documents/${id}/status`)).body;
    const queued = await status();
    expect(queued).toEqual({
      document_id: id,
      status: 'processing',
      message: 'Waiting to be ingested',
      chunk_count: 0,
      progress: { stage: 'queued', done: 0, total: null },
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const { ingestion } = facade.store.knowledge;
    await ingestion.progress({ org: ours.name, id }, { stage: 'indexing', done: 3, total: 10 });
    expect(await status()).toMatchObject({
      message: 'Making it searchable, 3 of 10 done',
      progress: { stage: 'indexing', done: 3, total: 10 },
    });
    expect((await ours.call('GET', `${base}/documents/${id}/chunks`)).body).toEqual({
      document_id: id,
      filename: 'a.txt',
      chunk_count: 0,
      chunks: [],
    });
    await ingestion.fail({ org: ours.name, id }, { code: 'password_protected', message: 'the file needs a password' });
    expect(await status()).toMatchObject({
      status: 'failed',
      message: 'the file needs a password',
      error: { code: 'password_protected', message: 'the file needs a password' },
      chunk_count: 0,
    });
  });

  it('has its chunks answered in their order, thousands of them', async () => {
    const id = await accepted(filePart('a.txt', 'x'));
    const chunks = Array.from({ length: 1234 }, (_, index) => `${index} "বাংলা" \\ \u2028 ${'x'.repeat(index % 300)}`);
    await complete(facade.store, { org: ours.name, id, chunks });
    const answer = await ours.call('GET', `${base}/documents/${id}/chunks`);
    expect(answer.body).toEqual({ document_id: id, filename: 'a.txt', chunk_count: 1234, chunks });
    expect((await ours.call('GET', `${base}/documents/${id}/status`)).body).toMatchObject({ status: 'completed', chunk_count: 1234 });
  });

  it('has its chunks answered for as long as the client takes them in', async () => {
    const id = await accepted(filePart('a.txt', 'x'));
    const chunks = Array.from({ length: 400 }, (_, index) => `${index} ${'x'.repeat(40_000)}`);
    await complete(facade.store, { org: ours.name, id, chunks });
    const read = async (pause: () => Promise<unknown>): Promise<string> => {
      const answer = await fetch(`${hasty.url}${base}/documents/${id}/chunks`, { headers: { authorization: `Bearer ${ours.key}` } });
      let [text, unpaused] = ['', 0];
      const decoder = new TextDecoder();
      for await (const part of answer.body as unknown as AsyncIterable<Uint8Array>) {
        text += decoder.decode(part, { stream: true });
        unpaused += part.length;
        if (unpaused > 1024 * 1024) [unpaused] = [0, await pause()];
      }
      return text;
    };
    // The upload takes longer than a request may, and then stops taking anything: what fits into the connection is sent, and no more.
    const begun = time.monotonic();
    expect(JSON.parse(await read(() => time.advance(requestTimeoutMs / 8))).chunks).toEqual(chunks);
    expect(time.monotonic() - begun).toBeGreaterThan(requestTimeoutMs);
    const untilCut = async (): Promise<void> => {
      while (time.timers > 0) await time.advance(requestTimeoutMs);
    };
    await expect(read(untilCut)).rejects.toThrow('terminated');
  });

  it('is listed with the others in the order of submission', async () => {
    const { body: made } = await ours.call('POST', all, { name: 'Listed' });
    const path = `${all}/${made.id}/documents`;
    expect((await ours.call('GET', path)).body).toEqual({ data: [], next_page_token: null });
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1)
      ids.push((await ours.call('POST', `${path}/website`, { page_urls: [`https://example.com/${index}`] })).body.document_id);
    const first = await ours.call('GET', `${path}?page_size=3`);
    const second = await ours.call('GET', `${path}?page_size=3&page_token=${first.body.next_page_token}`);
    expect([...first.body.data, ...second.body.data].map((each) => each.document_id)).toEqual(ids);
    expect(second.body.next_page_token).toBeNull();
    const elsewhere = await ours.call('GET', `${base}/documents?page_token=${first.body.next_page_token}`);
    expect(brief(elsewhere)).toEqual(['query.page_token value_error']);
  });

  it('is gone with its deletion', async () => {
    const id = await accepted(filePart('a.txt', 'x'));
    const path = `${base}/documents/${id}`;
    const documents = await documentCount();
    expect((await ours.call('DELETE', path)).body).toEqual({ data: {}, message: 'The document was deleted' });
    for (const [method, url] of [
      ['GET', path],
      ['GET', `${path}/status`],
      ['GET', `${path}/chunks`],
      ['DELETE', path],
    ] as const) {
      const answer = await ours.call(method, url);
      expect([answer.status, answer.text]).toEqual([404, '{"error":"not_found","message":"Document not found"}']);
    }
    expect(await documentCount()).toBe(documents - 1);
    await eventually(async () => expect(await means.isStarted(workflowIds.clearDocument(id))).toBe(true));
  });

  it('that the resource names stays while the resource names it', async () => {
    const { id: collectionId } = (await facade.store.knowledge.collections.byName({
      org: ours.name,
      name: base.split('/').at(-1) ?? '',
    })) ?? { id: '' };
    const { id } = await facade.store.knowledge.documents.create({
      org: ours.name,
      collectionId,
      kind: 'text',
      filename: 'faq',
      content: 'x',
      source: 'faq',
      sourceRevision: '1',
    });
    const answer = await ours.call('DELETE', `${base}/documents/${id}`);
    expect([answer.status, answer.body.error]).toEqual([409, 'conflict']);
    expect((await ours.call('GET', `${base}/documents/${id}`)).body).toMatchObject({
      type: 'text',
      source: 'faq',
      created_by_user_id: null,
    });
  });
});

describe('with something away', () => {
  it('the storage: 503 with Retry-After, and no document', async () => {
    for (const kind of ['unavailable', 'refused'] as const) {
      const away: KnowledgeMeans = await knowledgeMeans({
        files: {
          put: async (_key, content) => {
            content.destroy();
            throw new StorageError(kind, 'the bucket does not answer');
          },
          read: () => Promise.reject(new StorageError(kind, 'the bucket does not answer')),
          delete: () => Promise.reject(new StorageError(kind, 'the bucket does not answer')),
        },
      });
      const behind = await startFacade({ database: facade.database, knowledge: away.knowledge });
      await leavesNothing(async () => {
        const text = filePart('a.txt', 'x') + end;
        const answer = await behind.call('POST', `${base}/documents/file`, { body: text, key: ours.key, ...multipart });
        expect([answer.status, answer.body]).toEqual([503, { error: 'unavailable', message: expect.stringContaining('storage') }]);
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      });
      await behind.close();
      await away.close();
    }
  });

  it('Temporal: the document is taken on all the same', async () => {
    const away = await knowledgeMeans({
      jobs: {
        ingest: () => Promise.reject(new Error('away')),
        clearDocument: () => Promise.reject(new Error('away')),
        clearCollection: () => Promise.reject(new Error('away')),
      },
    });
    const behind = await startFacade({ database: facade.database, knowledge: away.knowledge });
    const { status, body } = await behind.call('POST', `${base}/documents/file`, {
      body: filePart('a.txt', 'x') + end,
      key: ours.key,
      ...multipart,
    });
    expect(status).toBe(202);
    expect((await behind.call('DELETE', `${base}/documents/${body.document_id}`, { key: ours.key })).status).toBe(200);
    expect(behind.log()).toContain('the worker starts it when Temporal is back');
    await behind.close();
    await away.close();
  });
});
