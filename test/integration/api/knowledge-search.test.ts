import { beforeAll, describe, expect, it } from 'vitest';

import { SearchUnavailableError } from '../../../knowledge/search/search.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { type RestAnswer, brief, organization, startFacade, type TestOrganization } from './facade.ts';
import { knowledgeMeans } from './knowledge-means.ts';

const all = '/api/v1/knowledge-bases';
const path = '/api/v1/vector/search';
const means = suiteFixture(knowledgeMeans);
const facade = suiteFixture(() => startFacade({ knowledge: means.knowledge }));
let ours: TestOrganization;
let theirs: TestOrganization;
let base: string;
let theirBase: string;

const makeBase = async (org: TestOrganization, name: string): Promise<string> => (await org.call('POST', all, { name })).body.id;
const search = (body: object, org = ours): Promise<RestAnswer> => org.call('POST', path, { knowledge_base_id: base, ...body });

async function add(org: TestOrganization, to: string, filename: string, content: string, metadata: object = {}): Promise<string> {
  const form = new FormData();
  form.set('metadata', JSON.stringify(metadata));
  form.set('file', new Blob([content]), filename);
  const { status, body, text } = await org.call('POST', `${all}/${to}/documents/file`, form);
  expect(status, text).toBe(202);
  const id = body.document_id as string;
  await eventually(async () => {
    const answer = await org.call('GET', `${all}/${to}/documents/${id}/status`);
    expect(answer.body.status, answer.text).toBe('completed');
  });
  return id;
}

beforeAll(async () => {
  await means.startWorker(facade.database.url);
  [ours, theirs] = [await organization(facade), await organization(facade)];
  [base, theirBase] = [await makeBase(ours, 'Manuals'), await makeBase(theirs, 'Manuals')];
  await Promise.all([
    add(ours, base, 'device.md', '# Care\n\n## Reset\n\nHold the brass button for five seconds to reset the device.', {
      product: 'XK',
      year: 2026,
    }),
    add(ours, base, 'tent.md', '# Tent\n\nThe tent has a reset button too, of plastic.', { product: 'T"; DROP', public: true }),
    add(theirs, theirBase, 'secret.txt', 'The brass button opens the vault of the others.', { product: 'XK' }),
  ]);
});

describe('a search', () => {
  it('finds what was uploaded, best first, with its place', async () => {
    const { status, body } = await search({ query: 'how do I reset the brass button' });
    expect(status).toBe(200);
    expect(body.query).toBe('how do I reset the brass button');
    expect(body.results[0]).toEqual({
      chunk_id: expect.stringMatching(/^doc_.+:0$/),
      document_id: expect.stringMatching(/^doc_/),
      filename: 'device.md',
      content: expect.stringContaining('Hold the brass button'),
      snippet: 'Care\nReset\nHold the brass button for five seconds to reset the device.',
      score: expect.any(Number),
      chunk_index: 0,
      metadata: expect.objectContaining({ product: 'XK', year: 2026, heading_path: ['Care', 'Reset'] }),
    });
    const scores = body.results.map(({ score }: { score: number }) => score);
    expect(scores).toEqual(scores.toSorted((a: number, b: number) => b - a));
    expect((await search({ query: 'button', top_k: 1 })).body.results).toHaveLength(1);
    expect((await search({ query: 'zebra' })).body.results).toEqual([]);
    const empty = await makeBase(ours, 'Empty');
    expect((await search({ query: 'button', knowledge_base_id: empty })).body).toEqual({ query: 'button', results: [] });
  });

  it('can be narrowed to documents whose metadata equals what is asked for', async () => {
    const found = async (filter: unknown): Promise<string[]> => {
      const { status, body, text } = await search({ query: 'button', filter });
      expect(status, text).toBe(200);
      return body.results.map(({ filename }: { filename: string }) => filename).toSorted();
    };
    expect(await found(null)).toEqual(['device.md', 'tent.md']);
    expect(await found({ product: { $eq: 'XK' } })).toEqual(['device.md']);
    expect(await found({ year: { $eq: 2026 } })).toEqual(['device.md']);
    expect(await found({ year: { $eq: '2026' } })).toEqual([]);
    expect(await found({ public: { $eq: true } })).toEqual(['tent.md']);
    expect(await found({ product: { $eq: 'T"; DROP' } })).toEqual(['tent.md']);
    expect(await found({ product: { $eq: 'XK' }, public: { $eq: true } })).toEqual([]);
    expect(await found({ org: { $eq: theirs.name } })).toEqual([]);
    // The filter finds the document itself, too.
    expect(await found({ filename: { $eq: 'tent.md' } })).toEqual(['tent.md']);
    expect(await found({ title: { $eq: 'Tent' } })).toEqual(['tent.md']);
  });

  it('says what is wrong with the request, and never widens a filter', async () => {
    expect(brief(await ours.call('POST', path, {}))).toEqual(['body.query missing', 'body.knowledge_base_id missing']);
    expect(brief(await search({ query: '', top_k: 0 }))).toEqual(['body.query string_too_short', 'body.top_k greater_than_equal']);
    expect(brief(await search({ query: 'x'.repeat(2001), top_k: 101 }))).toEqual([
      'body.query string_too_long',
      'body.top_k less_than_equal',
    ]);
    for (const filter of [
      {},
      { additionalProp1: {} },
      { additionalProp1: { $eq: 'string' } },
      { product: {} },
      { product: 'XK' },
      { product: null },
      { product: ['XK'] },
      { product: { $ne: 'XK' } },
      { product: { $eq: 'XK', $ne: 'y' } },
      { product: { $eq: null } },
      { product: { $eq: ['XK'] } },
      { product: { $eq: { $eq: 'XK' } } },
      { product: { $eq: 'string' } },
      { product: { $eq: 'a\u0000' } },
      { 'a b': { $eq: 1 } },
      { ['x'.repeat(65)]: { $eq: 1 } },
      { "a' OR 1=1 --": { $eq: 1 } },
      Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`f${index}`, { $eq: 1 }])),
      'product',
      ['product'],
      { $or: [{ product: { $eq: 'XK' } }] },
    ]) {
      const answer = await search({ query: 'button', filter });
      expect(answer.status, JSON.stringify(filter)).toBe(422);
      expect(answer.body.detail[0].loc.slice(0, 2)).toEqual(['body', 'filter']);
    }
  });

  it('finds what is spoken: compounds, numbers in words, and whatever is said around the question', async () => {
    const german = (await ours.call('POST', all, { name: 'Haus', document_language: 'de' })).body.id;
    const notices = {
      'parken.txt': 'Die Parkgebühr beträgt 12 Euro.',
      'rauchen.txt': 'Es gilt ein Rauchverbot.',
      'fehler.txt': 'E17: Filter leeren.',
    };
    for (const [filename, content] of Object.entries(notices)) await add(ours, german, filename, content);
    for (const [query, filename] of [
      ['Hallo, ich wollte mal fragen: Kann ich bei Ihnen parken?', 'parken.txt'],
      ['darf man hier rauchen bitte', 'rauchen.txt'],
      ['fehler e siebzehn', 'fehler.txt'],
    ])
      expect((await search({ query, knowledge_base_id: german })).body.results[0], query).toMatchObject({ filename });
  });

  it('finds nothing of a document any more once it is deleted, in a thousand searches meanwhile', async () => {
    const doomed = await add(ours, base, 'doomed.txt', 'The zephyrine lever is doomed.');
    expect((await search({ query: 'zephyrine lever' })).body.results).toHaveLength(1);
    let gone = false;
    const late: unknown[] = [];
    const searchers = Array.from({ length: 20 }, async () => {
      for (let round = 0; round < 50; round += 1) {
        const after = gone;
        const { status, body } = await search({ query: 'zephyrine lever' });
        expect(status).toBe(200);
        if (after && body.results.length > 0) late.push(body.results);
      }
    });
    expect((await ours.call('DELETE', `${all}/${base}/documents/${doomed}`)).status).toBe(200);
    gone = true;
    await Promise.all(searchers);
    expect(late).toEqual([]);
  });

  it('is 503 with Retry-After, and no empty list, where a store is unavailable', async () => {
    const away = await knowledgeMeans({
      search: { search: () => Promise.reject(new SearchUnavailableError('the vector store does not answer')) },
    });
    const behind = await startFacade({ database: facade.database, knowledge: away.knowledge });
    const answer = await behind.call('POST', path, { body: { query: 'button', knowledge_base_id: base }, key: ours.key });
    expect([answer.status, answer.body]).toEqual([503, { error: 'unavailable', message: expect.any(String) }]);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    await behind.close();
    await away.close();
  });
});

describe('two organisations', () => {
  it("another's, unknown and impossible knowledge bases are one and the same 404, on every route", async () => {
    const form = (): FormData => {
      const data = new FormData();
      data.set('file', new Blob(['x']), 'a.txt');
      return data;
    };
    const { body: documents } = await theirs.call('GET', `${all}/${theirBase}/documents`);
    const foreign = documents.data[0].document_id as string;
    const routes: [string, (id: string) => Promise<RestAnswer>][] = [
      ['get', (id) => ours.call('GET', `${all}/${id}`)],
      ['patch', (id) => ours.call('PATCH', `${all}/${id}`, { name: 'Mine' })],
      ['delete', (id) => ours.call('DELETE', `${all}/${id}`)],
      ['documents', (id) => ours.call('GET', `${all}/${id}/documents`)],
      ['file', (id) => ours.call('POST', `${all}/${id}/documents/file`, form())],
      ['website', (id) => ours.call('POST', `${all}/${id}/documents/website`, { page_urls: ['https://example.com'] })],
      ['document', (id) => ours.call('GET', `${all}/${id}/documents/${foreign}`)],
      ['status', (id) => ours.call('GET', `${all}/${id}/documents/${foreign}/status`)],
      ['chunks', (id) => ours.call('GET', `${all}/${id}/documents/${foreign}/chunks`)],
      ['delete document', (id) => ours.call('DELETE', `${all}/${id}/documents/${foreign}`)],
      ['search', (id) => ours.call('POST', path, { query: 'vault', knowledge_base_id: decodeURIComponent(id) })],
    ];
    const ids = [
      theirBase,
      'kb-aaaaaaaaaaaaaaaa',
      'UPPER',
      'a_b',
      'a%2Fb',
      '%00',
      '-',
      '%C3%A9',
      `${theirs.name}%2F${theirBase}`,
      'x'.repeat(300),
      '%20',
      '{}',
      "'",
    ];
    for (const [name, ask] of routes) {
      for (const id of ids) {
        const { status, text, headers } = await ask(id);
        expect([status, text], `${name} ${id}`).toEqual([404, '{"error":"not_found","message":"Knowledge base not found"}']);
        const kept = [...headers.keys()].filter((header) => !['date', 'x-trace-id'].includes(header));
        expect(kept, `${name} ${id}`).toEqual([
          'cache-control',
          'connection',
          'content-length',
          'content-type',
          'keep-alive',
          'x-content-type-options',
        ]);
      }
    }
    expect((await theirs.call('GET', `${all}/${theirBase}`)).body.name).toBe('Manuals');
  });

  it('and so are documents of another knowledge base, whosever it is', async () => {
    const second = await makeBase(ours, 'Second');
    const { body: own } = await ours.call('GET', `${all}/${base}/documents`);
    const { body: foreign } = await theirs.call('GET', `${all}/${theirBase}/documents`);
    const ids = [own.data[0].document_id, foreign.data[0].document_id, 'doc_00000000-0000-7000-8000-000000000000', 'x', '%00', 'DOC'];
    const inSecond = async (method: string, suffix = ''): Promise<void> => {
      for (const id of ids) {
        const { status, text } = await ours.call(method, `${all}/${second}/documents/${id}${suffix}`);
        expect([status, text], `${method} ${id}`).toEqual([404, '{"error":"not_found","message":"Document not found"}']);
      }
    };
    for (const suffix of ['', '/status', '/chunks']) await inSecond('GET', suffix);
    await inSecond('DELETE');
    await ours.call('POST', `${all}/${second}/documents/website`, { page_urls: ['https://example.com'] });
    await inSecond('GET');
    expect((await search({ query: 'brass button', knowledge_base_id: second })).body.results).toEqual([]);
  });

  it('find their own only', async () => {
    expect((await search({ query: 'vault of the others' })).text).not.toContain('vault of the others.');
    const { body } = await search({ query: 'brass button', knowledge_base_id: theirBase }, theirs);
    expect(body.results.map(({ filename }: { filename: string }) => filename)).toEqual(['secret.txt']);
  });
});
