import { describe, expect, it } from 'vitest';

import type { KnowledgeBase } from '../../crds/index.ts';
import { storedObject } from '../../test/support/arbitrary-things.ts';
import { memorySnapshot, type DataEntry } from '../references/memory-snapshot.ts';
import { findCondition } from '../../crds/kind.ts';
import { planKnowledgeBase, type KnowledgeBasePlan } from './plan.ts';
import type { WantedDocument } from './sources.ts';
import type { KnowledgeView, SourceDocument } from './view.ts';

const now = Date.parse('2026-06-01T12:00:00Z');
const options = {
  now,
  profiles: [{ name: 'default', model: 'bm25', dimension: 0 }],
  rerankProfiles: [{ name: 'good' }],
  store: 'pgvector',
  deletionGraceMs: 60_000,
};
const finalizers = ['parley.dev/finalizer'];
const minute = 60_000;

const baseWith = (spec: object = {}, metadata: Readonly<Record<string, unknown>> = {}): KnowledgeBase =>
  storedObject('KnowledgeBase', 'faq', spec, { uid: 'uid-1', metadata: { finalizers, ...metadata } }) as KnowledgeBase;
const textNamed = (name: string, text: string): DataEntry => ({
  namespace: 'acme',
  name,
  uid: name,
  resourceVersion: '1',
  keys: ['text.md'],
  data: { 'text.md': text },
});
const worldOf = (configMaps: readonly DataEntry[] = []) => memorySnapshot({ organizations: ['acme'], configMaps });

const collection = { id: 'col_1', uid: 'uid-1', model: 'bm25', dimension: 0, language: 'en', maxTokens: 400, overlapTokens: 50 };
const holding = (sourceDocuments: readonly SourceDocument[] = [], more: Partial<Extract<KnowledgeView, { state: 'known' }>> = {}) =>
  ({
    state: 'known',
    collection,
    sourceDocuments,
    documents: { total: 0, processing: 0, completed: 0, failed: 0 },
    chunks: 0,
    ...more,
  }) as const;
const unavailable: KnowledgeView = { state: 'unavailable', why: 'Postgres does not answer' };

const plan = (
  base: KnowledgeBase,
  view: KnowledgeView = holding(),
  { configMaps = [], at = now }: { readonly configMaps?: readonly DataEntry[]; readonly at?: number } = {},
) => planKnowledgeBase(base, worldOf(configMaps), view, { ...options, now: at });
const types = (actions: KnowledgeBasePlan['actions']): readonly string[] => actions.map(({ type }) => type);
const discarded = (actions: KnowledgeBasePlan['actions']): readonly string[] =>
  actions.flatMap((action) => (action.type === 'discard' ? [action.documentId] : []));

function ingested(actions: KnowledgeBasePlan['actions']): WantedDocument {
  const [first, ...others] = actions.flatMap((action) => (action.type === 'ingest' ? [action.document] : []));
  if (first === undefined || others.length > 0) throw new Error(`not one document: ${JSON.stringify(actions)}`);
  return first;
}

/** Makes the document that was taken on, as it is a while later. */
const documentOf = (wanted: WantedDocument, id: string, fields: Partial<SourceDocument> = {}): SourceDocument => ({
  id,
  source: wanted.source,
  revision: wanted.sourceRevision,
  status: 'completed',
  queued: false,
  errorCode: null,
  message: '',
  progressAt: now - minute,
  ...fields,
});

describe('how far the documents are', () => {
  const at = (documents: { total: number; processing: number; completed: number; failed: number }, base = baseWith()) =>
    findCondition(plan(base, holding([], { documents })), 'Ingesting');

  it('is a condition of its own, which changes nothing about Ready', () => {
    expect(at({ total: 0, processing: 0, completed: 0, failed: 0 })).toBeUndefined();
    expect(at({ total: 1_400, processing: 1_358, completed: 42, failed: 0 })).toMatchObject({
      status: 'True',
      reason: 'DocumentsInProgress',
      message: '1,358 of 1,400 documents are being read',
    });
    expect(at({ total: 3, processing: 1, completed: 1, failed: 1 })?.message).toBe('1 of 3 documents is being read; 1 has failed');
    expect(at({ total: 1, processing: 0, completed: 1, failed: 0 })).toMatchObject({
      status: 'False',
      reason: 'DocumentsSettled',
      message: '1 document can be found',
    });
    for (const processing of [0, 1, 1_000]) {
      const { status } = plan(
        baseWith(),
        holding([], { documents: { total: 2_000, processing, completed: 2_000 - processing, failed: 0 } }),
      );
      expect(findCondition({ status }, 'Ready')?.status).toBe('True');
      expect([findCondition({ status }, 'Reconciling'), findCondition({ status }, 'Stalled')]).toEqual([undefined, undefined]);
    }
  });

  it('is what the status has while Postgres is unavailable', () => {
    const before = baseWith();
    const { status } = plan(before, holding([], { documents: { total: 2, processing: 1, completed: 1, failed: 0 } }));
    const { type, message, reason } = findCondition({ status }, 'Ingesting') ?? {};
    const shown = { ...before, ...(status !== undefined && { status }) };
    expect(findCondition(plan(shown, unavailable), 'Ingesting')).toMatchObject({ type, message, reason });
    expect(plan(shown, unavailable).status?.documents).toEqual(status?.documents);
  });
});

describe('the collection', () => {
  it('is made after the finalizer, and changed when the spec changes', () => {
    const without = plan(baseWith({}, { finalizers: [] }), { state: 'known', sourceDocuments: [] });
    expect(without.actions).toMatchObject([
      { type: 'addFinalizer' },
      { type: 'ensureCollection', spec: { org: 'acme', name: 'faq', uid: 'uid-1', model: 'bm25', language: 'en', maxTokens: 400 } },
    ]);
    expect(findCondition(without, 'Synced')).toMatchObject({ status: 'False', reason: 'CollectionPending' });
    expect(plan(baseWith()).actions).toEqual([]);
    expect(types(plan(baseWith({ documentLanguage: 'bn' })).actions)).toEqual(['ensureCollection']);
    expect(types(plan(baseWith({ chunking: { maxTokens: 200, overlapTokens: 0 } })).actions)).toEqual(['ensureCollection']);
    expect(types(plan(baseWith(), holding([], { collection: { ...collection, uid: 'former' } })).actions)).toEqual(['ensureCollection']);
  });

  it('shows what it holds', () => {
    const documents = { total: 3, processing: 1, completed: 1, failed: 1 };
    const { status } = plan(baseWith(), holding([], { documents, chunks: 12 }));
    expect(status).toMatchObject({
      documents,
      chunks: 12,
      store: 'pgvector',
      embedding: { model: 'bm25', dimension: 0 },
    });
    expect(findCondition({ status: status! }, 'Ready')).toMatchObject({ status: 'True', reason: 'Available' });
  });

  it('calls for a person when its vectors are of another model, and is asked once', () => {
    const pending = plan(baseWith(), { state: 'known', sourceDocuments: [] });
    const ensure = pending.actions.find((action) => action.type === 'ensureCollection');
    const conflict = { spec: ensure!.spec, message: 'its documents were embedded with model "e5"; change the profile back' };
    const result = plan(baseWith(), { state: 'known', sourceDocuments: [], conflict });
    expect(result.actions).toEqual([]);
    expect(findCondition(result, 'Stalled')).toMatchObject({ reason: 'EmbeddingModelMismatch', message: conflict.message });
    expect(types(plan(baseWith({ documentLanguage: 'bn' }), { state: 'known', sourceDocuments: [], conflict }).actions)).toContain(
      'ensureCollection',
    );
  });

  it('is searched as before while its rerank profile is not configured', () => {
    const { status, actions } = plan(baseWith({ reranking: { profile: 'better' } }), holding());
    expect(findCondition({ status }, 'Accepted')).toMatchObject({ status: 'False', reason: 'UnknownRerankProfile' });
    expect(findCondition({ status }, 'Stalled')).toMatchObject({
      message:
        'rerank profile "better" is not configured (configured: good); name a configured one or none, or add it to PARLEY_RERANK_PROFILES',
    });
    expect(types(actions)).not.toContain('ensureCollection');
    const known = plan(baseWith({ reranking: { profile: 'good' } }), holding());
    expect(findCondition(known, 'Accepted')).toMatchObject({ status: 'True' });
    expect(known.actions).toContainEqual(expect.objectContaining({ spec: expect.objectContaining({ rerankProfile: 'good' }) }));
  });

  it('stays as it is while the spec is not accepted', () => {
    const result = plan(baseWith({ embedding: { profile: 'missing' }, documentLanguage: 'bn' }), holding([], { chunks: 7 }));
    expect(result.actions).toEqual([]);
    expect(result.status).toMatchObject({ chunks: 7, embedding: { model: 'bm25' } });
    expect(findCondition(result, 'Synced')?.reason).toBe('CollectionWithheld');
  });

  it('is believed to be there while Postgres is unavailable, until something changes', () => {
    const { status } = plan(baseWith(), holding([], { chunks: 7 }));
    const base = { ...baseWith(), status: status! };
    const away = plan(base, unavailable);
    expect(away.actions).toEqual([]);
    expect(away.status).toEqual(status);
    const changed = plan({ ...base, metadata: { ...base.metadata, generation: 2 } }, unavailable);
    expect(findCondition(changed, 'Synced')).toMatchObject({ status: 'False', reason: 'StoreUnavailable' });
    expect(findCondition(changed, 'Reconciling')?.status).toBe('True');
    expect(changed.status).toMatchObject({ chunks: 7 });
  });

  it('is left alone while it is suspended', () => {
    expect(plan(baseWith({ suspend: true, documentLanguage: 'bn' }))).toMatchObject({ actions: [] });
  });
});

describe('a source in a ConfigMap', () => {
  const policy = baseWith({
    sources: [{ name: 'policy', type: 'ConfigMap', configMap: { name: 'texts', key: 'text.md' }, metadata: { topic: 'a' } }],
  });
  const texts = (text: string) => ({ configMaps: [textNamed('texts', text)] });
  const first = ingested(plan(policy, holding(), texts('one')).actions);
  const second = ingested(plan(policy, holding(), texts('two')).actions);
  const sourceOf = (...args: Parameters<typeof plan>) => plan(...args).status?.sources?.[0];

  it('becomes a document, once for each state of it', () => {
    expect(first).toMatchObject({
      kind: 'text',
      filename: 'text.md',
      content: 'one',
      bytes: 3,
      metadata: { topic: 'a' },
      source: 'policy',
    });
    const settled = plan(policy, holding([documentOf(first, 'doc_1')]), texts('one'));
    expect(settled.actions).toEqual([]);
    expect(settled.requeueAfterMs).toBeUndefined();
    expect(settled.status?.sources).toEqual([
      { name: 'policy', documentID: 'doc_1', state: 'Completed', lastRefreshedAt: '2026-06-01T11:59:00Z' },
    ]);
  });

  it.each<[string, { readonly sources: object; readonly chunking?: { readonly maxTokens: number; readonly overlapTokens: number } }]>([
    ['its metadata change', { sources: [{ ...policy.spec.sources![0]!, metadata: { topic: 'b' } }] }],
    ['documents are to be cut otherwise', { sources: policy.spec.sources!, chunking: { maxTokens: 100, overlapTokens: 0 } }],
  ])('becomes another document when %s', (_what, spec) => {
    const view = holding([documentOf(first, 'doc_1')], { collection: { ...collection, ...spec.chunking } });
    const again = ingested(plan(baseWith(spec), view, texts('one')).actions);
    expect(again.sourceRevision).not.toBe(first.sourceRevision);
  });

  it('keeps the former document while the new one is at work', () => {
    const served = documentOf(first, 'doc_1');
    expect(ingested(plan(policy, holding([served]), texts('two')).actions).content).toBe('two');
    const atWork = holding([served, documentOf(second, 'doc_2', { status: 'processing' })]);
    expect(plan(policy, atWork, texts('two')).actions).toEqual([]);
    expect(sourceOf(policy, atWork, texts('two'))).toMatchObject({ documentID: 'doc_1', state: 'Processing' });
  });

  it('keeps the former document when the new one fails, and says what is wrong, once in an event', () => {
    const failed = holding([
      documentOf(first, 'doc_1'),
      documentOf(second, 'doc_2', { status: 'failed', errorCode: 'empty_document', message: 'there is no text in it' }),
    ]);
    const result = plan(policy, failed, texts('two'));
    expect(result.actions).toEqual([]);
    const message = 'empty_document: there is no text in it; the previous content stays in use; retried when the source changes';
    expect(result.status?.sources).toMatchObject([{ documentID: 'doc_1', state: 'Failed', message }]);
    expect(result.notices).toEqual([{ type: 'Warning', reason: 'SourceFailed', message: `source "policy": ${message}` }]);
    expect(findCondition(result, 'Ready')?.status).toBe('True');
    expect(plan({ ...policy, status: result.status! }, failed, texts('two')).notices).toEqual([]);
  });

  it('lets a state that is at work come to its end before the next, and drops one that has not begun', () => {
    const served = documentOf(first, 'doc_1');
    const atWork = holding([served, documentOf(second, 'doc_2', { status: 'processing' })]);
    expect(plan(policy, atWork, texts('three')).actions).toEqual([]);
    const queued = plan(policy, holding([served, documentOf(second, 'doc_2', { status: 'processing', queued: true })]), texts('three'));
    // It may be completed at this very moment, and be all that there is.
    expect(queued.actions).toMatchObject([{ type: 'discard', documentId: 'doc_2', unlessCompleted: true }, { type: 'ingest' }]);
    expect(ingested(queued.actions).content).toBe('three');
  });

  it('goes back to a state that is still served, without reading it again', () => {
    const { actions } = plan(
      policy,
      holding([documentOf(first, 'doc_1'), documentOf(second, 'doc_2', { status: 'processing' })]),
      texts('one'),
    );
    expect(types(actions)).toEqual(['discard']);
    expect(discarded(actions)).toEqual(['doc_2']);
  });

  it('tries what may pass again, at growing intervals', () => {
    const failing = (attempt: number) =>
      holding([
        documentOf(first, `doc_${attempt}`, {
          status: 'failed',
          errorCode: 'embedding_failed',
          message: 'the server does not answer',
          revision: first.sourceRevision.replace('.1.', `.${attempt}.`),
          progressAt: now,
        }),
      ]);
    for (const [attempt, minutes] of [
      [1, 5],
      [2, 10],
      [3, 20],
      [20, 360],
    ] as const) {
      const waits = plan(policy, failing(attempt), texts('one'));
      expect(waits.actions).toEqual([]);
      expect(waits.requeueAfterMs).toBe(Math.min(minutes, 60) * minute);
      const due = ingested(plan(policy, failing(attempt), { ...texts('one'), at: now + minutes * minute }).actions);
      expect(due.sourceRevision).toContain(`.${attempt + 1}.`);
    }
  });

  it('tries what lasts again when somebody asks for it, once', () => {
    const failed = documentOf(first, 'doc_1', { status: 'failed', errorCode: 'corrupt_file', message: 'no' });
    expect(plan(policy, holding([failed]), texts('one')).actions).toEqual([]);
    const asked = { ...policy, metadata: { ...policy.metadata, annotations: { 'parley.dev/reconcile-requested-at': 'now' } } };
    const again = ingested(plan(asked, holding([failed]), texts('one')).actions);
    expect(again.sourceRevision).not.toBe(first.sourceRevision);
    const twice = plan(asked, holding([failed, documentOf(again, 'doc_2', { status: 'failed', errorCode: 'corrupt_file' })]), texts('one'));
    expect(types(twice.actions)).toEqual(['discard']);
    expect(discarded(twice.actions)).toEqual(['doc_1']);
    // A text that was read is the same however often somebody asks.
    expect(plan(asked, holding([documentOf(first, 'doc_1')]), texts('one')).actions).toEqual([]);
  });

  it('is missing: the former document stays in use, and the others go on', () => {
    const both = baseWith({
      sources: [
        { ...policy.spec.sources![0]!, configMap: { name: 'gone', key: 'text.md' } },
        { name: 'other', type: 'ConfigMap', configMap: { name: 'texts', key: 'text.md' } },
      ],
    });
    const result = plan(both, holding([documentOf(first, 'doc_1')]), texts('one'));
    expect(ingested(result.actions).source).toBe('other');
    expect(result.status?.sources?.[0]).toMatchObject({
      documentID: 'doc_1',
      state: 'Failed',
      message: expect.stringMatching(/^ConfigMap acme\/gone does not exist.*the previous content stays in use$/),
    });
    expect(findCondition(result, 'ResolvedRefs')?.reason).toBe('ConfigMapNotFound');
    expect(findCondition(result, 'Synced')?.status).toBe('True');
  });

  it.each([
    ['binary', { ...textNamed('texts', ''), data: {} }],
    ['with U+0000', textNamed('texts', 'a\0')],
    ['too large', textNamed('texts', 'x'.repeat(1024 * 1024 + 1))],
  ])('is not text: %s', (_what, entry) => {
    const result = plan(policy, holding(), { configMaps: [entry] });
    expect(result.actions).toEqual([]);
    expect(findCondition(result, 'ResolvedRefs')?.reason).toBe('SourceNotText');
  });

  it('is gone from the spec: its documents go', () => {
    const view = holding([documentOf(first, 'doc_1'), documentOf(second, 'doc_2', { status: 'processing' })]);
    const { actions, status } = plan(baseWith(), view);
    expect(discarded(actions)).toEqual(['doc_1', 'doc_2']);
    expect(actions).toMatchObject([{ unlessCompleted: false }, { unlessCompleted: false }]);
    expect(status?.sources).toBeUndefined();
  });
});

describe('a website', () => {
  const urls = ['https://example.com/a', 'https://example.com/b'];
  const siteWith = (more: object = {}, annotations: Readonly<Record<string, string>> = {}): KnowledgeBase =>
    baseWith({ sources: [{ name: 'site', type: 'Website', website: { urls }, ...more }] }, { annotations });
  const first = ingested(plan(siteWith()).actions);

  it('becomes one document', () => {
    expect(first).toMatchObject({ kind: 'website', filename: urls[0], urls });
    expect(plan(siteWith(), holding([documentOf(first, 'doc_1')]), { at: now + 1e12 }).actions).toEqual([]);
  });

  it('is read again when its time has come, and not before', () => {
    const hourly = siteWith({ refreshInterval: '1h' });
    const served = holding([documentOf(first, 'doc_1', { progressAt: now })]);
    const waiting = plan(hourly, served, { at: now + 20 * minute });
    expect(waiting).toMatchObject({ actions: [], requeueAfterMs: 40 * minute });
    const due = ingested(plan(hourly, served, { at: now + 60 * minute }).actions);
    expect(due.sourceRevision).not.toBe(first.sourceRevision);
    const refreshed = plan(hourly, holding([documentOf(due, 'doc_2', { progressAt: now + 61 * minute })]), { at: now + 61 * minute });
    expect(refreshed).toMatchObject({ actions: [], requeueAfterMs: 60 * minute });
  });

  it('never waits longer than a timer can', () => {
    const yearly = siteWith({ refreshInterval: '8760h' });
    expect(plan(yearly, holding([documentOf(first, 'doc_1')])).requeueAfterMs).toBe(60 * minute);
  });

  it('that fails is tried again with its next refresh at the latest', () => {
    const failed = documentOf(first, 'doc_1', { status: 'failed', errorCode: 'empty_document', message: 'no text', progressAt: now });
    const result = plan(siteWith({ refreshInterval: '2m' }), holding([failed]));
    expect(result).toMatchObject({ actions: [], requeueAfterMs: 2 * minute });
    expect(result.status?.sources?.[0]?.message).toBe('empty_document: no text; retried at 2026-06-01T12:02:00Z');
  });

  it('is read again when somebody asks for it, once', () => {
    const asked = siteWith({}, { 'parley.dev/reconcile-requested-at': '2026-06-01' });
    const again = ingested(plan(asked, holding([documentOf(first, 'doc_1')])).actions);
    expect(plan(asked, holding([documentOf(again, 'doc_2')])).actions).toEqual([]);
  });

  it('says which pages it lacks', () => {
    const message = '9 chunks can be found; 1 of 2 addresses could not be read: https://example.com/b (404)';
    const { status } = plan(siteWith(), holding([documentOf(first, 'doc_1', { message })]));
    expect(status?.sources).toMatchObject([{ state: 'Completed', message }]);
  });

  it('keeps messages within what a status may hold', () => {
    const failed = documentOf(first, 'doc_1', { status: 'failed', errorCode: 'stalled', message: '😀'.repeat(2_000) });
    const { status } = plan(siteWith(), holding([failed]));
    const { message = '' } = status?.sources?.[0] ?? {};
    expect(message.length).toBeLessThanOrEqual(1024);
    expect(message.isWellFormed()).toBe(true);
    expect(message).toContain('retried at');
  });
});

describe('deletion', () => {
  const deleting = (spec: object, secondsAgo: number): KnowledgeBase =>
    baseWith(spec, { deletionTimestamp: new Date(now - secondsAgo * 1_000).toISOString() });

  it.each([
    ['Delete', 'deleteCollection'],
    ['Retain', 'releaseCollection'],
    ['Orphan', 'releaseCollection'],
  ])('with the policy %s', (deletionPolicy, action) => {
    expect(types(plan(deleting({ deletionPolicy }, 0)).actions)).toEqual([action, 'dropFinalizer']);
    expect(types(plan(deleting({ deletionPolicy, suspend: true }, 0)).actions)).toEqual([action, 'dropFinalizer']);
    expect(plan(baseWith({}, { finalizers: [], deletionTimestamp: '2026-06-01T00:00:00Z' })).actions).toEqual([]);
  });

  it('waits for Postgres for a bounded time, and says until when', () => {
    const result = plan(deleting({}, 20), unavailable);
    expect(result).toMatchObject({ actions: [], requeueAfterMs: 40_000 });
    expect(findCondition(result, 'Ready')).toMatchObject({ reason: 'Deleting', message: expect.stringContaining('2026-06-01T12:00:40Z') });
  });

  it.each([
    ['the time is up', deleting({}, 61)],
    ['its policy is Orphan', deleting({ deletionPolicy: 'Orphan' }, 1)],
  ])('lets go when %s, and says what stays behind', (_when, base) => {
    const result = plan(base, unavailable);
    expect(types(result.actions)).toEqual(['dropFinalizer']);
    expect(result.notices).toMatchObject([
      { type: 'Warning', reason: 'Retained', message: expect.stringContaining('documents left in Postgres') },
    ]);
  });
});
