/** Whatever dies or goes away in the middle, a document is completed once, with all of its chunks, or failed with a reason. */
import { Client } from 'pg';
import { expect, it, onTestFinished } from 'vitest';

import { newDocumentId, type DocumentStage } from '../../../store/index.ts';
import { eventually } from '../../support/eventually.ts';
import { Servers, startEndpoint } from '../../support/http-servers.ts';
import { spawnRole } from '../../support/role-process.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { temporalAddress } from '../../support/temporal.ts';
import { knowledgeHarness, startWorker, type KnowledgeHarness } from './harness.ts';

const spawnWorker = (env: Readonly<Record<string, string>>) => spawnRole('worker', { ...process.env, PARLEY_LOG_LEVEL: 'error', ...env });

/** Number of paragraphs; each has a number that no other has. */
const paragraphs = 3_000;
const bigText = Array.from(
  { length: paragraphs },
  (_, index) => `Paragraph ${index} covers item PX-${100_000 + index}. ${'It has some words more to fill the line. '.repeat(6)}`,
).join('\n\n');

/**
 * Stops the next document that reaches a stage in the middle of it, before the worker can write any further progress: however fast the
 * machine is, the document is seen in that stage.
 * @returns waits until a document is there, runs `meanwhile` and lets the document go on. What the stopped worker wanted to write is lost
 *   with its connection, as if it had died before.
 */
async function stopAt(kb: KnowledgeHarness, stage: DocumentStage): Promise<(meanwhile: () => Promise<unknown>) => Promise<void>> {
  const client = new Client({ connectionString: kb.env['DATABASE_URL'] });
  await client.connect();
  onTestFinished(() => client.end());
  await client.query(`
    SELECT pg_advisory_lock(1);
    CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NEW; END';
    CREATE TRIGGER wait_for_test BEFORE UPDATE ON parley.documents FOR EACH ROW WHEN (OLD.stage = '${stage}') EXECUTE FUNCTION wait_for_test()`);
  const waiting = `FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory'`;
  return async (meanwhile) => {
    await eventually(async () => expect((await client.query(`SELECT pid ${waiting}`)).rowCount).toBeGreaterThan(0));
    await meanwhile();
    await client.query(`SELECT pg_terminate_backend(pid) ${waiting}; SELECT pg_advisory_unlock(1)`);
  };
}

/** Checks that all chunks are there once: in Postgres, in the vector store, and in what ranking counts with. */
async function expectWhole(kb: KnowledgeHarness, id: string, chunkCount: number): Promise<void> {
  const { id: collectionId } = kb.collection;
  expect(await kb.knowledge.vectors.count({ org: 'acme', collectionId, space: { model: 'bm25', dimension: 0 } }, id)).toBe(chunkCount);
  const rows = await kb.sql('SELECT count(*)::int AS n, max(ordinal) AS last FROM parley.chunks WHERE document_id = $1', [id]);
  expect(rows).toEqual([{ n: chunkCount, last: chunkCount - 1 }]);
  const frequencies = await kb.sql(
    `SELECT count(*)::int AS wrong FROM (
       SELECT term, sum(n)::int AS chunks FROM (SELECT unnest(terms) AS term, unnest(chunks) AS n FROM parley.document_terms) t GROUP BY term) t
     FULL JOIN parley.term_frequencies f USING (term) WHERE f.chunks IS DISTINCT FROM t.chunks`,
  );
  expect(frequencies).toEqual([{ wrong: 0 }]);
}

async function expectFound(kb: KnowledgeHarness, id: string): Promise<void> {
  const document = await kb.ended(id);
  expect(document).toMatchObject({ status: 'completed', errorCode: null });
  await expectWhole(kb, id, document.chunkCount);
  for (const index of [0, 1_234, paragraphs - 1])
    expect((await kb.search(`PX-${100_000 + index}`))[0]?.content).toContain(`PX-${100_000 + index}`);
}

/**
 * Runs the scenarios side by side, for most of each is waiting until Temporal gives a dead worker up; in one test, for what they start
 * goes with it.
 * @returns the failures
 */
async function together(scenarios: Readonly<Record<string, () => Promise<void>>>): Promise<readonly string[]> {
  const results = await Promise.allSettled(Object.values(scenarios).map((run) => run()));
  return Object.keys(scenarios).flatMap((name, index) => {
    const result = results[index];
    return result?.status === 'rejected'
      ? [`${name}: ${result.reason instanceof Error ? result.reason.stack : String(result.reason)}`]
      : [];
  });
}

async function killedWhile(stage: DocumentStage): Promise<void> {
  const kb = await knowledgeHarness({ worker: false });
  const inTheMiddle = await stopAt(kb, stage);
  const first = spawnWorker(kb.env);
  const id = await kb.add('big.txt', bigText);
  await inTheMiddle(() => first.kill());
  expect(await kb.search('PX-100000')).toEqual([]);
  spawnWorker(kb.env);
  await expectFound(kb, id);
}

async function killedWhileFetching(): Promise<void> {
  const servers = new Servers();
  onTestFinished(() => servers.stop());
  const isKilled = Promise.withResolvers<void>();
  const { url, requests } = await startEndpoint(servers, (response, request) => {
    const answer = () => response.setHeader('content-type', 'text/plain').end(`Page ${request.url} of the site, with its own words.`);
    if (request.url === '/robots.txt') response.writeHead(404).end();
    else if (request.url === '/last') void isKilled.promise.then(answer);
    else answer();
  });
  const kb = await knowledgeHarness({ worker: false });
  const first = spawnWorker(kb.env);
  const id = newDocumentId();
  const collectionId = kb.collection.id;
  const urls = [`${url}/first`, `${url}/last`];
  await kb.store.knowledge.documents.create({ org: 'acme', id, collectionId, kind: 'website', filename: url, urls });
  await kb.knowledge.jobs.ingest({ org: 'acme', knowledgeBase: 'manuals', collectionId, documentId: id, small: true });
  await eventually(() => expect(requests.map((request) => request.url)).toContain('/last'));
  await first.kill();
  isKilled.resolve();
  spawnWorker(kb.env);
  expect(await kb.ended(id)).toMatchObject({ status: 'completed', chunkCount: 2 });
  await expectWhole(kb, id, 2);
  expect(await kb.files(id)).toHaveLength(2);
}

/** Waits until a client that lost its connections has asked for others, several times. */
async function askedInVain(proxy: TcpProxy): Promise<void> {
  const before = proxy.refused;
  await eventually(() => expect(proxy.refused).toBeGreaterThan(before + 5));
}

async function withoutPostgres(): Promise<void> {
  const kb = await knowledgeHarness({ worker: false });
  const address = new URL(kb.env['DATABASE_URL'] ?? '');
  const proxy = await startTcpProxy({ host: address.hostname, port: Number(address.port) });
  onTestFinished(() => proxy.close());
  address.port = String(proxy.port);
  const inTheMiddle = await stopAt(kb, 'parsing');
  await startWorker({ ...kb.env, DATABASE_URL: address.href });
  const id = await kb.add('big.txt', bigText);
  await inTheMiddle(async () => proxy.cut());
  await askedInVain(proxy);
  expect(await kb.store.knowledge.documents.get({ org: 'acme', id })).toMatchObject({ status: 'processing' });
  proxy.restore();
  await expectFound(kb, id);
}

async function withoutTemporal(): Promise<void> {
  const [host = '', port = ''] = (await temporalAddress()).split(':');
  const proxy = await startTcpProxy({ host, port: Number(port) });
  onTestFinished(() => proxy.close());
  const kb = await knowledgeHarness({ env: { TEMPORAL_ADDRESS: `127.0.0.1:${proxy.port}` } });
  const inTheMiddle = await stopAt(kb, 'parsing');
  const id = await kb.add('big.txt', bigText);
  await inTheMiddle(async () => proxy.cut());
  const other = await kb.add('late.txt', 'It came while Temporal was away.');
  await askedInVain(proxy);
  proxy.restore();
  await expectFound(kb, id);
  expect(await kb.ended(other)).toMatchObject({ status: 'completed' });
  expect((await kb.search('while Temporal was away'))[0]?.documentId).toBe(other);
}

it('kill -9 of the worker in the middle of each stage', async () => {
  const scenarios = { parsing: () => killedWhile('parsing'), indexing: () => killedWhile('indexing'), fetching: killedWhileFetching };
  expect(await together(scenarios)).toEqual([]);
}, 600_000);

it('Postgres or Temporal away in the middle', async () => {
  expect(await together({ Postgres: withoutPostgres, Temporal: withoutTemporal })).toEqual([]);
}, 600_000);
