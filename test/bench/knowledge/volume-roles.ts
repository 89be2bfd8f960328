/** Runs the roles api and worker of one checkout on a database of their own: the figures are what clients of REST see. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { Client, Connection } from '@temporalio/client';
import { fetch as fetchOver, FormData, Pool } from 'undici';

import { BOUNDED_MEMORY } from '../../../local-stack/components/role.ts';
import { openStore, type Store } from '../../../store/index.ts';
import { startRole, type StartRoleOptions } from '../harness/role.ts';
import { query } from '../../support/sql.ts';
import type { KnowledgeHost } from './host.ts';

/** Requests are counted as in production, against limits that a benchmark doesn't reach. */
const unhindered = {
  PARLEY_RATE_LIMIT_CALLS_BURST: '1000000',
  PARLEY_RATE_LIMIT_CALLS_PER_SECOND: '1000000',
  PARLEY_RATE_LIMIT_KEY_BURST: '1000000',
  PARLEY_RATE_LIMIT_KEY_PER_SECOND: '1000000',
  PARLEY_RATE_LIMIT_ORGANIZATION_BURST: '1000000',
  PARLEY_RATE_LIMIT_ORGANIZATION_PER_SECOND: '1000000',
  PARLEY_RATE_LIMIT_SEARCH_BURST: '1000000',
  PARLEY_RATE_LIMIT_SEARCH_PER_SECOND: '1000000',
};

interface Hit {
  readonly document_id: string;
}

export interface VolumeRoles {
  readonly store: Store;
  readonly databaseUrl: string;
  readonly workerPid: number;
  readonly apiPid: number;
  upload(org: string, base: string, file: { readonly name: string; readonly content: Uint8Array<ArrayBuffer> }): Promise<string>;
  search(org: string, base: string, question: string): Promise<readonly Hit[]>;
  /** Counts documents that are neither completed nor failed. */
  unfinished(org: string): Promise<number>;
  /** Reads what the workflow of an ended document left in Temporal. */
  history(documentId: string): Promise<{ readonly events: number; readonly activities: number }>;
  stop(): Promise<void>;
}

/** @param bundle path of `parley.mjs` */
export async function startRoles(host: KnowledgeHost, name: string, bundle: string): Promise<VolumeRoles> {
  const databaseUrl = await host.database(bundle);
  const folder = await mkdtemp(join(tmpdir(), 'parley-bench-'));
  const temporalAddress = await host.temporalAddress();
  const env = {
    ...BOUNDED_MEMORY,
    DATABASE_URL: databaseUrl,
    TEMPORAL_ADDRESS: temporalAddress,
    TEMPORAL_TASK_QUEUE: `bench-${randomBytes(4).toString('hex')}`,
    STORAGE_URL: pathToFileURL(folder).href,
    ...unhindered,
  };
  const start = (role: StartRoleOptions['role'], more: NodeJS.ProcessEnv = {}) =>
    startRole({ role, env: { ...env, ...more }, program: { file: process.execPath, args: [bundle, role] }, log: `volume-${name}-${role}` });
  const [api, worker] = await Promise.all([start('api', { KUBECONFIG: await host.kubeconfig() }), start('worker')]);
  const store = openStore({ databaseUrl, poolSize: 2, applicationName: 'bench' });
  const connection = Connection.lazy({ address: temporalAddress });
  const temporal = new Client({ connection });
  const pool = new Pool(api.url, { connections: 16 });
  const keys = new Map<string, Promise<string>>();
  const keyOf = (org: string): Promise<string> => {
    const known = keys.get(org) ?? makeKey(store, org);
    keys.set(org, known);
    return known;
  };
  const send = async (org: string, path: string, body: string | FormData): Promise<Readonly<Record<string, unknown>>> => {
    const json = typeof body === 'string' && { 'content-type': 'application/json' };
    const headers = { authorization: `Bearer ${await keyOf(org)}`, ...json };
    const answer = await fetchOver(api.url + path, { method: 'POST', headers, body, dispatcher: pool });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`POST ${path} answered ${answer.status}: ${text.slice(0, 500)}`);
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  };
  return {
    store,
    databaseUrl,
    workerPid: worker.pid,
    apiPid: api.pid,
    async upload(org, base, { name: filename, content }) {
      const form = new FormData();
      form.set('file', new Blob([content]), filename);
      return (await send(org, `/api/v1/knowledge-bases/${base}/documents/file`, form))['document_id'] as string;
    },
    async search(org, base, question) {
      const body = JSON.stringify({ knowledge_base_id: base, query: question, top_k: 5 });
      return (await send(org, '/api/v1/vector/search', body))['results'] as readonly Hit[];
    },
    async unfinished(org) {
      const rows = await query<{ n: number }>(
        databaseUrl,
        `SELECT count(*)::int AS n FROM parley.documents WHERE org = '${org}' AND status = 'processing'`,
      );
      return rows[0]?.n ?? 0;
    },
    async history(documentId) {
      const handle = temporal.workflow.getHandle(`ingest/${documentId}`);
      await handle.result();
      const { events } = await handle.fetchHistory();
      const activities = (events ?? []).filter((event) => event.activityTaskScheduledEventAttributes !== null).length;
      return { events: events?.length ?? 0, activities };
    },
    async stop() {
      await Promise.all([api.stop(), worker.stop(), pool.close()]);
      await connection.close();
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function makeKey(store: Store, org: string): Promise<string> {
  await store.organizations.create({ name: org });
  return (await store.apiKeys.create({ org, name: 'bench', permissions: ['*'], expirationDays: 1 })).apiKey;
}
