/** Starts what knowledge bases need in a run: a database of their own, Temporal, a folder for files, and Milvus where there is Python. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

import { createVectorStore } from '../../../knowledge/vector-stores/index.ts';
import type { VectorStore } from '../../../knowledge/vector-stores/vector-store.ts';
import { openStore, type Collection, type Store } from '../../../store/index.ts';
import { startMilvusLite } from '../../support/milvus-lite.ts';
import { readSharedStack } from '../../support/shared-stack.ts';
import { TestStack } from '../../support/test-stack.ts';
import { treeCpuMs } from '../harness/process-tree.ts';
import { createDatabase } from '../harness/role.ts';
import { randomDimension, randomEmbedder } from './random-embedder.ts';

export type Ranking = 'words' | 'hybrid';

export interface KnowledgeHost {
  readonly store: Store;
  readonly databaseUrl: string;
  /** Address `file://…` of a folder that goes with the host. */
  readonly storageUrl: string;
  temporalAddress(): Promise<string>;
  /** Path of the kubeconfig with the permissions of the api role. */
  kubeconfig(): Promise<string>;
  /** Returns the milliseconds of CPU so far; undefined for servers of others, but for the Temporal whose process TEMPORAL_PID names. */
  serverCpuMs(server: 'postgres' | 'temporal'): number | undefined;
  /** Creates another database, migrated by this checkout or another's `parley.mjs`, and returns its address; it goes with the host. */
  database(bundle?: string): Promise<string>;
  /** Returns the stores that can be had here, each on a real server. */
  vectorStores(): Promise<Readonly<Record<string, VectorStore>>>;
  collection(options: { readonly org: string; readonly ranking: Ranking; readonly dimension?: number }): Promise<Collection>;
  stop(): Promise<void>;
}

/** Takes a quarter of the memory, as docs/knowledge/large.md says. */
const sharedBuffers = `${Math.round(totalmem() / 4 / 2 ** 20)}MB`;

/** Connections that a role has in production. */
const poolSize = 10;

/** `PARLEY_TEST_STACK` names servers that `scripts/test-stack.ts` keeps running; others are started for the run. */
export async function startHost(env: NodeJS.ProcessEnv, progress: (line: string) => void): Promise<KnowledgeHost> {
  const shared = readSharedStack(env);
  const own = shared === undefined ? new TestStack({ postgresSettings: { shared_buffers: sharedBuffers } }) : undefined;
  const stopping: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const step of stopping.toReversed()) await step();
  };
  if (own !== undefined) stopping.push(() => own.stop());
  try {
    progress('starting Postgres');
    const server = shared?.databaseUrl ?? (await own?.databaseUrl()) ?? '';
    const database = async (bundle?: string): Promise<string> => {
      const created = await createDatabase(
        server,
        bundle === undefined
          ? undefined
          : (url) => promisify(execFile)(process.execPath, [bundle, 'migrate'], { env: { ...process.env, DATABASE_URL: url } }),
      );
      stopping.push(() => created.drop());
      return created.url;
    };
    const databaseUrl = await database();
    const store = openStore({ databaseUrl, poolSize, applicationName: 'bench' });
    stopping.push(() => store.close());
    const folder = await mkdtemp(join(tmpdir(), 'parley-bench-'));
    stopping.push(() => rm(folder, { recursive: true, force: true }));
    let stores: Promise<Readonly<Record<string, VectorStore>>> | undefined;
    return {
      store,
      databaseUrl,
      database,
      serverCpuMs: (name) => {
        const pid = name === 'temporal' && env['TEMPORAL_PID'] !== undefined ? Number(env['TEMPORAL_PID']) : own?.pid(name);
        return pid === undefined ? undefined : treeCpuMs(pid);
      },
      storageUrl: pathToFileURL(folder).href,
      // Another server may be measured: one that keeps its workflows in Postgres, say.
      temporalAddress: async () => env['TEMPORAL_ADDRESS'] ?? shared?.temporalAddress ?? (await own?.temporalAddress()) ?? '',
      kubeconfig: async () => (shared?.controlPlane ?? (await own?.controlPlane()))?.kubeconfigs.api ?? '',
      vectorStores: () => (stores ??= openStores(store, stopping, progress)),
      collection: ({ org, ranking, dimension = randomDimension }) =>
        store.knowledge.collections.ensure({
          org,
          name: `base-${randomBytes(4).toString('hex')}`,
          uid: randomBytes(8).toString('hex'),
          language: 'en',
          maxTokens: 400,
          overlapTokens: 50,
          ...(ranking === 'words'
            ? { profile: 'default', model: 'bm25', dimension: 0 }
            : { profile: 'random', model: randomEmbedder.model, dimension }),
        }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function openStores(
  store: Store,
  stopping: (() => Promise<unknown>)[],
  progress: (line: string) => void,
): Promise<Readonly<Record<string, VectorStore>>> {
  const pgvector = createVectorStore({ database: store.database });
  progress('starting milvus-lite');
  const server = await startMilvusLite();
  stopping.push(() => server.stop());
  const milvus = createVectorStore({ url: `milvus://${server.host}:${server.port}`, database: store.database });
  stopping.push(() => milvus.close());
  return { pgvector, 'milvus-lite': milvus };
}
