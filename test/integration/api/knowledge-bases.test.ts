import { describe, expect, it } from 'vitest';

import type { KnowledgeBase } from '../../../crds/index.ts';
import { workflowIds } from '../../../knowledge/jobs/names.ts';
import { aKnowledgeBase, anAgentRequest } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { type RestAnswer, brief, kubectl, kubectlJson, notLookedAt, organization, startFacade } from './facade.ts';
import { knowledgeMeans } from './knowledge-means.ts';

const all = '/api/v1/knowledge-bases';
const means = suiteFixture(knowledgeMeans);
const facade = suiteFixture(() => startFacade({ knowledge: means.knowledge }));
const ours = suiteFixture(() => organization(facade));

let count = 0;
const aName = (): string => `Manuals ${++count}`;
const make = async (org = ours, body: object = { name: aName() }): Promise<RestAnswer['body']> => {
  const answer = await org.call('POST', all, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
};
const stored = (id: string): Promise<KnowledgeBase> => kubectlJson<KnowledgeBase>(['get', 'knowledgebase', id, '-n', ours.name]);

describe('knowledge bases', () => {
  it('are made as resources, and come back as they were sent', async () => {
    const sent = { name: 'পণ্যের নির্দেশিকা', description: 'Everything we sell', document_language: 'bn' };
    const made = await ours.call('POST', `${all}/`, sent);
    expect([made.status, made.body]).toEqual([
      201,
      {
        id: expect.stringMatching(/^kb-[a-z2-7]{8}$/),
        organization_id: ours.name,
        user_id: 'user-1',
        ...sent,
        total_documents: 0,
        documents: { total: 0, processing: 0, completed: 0, failed: 0 },
        status: 'pending',
        state: notLookedAt,
        created_at: expect.any(String),
        updated_at: made.body.created_at,
      },
    ]);
    for (const slash of ['', '/']) {
      const read = await ours.call('GET', `${all}/${made.body.id}${slash}`);
      expect([read.status, read.body, read.headers.get('etag')]).toEqual([200, made.body, made.headers.get('etag')]);
    }
    expect((await stored(made.body.id)).spec).toMatchObject({
      displayName: sent.name,
      description: sent.description,
      documentLanguage: 'bn',
      deletionPolicy: 'Delete',
      embedding: { profile: 'default' },
    });
  });

  it('are English and without a description where only the name is sent', async () => {
    expect(await make()).toMatchObject({ description: null, document_language: 'en' });
    expect(await make(ours, { name: aName(), description: null, document_language: null })).toMatchObject({
      description: null,
      document_language: 'en',
    });
  });

  it('name a rerank profile, and drop it', async () => {
    const base = await make(ours, { name: aName(), rerank_profile: 'good' });
    expect(base.rerank_profile).toBe('good');
    expect((await stored(base.id)).spec.reranking).toEqual({ profile: 'good' });
    const without = await ours.call('PATCH', `${all}/${base.id}`, { rerank_profile: null });
    expect([without.status, without.body.rerank_profile]).toEqual([200, undefined]);
    expect((await stored(base.id)).spec.reranking).toBeUndefined();
    for (const refused of [
      await ours.call('POST', all, { name: aName(), rerank_profile: 'better' }),
      await ours.call('PATCH', `${all}/${base.id}`, { rerank_profile: 'better' }),
    ]) {
      expect([refused.status, brief(refused)]).toEqual([422, ['body.rerank_profile value_error']]);
      expect(refused.text).toContain('(configured: good)');
    }
  });

  it('take a PATCH: absent keeps, null brings the default back', async () => {
    const base = await make(ours, { name: aName(), description: 'd', document_language: 'de' });
    const path = `${all}/${base.id}`;
    const same = await ours.call('PATCH', path, base);
    expect([same.status, same.body]).toEqual([200, base]);
    const renamed = await ours.call('PATCH', path, { name: 'Else' });
    expect(renamed.body).toEqual({ ...base, name: 'Else', updated_at: expect.any(String) });
    const plain = await ours.call('PATCH', path, { description: null, document_language: null });
    expect(plain.body).toMatchObject({ name: 'Else', description: null, document_language: 'en' });
    expect((await ours.call('GET', path)).body).toEqual(plain.body);
  });

  it('say everything that is wrong with a request', async () => {
    expect(brief(await ours.call('POST', all, {}))).toEqual(['body.name missing']);
    expect(brief(await ours.call('POST', all, { name: '', description: 'x'.repeat(1501), document_language: 'e!' }))).toEqual([
      'body.name string_too_short',
      'body.description string_too_long',
      'body.document_language string_pattern_mismatch',
    ]);
    expect(brief(await ours.call('POST', all, { name: 'n', description: 'x\0', document_language: 'en-a' }))).toEqual([
      'body.document_language value_error',
      'body.description value_error',
    ]);
    const { id } = await make();
    expect(brief(await ours.call('PATCH', `${all}/${id}`, { name: null }))).toEqual(['body.name string_type']);
    expect(brief(await ours.call('PATCH', `${all}/${id}`, { description: '\0' }))).toEqual(['body.description value_error']);
    expect(brief(await ours.call('GET', `${all}?page_size=0`))).toEqual(['query.page_size greater_than_equal']);
  });

  it('have names that differ within the organisation, in any order of requests', async () => {
    const name = aName();
    const answers = await Promise.all(Array.from({ length: 8 }, () => ours.call('POST', all, { name })));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409, 409, 409, 409, 409]);
    const other = await make();
    expect((await ours.call('PATCH', `${all}/${other.id}`, { name })).status).toBe(409);
    expect((await make(await organization(facade), { name })).name).toBe(name);
    await kubectl(['create', '-f', '-'], aKnowledgeBase('by-hand', ours.name));
    await eventually(async () => expect((await ours.call('POST', all, { name: 'by-hand' })).status).toBe(409));
  });

  it('that want a name at the same moment, on two replicas: one gets it, and the others keep all that they have', async () => {
    const replica = await startFacade({ database: facade.database, knowledge: means.knowledge });
    try {
      const bases = await Promise.all(Array.from({ length: 4 }, () => make()));
      for (let round = 0; round < 4; round += 1) {
        const before = await Promise.all(bases.map(({ id }) => stored(id)));
        const change = { name: aName(), description: `round ${round}` };
        const answers = await Promise.all([
          ...bases.map(({ id }, index) => (index % 2 ? facade : replica).call('PATCH', `${all}/${id}`, { body: change, key: ours.key })),
          replica.call('POST', all, { body: change, key: ours.key }),
        ]);
        expect(answers.filter(({ status }) => status < 300)).toHaveLength(1);
        expect(answers.filter(({ status }) => status === 409)).toHaveLength(4);
        for (const [index, { id }] of bases.entries()) {
          const { spec } = await stored(id);
          if (answers[index]?.status === 409) expect(spec).toEqual(before[index]?.spec);
          else expect(spec).toMatchObject({ displayName: change.name, description: change.description });
        }
      }
    } finally {
      await replica.close();
    }
  });

  it('heed If-Match, dry_run and the ownership of others', async () => {
    const { id } = await make();
    const path = `${all}/${id}`;
    const stale = { headers: { 'if-match': '"1"' } };
    expect((await ours.call('PATCH', path, { name: 'x' }, stale)).status).toBe(412);
    expect((await ours.call('DELETE', path, undefined, stale)).status).toBe(412);
    expect((await ours.call('PATCH', `${path}?dry_run=true`, { name: 'Rehearsed' })).body.name).toBe('Rehearsed');
    expect((await ours.call('DELETE', `${path}?dry_run=true`)).body).toEqual({ data: {}, message: 'The knowledge base would be deleted' });
    expect((await ours.call('GET', path)).body.name).toMatch(/^Manuals/);
    const dry = await ours.call('POST', `${all}?dry_run=true`, { name: aName() });
    expect(dry.status).toBe(201);
    expect([dry.body.id, dry.body.state.reason]).toEqual(['', 'DryRun']);
    await kubectl(
      ['apply', '--server-side', '--field-manager=git', '--force-conflicts', '-f', '-'],
      aKnowledgeBase(id, ours.name, { description: 'from Git' }),
    );
    const conflict = await ours.call('PATCH', path, { description: 'from here' });
    expect([conflict.status, conflict.body.conflicts]).toEqual([409, [{ field: 'description', manager: 'git' }]]);
    expect((await ours.call('PATCH', `${path}?force=true`, { description: 'from here' })).body.description).toBe('from here');
  });

  it('are listed in pages, in the order of their creation, with the number of their documents', async () => {
    const org = await organization(facade);
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) ids.push((await make(org)).id);
    await org.call('POST', `${all}/${ids[1]}/documents/website`, { page_urls: ['https://example.com'] });
    const seen: [string, number][] = [];
    let token = '';
    do {
      const { body } = await org.call('GET', `${all}?page_size=2${token}`);
      for (const base of body.data) seen.push([base.id, base.total_documents]);
      token = body.next_page_token === null ? '' : `&page_token=${body.next_page_token}`;
    } while (token !== '');
    const byId = (a: [string, number], b: [string, number]): number => a[0].localeCompare(b[0]);
    expect(seen.toSorted(byId)).toEqual(ids.map((id, index): [string, number] => [id, index === 1 ? 1 : 0]).toSorted(byId));
    expect((await org.call('GET', `${all}/${ids[1]}`)).body.total_documents).toBe(1);
  });

  it('show what the operator says of the resource', async () => {
    const { id } = await make();
    const condition = (type: string, status: string) => ({
      type,
      status,
      reason: 'Test',
      message: '',
      lastTransitionTime: '2026-11-21T00:00:00Z',
    });
    for (const [conditions, status] of [
      [[condition('Ready', 'True')], 'ready'],
      [[condition('Ready', 'False'), condition('Stalled', 'True')], 'failed'],
      [[condition('Ready', 'False'), condition('Reconciling', 'True')], 'pending'],
    ] as const) {
      await kubectl([
        'patch',
        'knowledgebase',
        id,
        '-n',
        ours.name,
        '--subresource=status',
        '--type=merge',
        '-p',
        JSON.stringify({ status: { conditions } }),
      ]);
      await eventually(async () => expect((await ours.call('GET', `${all}/${id}`)).body.status).toBe(status));
    }
  });

  it('are deleted with all that is in them, also when an agent is made to let go of them and the resource would keep it', async () => {
    const base = await make();
    const path = `${all}/${base.id}`;
    await ours.call('POST', '/v2/ai-agents', anAgentRequest('Reader', { knowledge_base_id: base.id }));
    await kubectl(['patch', 'knowledgebase', base.id, '-n', ours.name, '--type=merge', '-p', '{"spec":{"deletionPolicy":"Retain"}}']);
    const { body: document } = await ours.call('POST', `${path}/documents/website`, { page_urls: ['https://example.com'] });
    const collection = await facade.store.knowledge.collections.byName({ org: ours.name, name: base.id });
    expect((await ours.call('DELETE', path)).status).toBe(409);
    const answer = await ours.call('DELETE', `${path}?force=true`);
    expect([answer.status, answer.body]).toEqual([200, { data: {}, message: 'The knowledge base was deleted' }]);
    expect(await facade.store.knowledge.collections.byName({ org: ours.name, name: base.id })).toBeUndefined();
    for (const [method, url] of [
      ['GET', path],
      ['DELETE', path],
      ['GET', `${path}/documents`],
      ['GET', `${path}/documents/${document.document_id}`],
    ] as const)
      expect((await ours.call(method, url)).text).toBe('{"error":"not_found","message":"Knowledge base not found"}');
    await expect(stored(base.id)).rejects.toThrow('NotFound');
    await eventually(async () => expect(await means.isStarted(workflowIds.clearCollection(collection?.id ?? ''))).toBe(true));
    expect((await make(ours, { name: base.name })).id).not.toBe(base.id);
  });

  it('need their own permissions', async () => {
    const { id } = await make();
    const reader = { key: await ours.keyWith('knowledge_bases:read') };
    const stranger = { key: await ours.keyWith('agents:write') };
    expect((await ours.call('GET', `${all}/${id}`, undefined, reader)).status).toBe(200);
    for (const [method, path, body] of [
      ['POST', all, { name: 'x' }],
      ['PATCH', `${all}/${id}`, {}],
      ['DELETE', `${all}/${id}`],
      ['POST', `${all}/${id}/documents/website`, { page_urls: ['https://example.com'] }],
    ] as const) {
      expect((await ours.call(method, path, body, reader)).status, path).toBe(403);
      expect((await ours.call(method, path, body, stranger)).status, path).toBe(403);
    }
    for (const path of [all, `${all}/${id}`, `${all}/${id}/documents`])
      expect((await ours.call('GET', path, undefined, stranger)).status).toBe(403);
    expect((await ours.call('POST', '/api/v1/vector/search', { query: 'x', knowledge_base_id: id }, stranger)).status).toBe(403);
  });
});
