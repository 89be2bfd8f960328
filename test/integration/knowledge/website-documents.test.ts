import type { RequestListener } from 'node:http';

import { afterEach, expect, it } from 'vitest';

import { newDocumentId } from '../../../store/index.ts';
import { Servers } from '../../support/http-servers.ts';
import { knowledgeHarness, type KnowledgeHarness } from './harness.ts';

const servers = new Servers();
afterEach(() => servers.stop());

const site = async (listener: RequestListener): Promise<string> => `http://127.0.0.1:${(await servers.http(listener)).port}`;

async function addWebsite(kb: KnowledgeHarness, urls: readonly string[]): Promise<string> {
  const id = newDocumentId();
  const { id: collectionId } = kb.collection;
  await kb.store.knowledge.documents.create({ org: 'acme', id, collectionId, kind: 'website', filename: urls[0] ?? '', urls });
  await kb.knowledge.jobs.ingest({ org: 'acme', knowledgeBase: 'manuals', collectionId, documentId: id, small: true });
  return id;
}

const page = (title: string, text: string) =>
  `<!doctype html><html><head><title>${title}</title></head><body><nav>menu</nav><main><h1>${title}</h1><p>${text}</p><p>${'More about it. '.repeat(20)}</p></main></body></html>`;

it('makes one document of the pages that can be read, and says which could not', async () => {
  const url = await site((request, response) => {
    if (request.url === '/robots.txt') return void response.end('User-agent: *\nDisallow: /private');
    if (request.url === '/gone') return void response.writeHead(404).end();
    if (request.url === '/prices')
      return void response.setHeader('content-type', 'text/html; charset=utf-8').end(page('Prices', 'A service costs 45 dollars.'));
    return void response.setHeader('content-type', 'text/html').end(page('Hours', 'We are open until six.'));
  });
  const kb = await knowledgeHarness();
  const id = await addWebsite(kb, [`${url}/hours`, `${url}/gone`, `${url}/private/x`, `${url}/prices`]);
  const document = await kb.ended(id);
  expect(document).toMatchObject({
    status: 'completed',
    pageOutcomes: [{ status: 'fetched' }, { status: 'failed' }, { status: 'failed' }, { status: 'fetched' }],
  });
  expect(document.message).toMatch(/2 of 4 addresses could not be read/);
  expect(document.message).toContain(`${url}/gone`);
  const [hit] = await kb.search('what does a service cost');
  expect(hit).toMatchObject({
    documentId: id,
    metadata: { url: `${url}/prices`, heading_path: ['Prices'], title: 'Prices' },
    content: expect.stringContaining('45 dollars'),
  });
  expect(hit?.content).not.toContain('menu');
  const hours = await kb.search('when are you open', { filter: { title: 'Hours' } });
  expect(hours.map(({ metadata }) => metadata['url'])).toEqual([`${url}/hours`]);
});

it('fails when no page can be read, with the reason for each', async () => {
  const url = await site((_, response) => void response.writeHead(500).end());
  const kb = await knowledgeHarness();
  const document = await kb.ended(
    await addWebsite(kb, [`${url}/a`, 'http://169.254.169.254/latest/meta-data', 'http://metadata.internal./x']),
  );
  expect(document).toMatchObject({ status: 'failed', errorCode: 'all_pages_failed', chunkCount: 0 });
  expect(document.message).toContain('169.254.169.254');
});

it('lets neither a file nor another website wait for sites that do not answer', async () => {
  const silent = await site((request, response) => void (request.url === '/robots.txt' && response.writeHead(404).end()));
  const quick = await site(
    (_, response) => void response.setHeader('content-type', 'text/html').end(page('Hours', 'We are open until six.')),
  );
  const kb = await knowledgeHarness({ env: { PARLEY_INGESTION_CONCURRENCY: '1', PARLEY_SHUTDOWN_TIMEOUT_MS: '2000' } });
  const slow: string[] = [];
  for (let index = 0; index < 3; index += 1)
    slow.push(
      await addWebsite(
        kb,
        ['a', 'b', 'c', 'd', 'e'].map((name) => `${silent}/${index}/${name}`),
      ),
    );
  const website = await addWebsite(kb, [`${quick}/hours`]);
  const file = await kb.add('hours.txt', 'We are open until six.');
  expect(await kb.ended(website)).toMatchObject({ status: 'completed' });
  expect(await kb.ended(file)).toMatchObject({ status: 'completed' });
  for (const id of slow) expect(await kb.store.knowledge.documents.get({ org: 'acme', id })).toMatchObject({ status: 'processing' });
});
