/** Asks for knowledge bases while a server behind the facade is unavailable. */
import { describe, expect, it } from 'vitest';

import { KubeError, type Transport } from '../../../kube/index.ts';
import { defaultLimits, patientRequestMs } from '../../support/limits.ts';
import { limiterClock } from '../../support/request-clock.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { organization, startFacade, type RestAnswer } from './facade.ts';
import { knowledgeMeans } from './knowledge-means.ts';

const all = '/api/v1/knowledge-bases';
const means = suiteFixture(knowledgeMeans);
const facade = suiteFixture(() => startFacade({ knowledge: means.knowledge }));
const org = suiteFixture(() => organization(facade));

const unreachable = (): Promise<never> => Promise.reject(new KubeError({ code: 0, reason: 'Unreachable', message: 'away' }));
/** Makes a replica that started after the API server had gone: it knows no resources at all. */
const away = (inner: Transport): Transport => ({
  server: inner.server,
  request: unreachable,
  stream: unreachable,
  close: () => inner.close(),
});

describe('without the Kubernetes API', () => {
  it('documents come and go and are searched, in every knowledge base that has ever had one', async () => {
    const { body: base } = await org.call('POST', all, { name: 'Manuals' });
    const { body: fresh } = await org.call('POST', all, { name: 'Fresh' });
    const website = { page_urls: ['https://example.com'] };
    const { body: first } = await org.call('POST', `${all}/${base.id}/documents/website`, website);
    const behind = await startFacade({ database: facade.database, wrap: away, knowledge: means.knowledge, ready: false });
    const ask = (method: string, path: string, body?: unknown): Promise<RestAnswer> =>
      behind.call(method, path, { key: org.key, ...(body !== undefined && { body }) });
    const form = new FormData();
    form.set('file', new Blob(['x']), 'a.txt');

    expect((await ask('POST', '/api/v1/vector/search', { query: 'x', knowledge_base_id: base.id })).body).toEqual({
      query: 'x',
      results: [],
    });
    const second = await ask('POST', `${all}/${base.id}/documents/file`, form);
    expect(second.status, second.text).toBe(202);
    expect((await ask('POST', `${all}/${base.id}/documents/website`, website)).status).toBe(202);
    expect((await ask('GET', `${all}/${base.id}/documents`)).body.data).toHaveLength(3);
    for (const suffix of ['', '/status', '/chunks'])
      expect((await ask('GET', `${all}/${base.id}/documents/${first.document_id}${suffix}`)).status).toBe(200);
    expect((await ask('DELETE', `${all}/${base.id}/documents/${first.document_id}`)).status).toBe(200);

    for (const [method, path, body] of [
      ['GET', all],
      ['GET', `${all}/${base.id}`],
      ['PATCH', `${all}/${base.id}`, { name: 'x' }],
      ['DELETE', `${all}/${base.id}`],
      ['POST', all, { name: 'x' }],
      // Whether these exist is unknown now.
      ['POST', `${all}/${fresh.id}/documents/website`, website],
      ['POST', '/api/v1/vector/search', { query: 'x', knowledge_base_id: fresh.id }],
    ] as const) {
      const answer = await ask(method, path, body);
      expect([answer.status, answer.body.error], `${method} ${path}`).toEqual([503, 'unavailable']);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    // Nothing was lost with the deletion that could not be carried out.
    expect((await org.call('GET', `${all}/${base.id}/documents`)).body.data).toHaveLength(2);
    await behind.close();
  });
});

describe('what is searched too often', () => {
  it('is turned away for the whole organisation, and nothing else is', async () => {
    // Nothing is refilled, however long the requests take.
    const { clock } = limiterClock();
    const shipped = await startFacade({
      database: facade.database,
      limits: { ...defaultLimits, requestTimeoutMs: patientRequestMs, exchangeMs: 0 },
      clock,
      knowledge: means.knowledge,
    });
    const other = await org.keyWith('knowledge_bases:read');
    const search = (key: string): Promise<RestAnswer> =>
      shipped.call('POST', '/api/v1/vector/search', { key, body: { query: 'x', knowledge_base_id: 'nobodys' } });
    const first = await search(org.key);
    expect(first.status).toBe(404);
    expect(first.headers.get('ratelimit-policy')).toContain('40;w=2;comment="search"');
    const rest = await Promise.all(Array.from({ length: 100 }, (_, index) => search(index % 2 === 0 ? org.key : other)));
    const refused = rest.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(100 - 39);
    expect(refused[0]?.body.message).toContain('your organisation has made too many requests');
    expect((await shipped.call('GET', all, { key: org.key })).status).toBe(200);
    expect(
      (
        await shipped.call('POST', '/api/v1/vector/search', {
          key: (await organization(facade)).key,
          body: { query: 'x', knowledge_base_id: 'x' },
        })
      ).status,
    ).toBe(404);
    await shipped.close();
  });
});
