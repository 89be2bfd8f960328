/** Uploads many files with one request: lines of JSON, and archives. */
import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';

import { describe, expect, it } from 'vitest';

import { UPLOADS_AT_ONCE } from '../../../api/knowledge-bases/bulk/limits.ts';
import { limitsOf } from '../../../api/limits/limits-of.ts';
import { workflowIds } from '../../../knowledge/jobs/names.ts';
import { StorageError } from '../../../knowledge/storage/file-storage.ts';
import { repositoryRoot } from '../../../local-stack/repository.ts';
import { systemClock, type Clock } from '../../../platform/clock.ts';
import { loadConfig } from '../../../platform/config/config.ts';
import { makeZip, type ZipEntry } from '../../support/documents/make-zip.ts';
import { countTurns } from '../../support/count-turns.ts';
import { eventually } from '../../support/eventually.ts';
import { unlimited } from '../../support/limits.ts';
import { run } from '../../support/run.ts';
import { limiterClock, requestClock } from '../../support/request-clock.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { type RestAnswer, canary, organization, startFacade } from './facade.ts';
import { knowledgeMeans } from './knowledge-means.ts';

const all = '/api/v1/knowledge-bases';
const lines = { 'content-type': 'application/x-ndjson' };
const archive = { 'content-type': 'application/zip' };

interface Result {
  readonly index: number;
  readonly name?: string;
  readonly status: 'accepted' | 'failed';
  readonly document_id?: string;
  readonly existing: boolean;
  readonly error?: { readonly code: string; readonly message: string };
  readonly warnings?: readonly string[];
}

const means = suiteFixture(knowledgeMeans);
const facade = suiteFixture(() => startFacade({ knowledge: means.knowledge }));
const ours = suiteFixture(() => organization(facade));
const theirs = suiteFixture(() => organization(facade));

const aBase = async (org = ours): Promise<string> => `${all}/${(await org.call('POST', all, { name: `Manuals ${randomUUID()}` })).body.id}`;
const sendLines = (base: string, body: string | Buffer, org = ours): Promise<RestAnswer> =>
  org.call('POST', `${base}/documents/bulk`, body, { headers: lines });
const sendZip = (base: string, files: readonly ZipEntry[]): Promise<RestAnswer> =>
  ours.call('POST', `${base}/documents/bulk`, makeZip(files), { headers: archive });
const ndjson = (entries: readonly unknown[]): string => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
const resultsOf = ({ status, text }: RestAnswer): readonly Result[] => {
  expect(status, text).toBe(202);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Result);
};
const total = async (base: string): Promise<number> => (await ours.call('GET', base)).body.total_documents;
const brief = (results: readonly Result[]) => results.map(({ name, status, error }) => `${name ?? '-'} ${error?.code ?? status}`);
const someFiles = (count: number, mark = canary()) =>
  Array.from({ length: count }, (_, n) => ({ name: `note-${n}.md`, content: `# Note ${n}\n\n${mark} opens gate ${n}.\n` }));

describe('lines of JSON', () => {
  it('become documents with their files, as those of single uploads', async () => {
    const base = await aBase();
    const mark = canary();
    const bytes = Buffer.from([0xff, 0xfe, 0x41, 0x00]);
    const body = ndjson([
      { name: 'হাতল.MD', content: mark, metadata: { product: 'XK-7420', year: 2026 } },
      { name: 'utf-16.txt', content_base64: bytes.toString('base64'), idempotency_key: 'manual-7', colour: 'red' },
    ]);
    const results = resultsOf(await sendLines(base, `\n  \r\n${body}`));
    expect(results).toEqual([
      { index: 0, name: 'হাতল.MD', status: 'accepted', document_id: expect.stringMatching(/^doc_/), existing: false },
      {
        index: 1,
        name: 'utf-16.txt',
        warnings: [expect.stringContaining('colour')],
        status: 'accepted',
        document_id: expect.stringMatching(/^doc_/),
        existing: false,
      },
    ]);
    const id = results[0]?.document_id ?? '';
    const { body: document } = await ours.call('GET', `${base}/documents/${id}`);
    expect(document).toMatchObject({
      type: 'file',
      filename: 'হাতল.MD',
      status: 'processing',
      size_bytes: mark.length,
      sha256: createHash('sha256').update(mark).digest('hex'),
      metadata: { product: 'XK-7420', year: 2026 },
      created_by_user_id: 'user-1',
    });
    for (const [result, content] of [
      [results[0], Buffer.from(mark)],
      [results[1], bytes],
    ] as const) {
      const stored = (await means.files()).filter((path) => path.includes(result?.document_id ?? '-'));
      expect(stored).toHaveLength(1);
      expect(await readFile(stored[0] ?? '')).toEqual(content);
      await eventually(async () => expect(await means.isStarted(workflowIds.ingestion(result?.document_id ?? ''))).toBe(true));
    }
    expect(facade.log()).not.toContain(mark);
    expect(facade.log()).not.toContain('XK-7420');
  });

  it('fail alone, each with its reason, and leave nothing', async () => {
    const base = await aBase();
    const before = (await means.files()).length;
    const wrong: readonly (readonly [string | Buffer, string])[] = [
      ['{"name": "a.md", "content": ', '- bad_request'],
      [Buffer.from([0x22, 0xff, 0xfe, 0x22]), '- bad_request'],
      ['[1, 2]', '- bad_request'],
      ['{"content": "nameless"}', '- bad_request'],
      ['{"name": "a.md"}', 'a.md bad_request'],
      ['{"name": "both.md", "content": "a", "content_base64": "YQ=="}', 'both.md bad_request'],
      ['{"name": "b.md", "content_base64": "@@@@"}', 'b.md bad_request'],
      ['{"name": "photo.png", "content": "PNG"}', 'photo.png unsupported_media_type'],
      ['{"name": "../up.md", "content": "a"}', '../up.md bad_request'],
      ['{"name": "half.md", "content": "\\ud800"}', 'half.md bad_request'],
      ['{"name": "m.md", "content": "a", "metadata": {"nested": {"a": 1}}}', 'm.md bad_request'],
      ['{"name": "k.md", "content": "a", "idempotency_key": "two words"}', 'k.md bad_request'],
      [`{"name": "many.md", "content": "a", "x": [${'1,'.repeat(2_000)}1]}`, '- payload_too_large'],
      [`{"name": "long.md", "content": "${'a'.repeat(8 * 1024 * 1024)}"}`, '- payload_too_large'],
    ];
    const good = someFiles(2);
    const body = Buffer.concat([
      Buffer.from(ndjson(good.slice(0, 1))),
      ...wrong.flatMap(([line]) => [Buffer.from(line as string), Buffer.from('\n')]),
      Buffer.from(ndjson(good.slice(1)).trimEnd()),
    ]);
    const results = resultsOf(await sendLines(base, body));
    expect(brief(results)).toEqual(['note-0.md accepted', ...wrong.map(([, expected]) => expected), 'note-1.md accepted']);
    expect(results.map(({ index }) => index)).toEqual(results.map((_, n) => n));
    expect(await total(base)).toBe(2);
    expect((await means.files()).length).toBe(before + 2);
  });

  it('are stored once: within a request, in a repetition, next to a single upload, and in two requests at the same moment', async () => {
    const base = await aBase();
    const files = someFiles(450);
    const twice = [...files, { name: 'twin.md', content: files[3]?.content }];
    const form = new FormData();
    form.set('file', new Blob([files[7]?.content ?? '']), 'alone.md');
    const alone = (await ours.call('POST', `${base}/documents/file`, form)).body.document_id as string;
    const [first, second] = (await Promise.all([sendLines(base, ndjson(twice)), sendLines(base, ndjson(twice))])).map(resultsOf);
    expect(first?.map(({ document_id: id }) => id)).toEqual(second?.map(({ document_id: id }) => id));
    expect(first?.[7]).toMatchObject({ document_id: alone, existing: true });
    expect(first?.[450]).toMatchObject({ document_id: first?.[3]?.document_id, existing: true });
    expect(await total(base)).toBe(450);
    const again = resultsOf(await sendLines(base, ndjson(twice)));
    expect(again.every(({ existing }) => existing)).toBe(true);
    expect(await total(base)).toBe(450);
    const stored = new Set((await means.files()).map((path) => /doc_[0-9a-f-]{36}/.exec(path)?.[0]));
    for (const { document_id: id } of again) expect(stored).toContain(id);
  });

  it('are known by their keys, and made again where the document has failed or was deleted', async () => {
    const base = await aBase();
    const entry = (content: string) => ndjson([{ name: 'a.md', content, idempotency_key: 'one' }]);
    const [first] = resultsOf(await sendLines(base, entry('first')));
    const [same] = resultsOf(await sendLines(base, entry('second')));
    expect(same).toMatchObject({ document_id: first?.document_id, existing: true });
    // The same content under another key is another document.
    const [other] = resultsOf(await sendLines(base, ndjson([{ name: 'a.md', content: 'first', idempotency_key: 'two' }])));
    expect(other).toMatchObject({ existing: false });
    const ref = { org: ours.name, id: first?.document_id ?? '' };
    await facade.store.knowledge.ingestion.fail(ref, { code: 'corrupt_file', message: 'damaged' });
    const [retried] = resultsOf(await sendLines(base, entry('third')));
    expect(retried).toMatchObject({ existing: false });
    await ours.call('DELETE', `${base}/documents/${retried?.document_id}`);
    const [newest] = resultsOf(await sendLines(base, entry('fourth')));
    expect(newest).toMatchObject({ existing: false });
    expect(new Set([first, retried, newest].map((each) => each?.document_id)).size).toBe(3);
  });

  it('may be ten thousand with those that fail, and no more', async () => {
    const base = await aBase();
    const results = resultsOf(await sendLines(base, `${'{"name": "x.png", "content": ""}\n'.repeat(9_998)}${ndjson(someFiles(3))}`));
    expect(results).toHaveLength(10_001);
    expect(brief(results.slice(9_997))).toEqual([
      'x.png unsupported_media_type',
      'note-0.md accepted',
      'note-1.md accepted',
      '- payload_too_large',
    ]);
    expect(results[10_000]?.index).toBe(10_000);
    expect(await total(base)).toBe(2);
  });

  it('have no more uploads at once than an organisation may have', async () => {
    const base = await aBase();
    const open = Array.from({ length: UPLOADS_AT_ONCE }, () => {
      const sending = httpRequest(`${facade.url}${base}/documents/bulk`, {
        method: 'POST',
        agent: false,
        headers: { ...lines, authorization: `Bearer ${ours.key}` },
      });
      const status = new Promise<number | undefined>((resolve, reject) => {
        sending.on('response', (answer) => answer.resume().on('end', () => resolve(answer.statusCode)));
        sending.on('error', reject);
      });
      const first = new Promise((resolve) => sending.on('response', (answer) => answer.once('data', resolve)));
      sending.write(ndjson(someFiles(1)));
      return { sending, first, status };
    });
    await Promise.all(open.map(({ first }) => first));
    const refused = await sendLines(base, ndjson(someFiles(1)));
    expect([refused.status, refused.body.error]).toEqual([429, 'rate_limited']);
    expect(refused.headers.get('retry-after')).toBe('1');
    const elsewhere = await aBase(theirs);
    expect(resultsOf(await sendLines(elsewhere, ndjson(someFiles(1)), theirs))).toHaveLength(1);
    for (const { sending } of open) sending.end();
    expect(await Promise.all(open.map(({ status }) => status))).toEqual(open.map(() => 202));
    await eventually(async () => expect((await sendLines(base, ndjson(someFiles(1)))).status).toBe(202));
  });

  it('are answered while others are still on their way, and kept where the connection breaks', async () => {
    const base = await aBase();
    const sending = httpRequest(`${facade.url}${base}/documents/bulk`, {
      method: 'POST',
      agent: false,
      headers: { ...lines, authorization: `Bearer ${ours.key}` },
    });
    sending.on('error', () => undefined);
    sending.write(ndjson(someFiles(3)));
    const text = await new Promise<string>((resolve) =>
      sending.on('response', (answer) => {
        let read = '';
        answer.on('error', () => undefined);
        answer.on('data', (chunk: Buffer) => {
          read += chunk.toString();
          if (read.split('\n').length === 4) resolve(read);
        });
      }),
    );
    expect(
      brief(
        text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line) as Result),
      ),
    ).toEqual([0, 1, 2].map((n) => `note-${n}.md accepted`));
    sending.write('{"name": "half.md", "content": "');
    sending.destroy();
    await eventually(() => expect(facade.log()).toContain('a bulk upload broke off'));
    expect(await total(base)).toBe(3);
  });

  it('are a list for who asks for JSON', async () => {
    const base = await aBase();
    const answer = await ours.call('POST', `${base}/documents/bulk`, ndjson([...someFiles(1), { name: 'x.png', content: '' }]), {
      headers: { ...lines, accept: 'application/json' },
    });
    expect([answer.status, brief(answer.body)]).toEqual([202, ['note-0.md accepted', 'x.png unsupported_media_type']]);
    const none = await ours.call('POST', `${base}/documents/bulk`, '\n', { headers: { ...lines, accept: 'application/json' } });
    expect([none.status, none.body]).toEqual([202, []]);
  });
});

describe('an archive', () => {
  it('becomes a document for each of its files, with what its manifest says', async () => {
    const base = await aBase();
    const big = Buffer.alloc(3 * 1024 * 1024, 'The gate opens at nine.\n');
    const results = resultsOf(
      await sendZip(base, [
        { name: 'docs/', content: '' },
        { name: '__MACOSX/docs/._a.md', content: 'x' },
        { name: 'docs/a.md', content: '# A' },
        { name: 'docs/b.txt', content: 'B', method: 0 },
        { name: Buffer.from('docs/হাতল.md'), content: '# C', oldName: true },
        { name: Buffer.from([0x81, 0x2e, 0x6d, 0x64]), content: '# D', oldName: true },
        { name: 'big.txt', content: big },
        {
          name: 'manifest.ndjson',
          content: ndjson([
            { name: 'docs/a.md', metadata: { product: 'XK' }, idempotency_key: 'a' },
            { name: 'docs/missing.md', metadata: {} },
          ]),
        },
      ]),
    );
    expect(brief(results)).toEqual([
      'docs/a.md accepted',
      'docs/b.txt accepted',
      'docs/হাতল.md accepted',
      'ü.md accepted',
      'big.txt accepted',
      'docs/missing.md not_found',
    ]);
    const documents = (await ours.call('GET', `${base}/documents`)).body.data as {
      filename: string;
      metadata: unknown;
      size_bytes: number;
    }[];
    expect(documents.map(({ filename }) => filename)).toEqual(['a.md', 'b.txt', 'হাতল.md', 'ü.md', 'big.txt']);
    expect([documents[0]?.metadata, documents[4]?.size_bytes]).toEqual([{ product: 'XK' }, big.length]);
    // Neither the archive itself nor a half of anything is left.
    const ids = new Set(results.map(({ document_id: id }) => id));
    const left = (await means.files()).filter((path) => path.includes(ours.name) && ids.has(/doc_[0-9a-f-]{36}/.exec(path)?.[0] ?? ''));
    expect(left).toHaveLength(5);
  });

  it('has entries that fail alone: what climbs, lies, is damaged, locked, linked or of another kind', async () => {
    const base = await aBase();
    const before = (await means.files()).length;
    const results = resultsOf(
      await sendZip(base, [
        { name: 'good.md', content: '# Good' },
        { name: '../../etc/passwd.md', content: 'x' },
        { name: '/abs.md', content: 'x' },
        { name: 'C:\\abs.md', content: 'x' },
        { name: 'a\\..\\..\\b.md', content: 'x' },
        { name: 'crc.md', content: 'x', crc: 1 },
        { name: 'short.md', content: 'xxxx', declared: 2 },
        { name: 'long.md', content: 'x', declared: 4 },
        { name: 'junk.md', content: 'x', packed: Buffer.from([0xff, 0xff, 0xff, 0xff]) },
        { name: 'locked.md', content: 'x', encrypted: true },
        { name: 'link.md', content: '/etc/passwd', mode: 0o120_777 },
        { name: 'lzma.md', content: 'x', method: 14, packed: Buffer.from('x') },
        { name: 'photo.png', content: 'x' },
        { name: 'turned\u202e.md', content: 'x' },
        { name: 'huge.txt', content: 'x', declared: 51 * 1024 * 1024, packed: deflateRawSync(Buffer.alloc(4 * 1024 * 1024)) },
        { name: 'bigdamage.txt', content: Buffer.alloc(2 * 1024 * 1024, 'abc'), crc: 7, method: 0 },
        { name: 'last.md', content: '# Last' },
        // The ballast keeps the archive below the ratio of a bomb.
        { name: 'ballast.pdf', content: Buffer.alloc(1024 * 1024, 'x'), method: 0 },
      ]),
    );
    expect(brief(results)).toEqual([
      'good.md accepted',
      '../../etc/passwd.md bad_request',
      '/abs.md bad_request',
      'C:/abs.md bad_request',
      'a/../../b.md bad_request',
      'crc.md bad_request',
      'short.md bad_request',
      'long.md bad_request',
      'junk.md bad_request',
      'locked.md bad_request',
      'link.md bad_request',
      'lzma.md unsupported_media_type',
      'photo.png unsupported_media_type',
      'turned\u202e.md bad_request',
      'huge.txt payload_too_large',
      'bigdamage.txt bad_request',
      'last.md accepted',
      'ballast.pdf accepted',
    ]);
    expect(await total(base)).toBe(3);
    await eventually(async () => expect((await means.files()).length).toBe(before + 3));
  });

  it('is read in slices, its directory and its entries, where nothing in it can be used', async () => {
    const base = await aBase();
    const files = Array.from({ length: 500 }, (_, n) => ({ name: `/abs-${n}.md`, content: '' }));
    let answer: RestAnswer | undefined;
    const turns = await countTurns(async () => (answer = await sendZip(base, files)));
    expect(resultsOf(answer as RestAnswer).map(({ error }) => error?.code)).toEqual(files.map(() => 'bad_request'));
    expect(turns).toBeGreaterThanOrEqual(2 * files.length);
  });

  it('is refused as a whole where it is a bomb, too much, or no archive', async () => {
    const base = await aBase();
    const before = (await means.files()).length;
    const zeros = deflateRawSync(Buffer.alloc(40 * 1024 * 1024));
    const bomb: ZipEntry = { name: '0.txt', content: 'x', packed: zeros, declared: 40 * 1024 * 1024 };
    const refused: readonly (readonly [Buffer, number])[] = [
      [makeZip([bomb]), 413],
      // The entries share their bytes.
      [makeZip([bomb, ...Array.from({ length: 30 }, (_, n) => ({ ...bomb, name: `${n + 1}.txt`, overlaps: true }))]), 413],
      [makeZip(Array.from({ length: 10_001 }, (_, n) => ({ name: `${n}.md`, content: '' }))), 413],
      [Buffer.from('this is no zip'), 400],
      [makeZip([{ name: 'a.md', content: '# A' }]).subarray(0, 60), 400],
      [Buffer.alloc(0), 400],
      [
        makeZip([
          { name: 'a.md', content: '# A' },
          { name: 'manifest.ndjson', content: 'no JSON\n{"name": 5}\n' },
        ]),
        422,
      ],
    ];
    for (const [body, status] of refused) {
      const answer = await ours.call('POST', `${base}/documents/bulk`, body, { headers: archive });
      expect([answer.status, answer.text.length > 0], answer.text).toEqual([status, true]);
    }
    const announced = await new Promise<number | undefined>((resolve, reject) => {
      const sending = httpRequest(
        `${facade.url}${base}/documents/bulk`,
        {
          method: 'POST',
          agent: false,
          headers: { ...archive, authorization: `Bearer ${ours.key}`, 'content-length': String(300 * 1024 * 1024) },
        },
        ({ statusCode }) => {
          resolve(statusCode);
          sending.destroy();
        },
      );
      sending.on('error', reject);
      sending.flushHeaders();
    });
    expect(announced).toBe(413);
    expect(await total(base)).toBe(0);
    await eventually(async () => expect((await means.files()).length).toBe(before));
  });
});

describe('the route', () => {
  it('takes no other type, needs the permission, and shows nothing of another organisation', async () => {
    const base = await aBase();
    const path = `${base}/documents/bulk`;
    const body = ndjson(someFiles(1));
    for (const [headers, status] of [
      [{ 'content-type': 'application/json' }, 415],
      [{ 'content-type': 'multipart/form-data; boundary=x' }, 415],
      [{ ...lines, 'content-encoding': 'gzip' }, 415],
    ] as const)
      expect((await ours.call('POST', path, body, { headers })).status, JSON.stringify(headers)).toBe(status);
    expect((await ours.call('POST', all, body, { headers: lines })).status).toBe(415);
    expect((await ours.call('POST', `${all}/no-such-base/documents/bulk`, body, { headers: lines })).status).toBe(404);
    expect((await facade.call('POST', path, { body, headers: lines })).status).toBe(401);
    const reader = await ours.keyWith('knowledge_bases:read');
    expect((await facade.call('POST', path, { body, key: reader, headers: lines })).status).toBe(403);
    expect((await sendLines(base, body, theirs)).status).toBe(404);
    expect(await total(base)).toBe(0);

    // The same content and the same key in two organisations are two documents.
    const foreign = await aBase(theirs);
    const entry = ndjson([{ name: 'a.md', content: 'the same', idempotency_key: 'same' }]);
    const [own] = resultsOf(await sendLines(base, entry));
    const [other] = resultsOf(await sendLines(foreign, entry, theirs));
    expect([own?.existing, other?.existing]).toEqual([false, false]);
    expect(own?.document_id).not.toBe(other?.document_id);
  });

  it('counts 25 entries as one request, and slows down instead of refusing', async () => {
    const { classes } = limitsOf(loadConfig({ PARLEY_RATE_LIMIT_KEY_PER_SECOND: '2', PARLEY_RATE_LIMIT_KEY_BURST: '4' }));
    const limiter = limiterClock();
    let waits = 0;
    /** This clock goes on only where a request is waited for: half a second each. */
    const clock: Clock = {
      ...limiter.clock,
      after(ms, callback) {
        if (Math.round(ms) !== 500) return systemClock.after(ms, callback);
        waits += 1;
        limiter.move(500);
        return systemClock.after(0, callback);
      },
    };
    const limits = { ...unlimited, classes, exchangeMs: 0 };
    const limited = await startFacade({ database: facade.database, limits, knowledge: means.knowledge, clock });
    try {
      const base = await aBase();
      const key = await ours.keyWith('*');
      const answer = await limited.call('POST', `${base}/documents/bulk`, { body: ndjson(someFiles(175)), key, headers: lines });
      // Seven requests were made, of which four may come at once.
      expect(waits).toBe(3);
      expect(resultsOf(answer).every(({ status }) => status === 'accepted')).toBe(true);
    } finally {
      await limited.close();
    }
  });

  it('says of each entry that the storage is unavailable, and goes through them all', async () => {
    const away = new StorageError('unavailable', 'the bucket does not answer');
    const behind = await knowledgeMeans({
      files: { put: () => Promise.reject(away), read: () => Promise.reject(away), delete: () => Promise.reject(away) },
    });
    const without = await startFacade({ database: facade.database, knowledge: behind.knowledge });
    try {
      const base = await aBase();
      const sent = { body: ndjson([...someFiles(300), { name: 'x.png', content: '' }]), key: ours.key, headers: lines };
      const results = resultsOf(await without.call('POST', `${base}/documents/bulk`, sent));
      expect(results.slice(0, 300).every(({ error }) => error?.code === 'unavailable')).toBe(true);
      expect(results[300]?.error?.code).toBe('unsupported_media_type');
      expect(await total(base)).toBe(0);
    } finally {
      await without.close();
      await behind.close();
    }
  });

  it('is cut off where its body stops coming: what was answered is kept', async () => {
    const requestTimeoutMs = 2_100;
    const { clock, time } = requestClock(requestTimeoutMs);
    const limits = { ...unlimited, requestTimeoutMs };
    const hasty = await startFacade({ database: facade.database, limits, knowledge: means.knowledge, clock });
    try {
      const base = await aBase();
      let over: Promise<void> | undefined;
      /** The upload's time is over once so many lines of the answer have come. */
      const stalled = (first: string, answered: number) =>
        new Promise<{ readonly status: number; readonly text: string }>((resolve) => {
          let [status, text] = [0, ''];
          const sending = httpRequest(`${hasty.url}${base}/documents/bulk`, {
            method: 'POST',
            agent: false,
            headers: { ...lines, authorization: `Bearer ${ours.key}` },
          });
          sending.on('error', () => resolve({ status, text }));
          sending.on('response', (answer) => {
            status = answer.statusCode ?? 0;
            answer.on('data', (chunk: Buffer) => {
              text += chunk.toString();
              if (answered > 0 && text.split('\n').length > answered) over ??= time.advance(3 * requestTimeoutMs);
            });
            for (const event of ['error', 'end']) answer.on(event, () => resolve({ status, text }));
          });
          sending.write(first);
        });
      const begun = await stalled(ndjson(someFiles(2)), 2);
      await over;
      const waiting = stalled('{"name": "ha', 0);
      await eventually(() => expect(time.timers).toBe(1));
      await time.advance(3 * requestTimeoutMs);
      const nothing = await waiting;
      expect([begun.status, begun.text.trimEnd().split('\n').length]).toEqual([202, 2]);
      expect([nothing.status, JSON.parse(nothing.text)]).toEqual([408, expect.objectContaining({ error: 'request_timeout' })]);
      expect(await total(base)).toBe(2);
    } finally {
      await hasty.close();
    }
  });

  it('does what the page about it shows', async () => {
    const page = await readFile(join(repositoryRoot(), 'docs/knowledge/uploads.md'), 'utf8');
    const command =
      [...page.matchAll(/^```sh\n([^`]*)^```/gm)].map(([, block = '']) => block).find((block) => block.includes('curl')) ?? '';
    const base = await aBase();
    const env = { PARLEY_URL: facade.url, PARLEY_API_KEY: ours.key };
    const done = await run('bash', ['-c', command.replace('/api/v1/knowledge-bases/workshop-handbook', base)], { env });
    expect([done.code, done.stderr], done.stdout).toEqual([0, expect.any(String)]);
    const results = done.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Result);
    expect(brief(results)).toEqual(['hours.md accepted', 'reset.txt accepted']);
  });
});
