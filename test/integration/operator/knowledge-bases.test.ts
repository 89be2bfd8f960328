/** Runs knowledge bases under an operator, with a real API server, Postgres and Temporal; the test plays the worker's part. */
import { createHash, randomBytes } from 'node:crypto';

import { Client, Connection } from '@temporalio/client';
import { Client as PostgresClient } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { workflowIds } from '../../../knowledge/jobs/names.ts';
import { newDocumentId, type DocumentRecord } from '../../../store/index.ts';
import { aConfigMap, aKnowledgeBase, type TestManifest } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import type { RunningRole } from '../../support/running-role.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startProxyOf, startTcpProxy } from '../../support/tcp-proxy.ts';
import { temporalAddress } from '../../support/temporal.ts';
import { condition, metricTotal, startCluster, type AnyObject } from './harness.ts';
import { completeDocument } from '../../support/complete-document.ts';

const cluster = suiteFixture(startCluster);
const postgres = suiteFixture(() => startProxyOf(cluster.databaseUrl));
let temporal: Connection;
let operator: RunningRole;

const taskQueue = `test-${randomBytes(4).toString('hex')}`;

beforeAll(async () => {
  temporal = await Connection.connect({ address: await temporalAddress() });
});
afterAll(() => temporal?.close());

async function startOperator(env: Readonly<Record<string, string>> = {}): Promise<RunningRole> {
  const url = new URL(cluster.databaseUrl);
  url.port = String(postgres.port);
  return cluster.operator({
    env: {
      DATABASE_URL: url.href,
      TEMPORAL_ADDRESS: await temporalAddress(),
      TEMPORAL_TASK_QUEUE: taskQueue,
      PARLEY_LOG_LEVEL: 'silent',
      ...env,
    },
  });
}

async function asAdministrator(use: (admin: PostgresClient) => Promise<unknown>): Promise<void> {
  const admin = new PostgresClient({ connectionString: cluster.databaseUrl });
  await admin.connect();
  try {
    await use(admin);
  } finally {
    await admin.end();
  }
}

/** Returns a knowledge base whose source is the ConfigMap `texts`. */
const withText = (org: string, spec: TestManifest['spec'] = {}): TestManifest =>
  aKnowledgeBase('faq', org, {
    sources: [{ name: 'policy', type: 'ConfigMap', configMap: { name: 'texts', key: 'policy.md' }, metadata: { topic: 'terms' } }],
    ...spec,
  });
const texts = (org: string, text: string): TestManifest => aConfigMap('texts', { 'policy.md': text }, org);

const collectionOf = (org: string, name = 'faq') => cluster.store.knowledge.collections.byName({ org, name });

async function documentsOf(org: string): Promise<readonly DocumentRecord[]> {
  const collection = await collectionOf(org);
  return collection === undefined ? [] : cluster.store.knowledge.documents.ofSources({ org, collectionId: collection.id });
}

/** Waits for so many documents of sources, and returns the newest. */
async function newestOf(org: string, count: number): Promise<DocumentRecord> {
  return eventually(async () => {
    const documents = await documentsOf(org);
    expect(documents).toHaveLength(count);
    return documents.at(-1)!;
  });
}

/** Completes a document as the worker does with one that it can read. */
async function complete({ org, id }: DocumentRecord): Promise<void> {
  const { ingestion } = cluster.store.knowledge;
  await ingestion.parsed({ org, id }, { warnings: [], chunkCount: 2, termTotal: 4, terms: { terms: [7], chunks: [2] } });
  expect(await completeDocument(cluster.store.knowledge, { org, id })).toBeDefined();
}

/** Waits until Temporal knows of the workflow, whether somebody works on it or not. */
async function untilStarted(workflowId: string): Promise<void> {
  const handle = new Client({ connection: temporal }).workflow.getHandle(workflowId);
  await eventually(() => handle.describe());
}

interface ShownSource {
  readonly documentID?: string;
  readonly state: string;
  readonly message?: string;
}

const sourcesOf = (object: AnyObject): readonly ShownSource[] => (object.status?.['sources'] ?? []) as readonly ShownSource[];

async function untilGone(org: string): Promise<void> {
  await eventually(async () => expect(await cluster.get('KnowledgeBase', org, 'faq').catch(() => 'gone')).toBe('gone'));
}

describe('with everything there', () => {
  beforeAll(async () => {
    operator = await startOperator({ PARLEY_RERANK_PROFILES: '[{"name":"good","provider":"cohere","model":"rerank-v3.5"}]' });
  });
  afterAll(() => operator.stop());

  it('has the collection follow the rerank profile, and keeps what it has while the profile is unknown', async () => {
    const org = await cluster.organization();
    const reranked = (profile: string | undefined) => aKnowledgeBase('faq', org, profile === undefined ? {} : { reranking: { profile } });
    await cluster.apply(reranked('good'));
    await cluster.ready('KnowledgeBase', org, 'faq');
    expect((await collectionOf(org))?.rerankProfile).toBe('good');
    await cluster.apply(reranked('better'));
    await cluster.until('KnowledgeBase', org, 'faq', (object) =>
      expect(condition(object, 'Accepted')).toMatchObject({ status: 'False', reason: 'UnknownRerankProfile' }),
    );
    expect((await collectionOf(org))?.rerankProfile).toBe('good');
    await cluster.apply(reranked(undefined));
    await eventually(async () => expect((await collectionOf(org))?.rerankProfile).toBeUndefined());
    await cluster.ready('KnowledgeBase', org, 'faq');
  });

  it('writes no status for what does not show, shows how far 1,400 documents are, and stays ready', async () => {
    const org = await cluster.organization();
    await cluster.apply(aKnowledgeBase('faq', org));
    const before = await cluster.ready('KnowledgeBase', org, 'faq');
    const writes = () => metricTotal(operator.registry, 'parley_status_writes_total', { kind: 'KnowledgeBase' });
    const reconciles = () => metricTotal(operator.registry, 'controller_runtime_reconcile_total', { controller: 'knowledgebase' });
    const notified = async (times: number): Promise<void> => {
      const seen = await reconciles();
      const notify = "SELECT pg_notify('parley_knowledge', $1 || '/faq') FROM generate_series(1, $2)";
      await asAdministrator((admin) => admin.query(notify, [org, times]));
      await eventually(async () => expect(await reconciles()).toBeGreaterThan(seen));
    };
    // A write can be seen before it is counted.
    const written = await eventually(async () => {
      const count = await writes();
      await notified(1);
      expect(await writes()).toBe(count);
      return count;
    });
    await notified(500);
    expect((await cluster.get('KnowledgeBase', org, 'faq')).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    expect(await writes()).toBe(written);

    const { id: collectionId } = (await collectionOf(org))!;
    const files = Array.from({ length: 1_400 }, (_, n) => aFile(n));
    for (let at = 0; at < files.length; at += 200)
      await cluster.store.knowledge.bulk.create({ org, collectionId, createdBy: null }, files.slice(at, at + 200));
    const untilCounted = (counts: object) =>
      cluster.until('KnowledgeBase', org, 'faq', (object) => expect(object.status?.['documents']).toMatchObject(counts));
    const reading = await untilCounted({ total: 1_400, processing: 1_400, completed: 0 });
    expect(condition(reading, 'Ingesting')).toMatchObject({
      status: 'True',
      reason: 'DocumentsInProgress',
      message: '1,400 of 1,400 documents are being read',
    });
    const { ingestion } = cluster.store.knowledge;
    for (const { id } of files.slice(0, 60)) await finish({ org, id });
    for (const { id } of files.slice(60, 62)) await ingestion.fail({ org, id }, { code: 'corrupt_file', message: 'damaged' });
    await asAdministrator((admin) =>
      admin.query("UPDATE parley.documents SET status = 'completed', stage = 'completed' WHERE org = $1 AND status = 'processing'", [org]),
    );
    await finish({ org, id: await oneMore(org, collectionId) });
    const settled = await untilCounted({ total: 1_401, processing: 0, completed: 1_399, failed: 2 });
    expect(condition(settled, 'Ingesting')).toMatchObject({
      status: 'False',
      reason: 'DocumentsSettled',
      message: expect.stringMatching(/^1,399 of 1,401 documents can be found; 2 have failed: /),
    });
    // Ingestion never changed whether the knowledge base is ready.
    for (const object of [reading, settled]) expect(condition(object, 'Ready')).toEqual(condition(before, 'Ready'));
  });

  const finish = async ({ org, id }: { readonly org: string; readonly id: string }): Promise<void> => {
    const { ingestion } = cluster.store.knowledge;
    await ingestion.parsed({ org, id }, { warnings: [], chunkCount: 1, termTotal: 1, terms: { terms: [7], chunks: [1] } });
    expect(await completeDocument(cluster.store.knowledge, { org, id })).toBeDefined();
  };
  const oneMore = async (org: string, collectionId: string): Promise<string> => {
    const file = aFile(9_999);
    await cluster.store.knowledge.bulk.create({ org, collectionId, createdBy: null }, [file]);
    return file.id;
  };
  const aFile = (n: number) => {
    const contentSha256 = createHash('sha256').update(`${n}`).digest('hex');
    const id = newDocumentId();
    return { id, key: `key:${n}`, filename: `${n}.txt`, extension: 'txt', objectKey: `none/${id}`, bytes: 1, contentSha256, metadata: {} };
  };

  it.concurrent('makes a collection, and follows the text of a ConfigMap', async () => {
    const org = await cluster.organization();
    await cluster.apply(withText(org));
    const waiting = await cluster.reason('KnowledgeBase', org, 'faq', 'ResolvedRefs', 'ConfigMapNotFound');
    expect(condition(waiting, 'Synced')).toMatchObject({ status: 'True', reason: 'CollectionReady' });
    expect(waiting.metadata.finalizers).toEqual(['parley.dev/finalizer']);

    await cluster.apply(texts(org, '# One'));
    const ready = await cluster.ready('KnowledgeBase', org, 'faq');
    expect(ready.status).toMatchObject({ embedding: { model: 'bm25', dimension: 0 }, store: 'pgvector' });
    const first = await newestOf(org, 1);
    expect(first).toMatchObject({
      kind: 'text',
      filename: 'policy.md',
      status: 'processing',
      metadata: { topic: 'terms' },
      source: 'policy',
    });
    expect(await cluster.store.knowledge.documents.content(first)).toBe('# One');
    await untilStarted(workflowIds.ingestion(first.id));

    await complete(first);
    await cluster.until('KnowledgeBase', org, 'faq', (object) => {
      expect(object.status).toMatchObject({ documents: { total: 1, processing: 0, completed: 1, failed: 0 }, chunks: 2 });
      expect(sourcesOf(object)).toMatchObject([{ name: 'policy', documentID: first.id, state: 'Completed' }]);
    });

    await cluster.apply(texts(org, '# Two'));
    const second = await newestOf(org, 2);
    // Until the new one is there, the former one is found.
    expect(await documentsOf(org)).toMatchObject([{ id: first.id, status: 'completed' }, { status: 'processing' }]);
    await complete(second);
    expect(await documentsOf(org)).toMatchObject([{ id: second.id, status: 'completed' }]);

    await cluster.apply(texts(org, '# Three'));
    const third = await newestOf(org, 2);
    await cluster.store.knowledge.ingestion.fail(third, { code: 'empty_document', message: 'there is no text in it' });
    const failed = await cluster.until('KnowledgeBase', org, 'faq', (object) => sourcesOf(object)[0]?.state === 'Failed');
    expect(sourcesOf(failed)).toMatchObject([{ documentID: second.id, message: expect.stringContaining('there is no text in it') }]);
    expect(condition(failed, 'Ready')?.status).toBe('True');
    await eventually(async () => {
      const events = await cluster.client<never>('Event').list({ namespace: org });
      expect(events.items.map((event) => (event as { readonly reason?: string }).reason)).toContain('SourceFailed');
    });

    await cluster.apply(withText(org, { sources: [] }));
    await eventually(async () => expect(await documentsOf(org)).toEqual([]));
    await untilStarted(workflowIds.clearDocument(second.id));
    const emptied = await cluster.until('KnowledgeBase', org, 'faq', (object) => sourcesOf(object).length === 0);
    expect(emptied.status).toMatchObject({ documents: { total: 0 }, chunks: 0 });
  });

  it.concurrent('reads a website again in its time, and when somebody asks for it', async () => {
    const org = await cluster.organization();
    const site = aKnowledgeBase('faq', org, {
      sources: [{ name: 'site', type: 'Website', website: { urls: ['https://example.com/'] }, refreshInterval: '1h' }],
    });
    await cluster.apply(site);
    const first = await newestOf(org, 1);
    expect(first).toMatchObject({ kind: 'website', urls: ['https://example.com/'], filename: 'https://example.com/' });
    await complete(first);
    await asAdministrator((admin) =>
      admin.query("UPDATE parley.documents SET progress_at = now() - interval '61 minutes' WHERE id = $1", [first.id]),
    );
    await asAdministrator((admin) => admin.query("SELECT pg_notify('parley_knowledge', $1)", [`${org}/faq`]));
    const second = await newestOf(org, 2);
    await complete(second);

    await cluster.apply({ ...site, metadata: { ...site.metadata, annotations: { 'parley.dev/reconcile-requested-at': 'today' } } });
    const third = await newestOf(org, 2);
    expect(third.id).not.toBe(second.id);
    await complete(third);
    const handled = await cluster.until('KnowledgeBase', org, 'faq', (object) => sourcesOf(object)[0]?.documentID === third.id);
    expect(handled.status?.['lastHandledReconcileAt']).toBe('today');
    expect(await documentsOf(org)).toHaveLength(1);
  });

  it.concurrent('keeps the documents of a deleted one for the next of its name, or deletes them with it', async () => {
    const org = await cluster.organization();
    await cluster.apply(texts(org, '# One'), withText(org));
    const document = await newestOf(org, 1);
    await complete(document);
    const { id } = (await collectionOf(org))!;
    await cluster.remove('KnowledgeBase', org, 'faq');
    await untilGone(org);
    expect(await collectionOf(org)).toBeUndefined();

    await cluster.apply(withText(org, { deletionPolicy: 'Delete' }));
    const taken = await cluster.until('KnowledgeBase', org, 'faq', (object) => sourcesOf(object)[0]?.state === 'Completed');
    expect(sourcesOf(taken)).toMatchObject([{ documentID: document.id }]);
    expect(taken.status).toMatchObject({ documents: { total: 1 }, chunks: 2 });
    expect(await collectionOf(org)).toMatchObject({ id, released: false, uid: taken.metadata.uid });

    await cluster.remove('KnowledgeBase', org, 'faq');
    await untilGone(org);
    expect(await collectionOf(org)).toBeUndefined();
    expect(await cluster.store.knowledge.collections.get({ org, id })).toMatchObject({ deleted: true });
    await untilStarted(workflowIds.clearCollection(id));

    await cluster.apply(withText(org));
    await cluster.ready('KnowledgeBase', org, 'faq');
    expect((await collectionOf(org))?.id).not.toBe(id);
  });

  it.concurrent('refuses to mix vectors of two models, and goes on when they are gone', async () => {
    const org = await cluster.organization();
    const spec = {
      org,
      name: 'faq',
      uid: 'former',
      profile: 'e5',
      model: 'e5',
      dimension: 384,
      language: 'en',
      maxTokens: 400,
      overlapTokens: 50,
    };
    await cluster.store.knowledge.collections.ensure(spec);
    await cluster.store.knowledge.collections.release({ org, uid: 'former' });
    await cluster.apply(aKnowledgeBase('faq', org));
    const refused = await cluster.reason('KnowledgeBase', org, 'faq', 'Synced', 'EmbeddingModelMismatch');
    expect(condition(refused, 'Stalled')?.message).toMatch(
      /embedded with model "e5" \(384 dimensions\).*make a knowledge base of another name/,
    );

    const base = aKnowledgeBase('faq', org);
    const request = (time: string): Promise<void> =>
      cluster.apply({ ...base, metadata: { ...base.metadata, annotations: { 'parley.dev/reconcile-requested-at': time } } });
    await request('too early');
    const stillRefused = await cluster.until(
      'KnowledgeBase',
      org,
      'faq',
      (object) => object.status?.['lastHandledReconcileAt'] === 'too early',
    );
    expect(condition(stillRefused, 'Synced')?.reason).toBe('EmbeddingModelMismatch');
    await cluster.store.knowledge.collections.tombstone({ org, uid: 'former' });
    await request('now');
    await cluster.ready('KnowledgeBase', org, 'faq');
  });

  it.concurrent('learns of what happened while it could not listen', async () => {
    const org = await cluster.organization();
    await cluster.apply(texts(org, '# One'), withText(org));
    const document = await newestOf(org, 1);
    await cluster.until('KnowledgeBase', org, 'faq', (object) => sourcesOf(object)[0]?.state === 'Processing');
    await asAdministrator((admin) =>
      admin.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'"),
    );
    await complete(document);
    const shown = await cluster.until('KnowledgeBase', org, 'faq', (object) => sourcesOf(object)[0]?.state === 'Completed');
    expect(shown.status).toMatchObject({ documents: { processing: 0, completed: 1 } });
  });

  it.concurrent('leaves a suspended one alone', async () => {
    const org = await cluster.organization();
    await cluster.apply(texts(org, '# One'), withText(org));
    const first = await newestOf(org, 1);
    await complete(first);
    await cluster.apply(withText(org, { suspend: true }));
    await cluster.reason('KnowledgeBase', org, 'faq', 'Suspended', 'Suspended');
    await cluster.apply(texts(org, '# Two'));
    await cluster.apply(withText(org, { suspend: false }));
    // Nothing came of the edit while it was suspended: the first one is still the newest when it goes on.
    const second = await newestOf(org, 2);
    expect(await cluster.store.knowledge.documents.content(second)).toBe('# Two');
  });
});

describe('while Postgres is unavailable', () => {
  beforeEach(async () => {
    operator = await startOperator({ PARLEY_DELETION_GRACE_MS: '3000' });
  });
  afterEach(async () => {
    postgres.restore();
    await operator.stop();
  });

  it('stays ready, says why a change waits, and catches up by itself', async () => {
    const org = await cluster.organization();
    await cluster.apply(texts(org, '# One'), withText(org));
    const before = await cluster.ready('KnowledgeBase', org, 'faq');
    await complete(await newestOf(org, 1));
    postgres.cut();
    await cluster.apply(withText(org, { documentLanguage: 'bn' }), texts(org, '# Two'));
    const waiting = await cluster.reason('KnowledgeBase', org, 'faq', 'Synced', 'StoreUnavailable');
    expect(condition(waiting, 'Reconciling')?.status).toBe('True');
    expect(waiting.status).toMatchObject({ embedding: before.status?.['embedding'], store: 'pgvector' });
    postgres.restore();
    await cluster.ready('KnowledgeBase', org, 'faq');
    expect(await collectionOf(org)).toMatchObject({ language: 'bn' });
    const second = await newestOf(org, 2);
    expect(await cluster.store.knowledge.documents.content(second)).toBe('# Two');
  });

  it('lets go of a deleted one after the grace period, and its successor takes the documents over', async () => {
    const org = await cluster.organization();
    await cluster.apply(aKnowledgeBase('faq', org));
    await cluster.ready('KnowledgeBase', org, 'faq');
    const collection = (await collectionOf(org))!;
    postgres.cut();
    await cluster.remove('KnowledgeBase', org, 'faq');
    const held = await cluster.until('KnowledgeBase', org, 'faq', (object) => condition(object, 'Ready')?.reason === 'Deleting');
    expect(condition(held, 'Ready')?.message).toContain('set spec.deletionPolicy: Orphan');
    await untilGone(org);
    postgres.restore();
    await cluster.apply(aKnowledgeBase('faq', org));
    const next = await cluster.ready('KnowledgeBase', org, 'faq');
    await eventually(async () => expect(await collectionOf(org)).toMatchObject({ id: collection.id, uid: next.metadata.uid }));
  });
});

describe('while Temporal is unavailable', () => {
  it('takes documents on all the same, without waiting for it', async () => {
    // Takes every connection and never says a word.
    const silent = await startTcpProxy({ host: '127.0.0.1', port: 1 });
    silent.stall();
    operator = await startOperator({ TEMPORAL_ADDRESS: `127.0.0.1:${silent.port}`, PARLEY_RECONCILE_CONCURRENCY: '1' });
    try {
      const org = await cluster.organization();
      // One start alone waits 3 s: one after the other these would take longer than this waits.
      const sources = Array.from({ length: 64 }, (_, index) => ({
        name: `s${index}`,
        type: 'ConfigMap',
        configMap: { name: 'texts', key: 'policy.md' },
      }));
      await cluster.apply(texts(org, '# One'), withText(org, { sources }));
      await eventually(async () => expect(await documentsOf(org)).toHaveLength(64));
      await cluster.ready('KnowledgeBase', org, 'faq');
      await cluster.remove('KnowledgeBase', org, 'faq');
      await untilGone(org);
    } finally {
      await operator.stop();
      await silent.close();
    }
  });
});
