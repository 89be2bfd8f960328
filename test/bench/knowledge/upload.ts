/** Many small files over REST, until each is accepted: a request for each, and many with one. */
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';

import { Registry } from 'prom-client';

import { buildApi } from '../../../api/app.ts';
import { SigningKeys } from '../../../api/signing/signing-keys.ts';
import { openKnowledge } from '../../../knowledge/open-knowledge.ts';
import { KubeError } from '../../../kube/error.ts';
import type { Transport } from '../../../kube/transport.ts';
import { systemClock } from '../../../platform/clock.ts';
import { loadConfig } from '../../../platform/config/config.ts';
import { Readiness } from '../../../platform/lifecycle.ts';
import { createLogger } from '../../../platform/logging.ts';
import { makeZip } from '../../support/documents/make-zip.ts';
import { unlimited } from '../../support/limits.ts';
import { noCalls } from '../../support/no-calls.ts';
import { forEachOf } from '../harness/rounds.ts';
import { median, percentile } from '../harness/stats.ts';
import { duration, figure } from '../harness/table.ts';
import type { KnowledgeHost } from './host.ts';
import type { KnowledgePart } from './part.ts';

const ORG = 'bench-upload';
/** Requests at a time, of those with one file each. */
const AT_ONCE = 4;

/** Knowledge bases are found in Postgres: nothing here needs Kubernetes. */
const noCluster = (): Promise<never> =>
  Promise.reject(new KubeError({ code: 0, reason: 'Unreachable', message: 'no cluster in this benchmark' }));
const transport: Transport = { server: 'nowhere', request: noCluster, stream: noCluster, close: () => Promise.resolve() };

async function startApi(host: KnowledgeHost) {
  const config = loadConfig({ STORAGE_URL: host.storageUrl, TEMPORAL_ADDRESS: await host.temporalAddress() });
  const logger = createLogger({ role: 'bench', level: 'silent' });
  const registry = new Registry();
  const { store } = host;
  const knowledge = openKnowledge({ config, store, logger, registry });
  const app = buildApi({
    store,
    transport,
    logger,
    registry,
    readiness: new Readiness(),
    clock: systemClock,
    random: Math.random,
    signing: new SigningKeys({ given: [], stored: () => store.signingSecret() }),
    limits: unlimited,
    knowledge: {
      files: knowledge.storage,
      jobs: knowledge.jobs,
      search: knowledge.search,
      profiles: config.PARLEY_EMBEDDING_PROFILES,
      rerankProfiles: config.PARLEY_RERANK_PROFILES,
    },
    addresses: { web: () => undefined, sip: () => undefined },
    calls: noCalls,
    explain: noCluster,
    mcp: false,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  await store.organizations.create({ name: ORG });
  const { apiKey } = await store.apiKeys.create({ org: ORG, name: 'bench', permissions: ['*'], expirationDays: 1, userId: 'bench' });
  return {
    url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`,
    authorization: `Bearer ${apiKey}`,
    async stop() {
      await app.close();
      await knowledge.close();
    },
  };
}

export const upload: KnowledgePart = async ({ host: startedHost, scale, progress }) => {
  const host = await startedHost();
  const api = await startApi(host);
  const files = (): readonly { readonly name: string; readonly content: string }[] =>
    Array.from({ length: scale.manyFiles }, (_, n) => ({
      name: `note-${n}.txt`,
      content: `${randomBytes(384).toString('hex')} ${'gate '.repeat(51)}`,
    }));
  const send = async (
    path: string,
    init: { readonly body: FormData | string | Buffer<ArrayBuffer>; readonly type?: string },
  ): Promise<string> => {
    const headers = { authorization: api.authorization, ...(init.type !== undefined && { 'content-type': init.type }) };
    const answer = await fetch(`${api.url}/api/v1/knowledge-bases/${path}`, { method: 'POST', headers, body: init.body });
    const text = await answer.text();
    if (answer.status !== 202) throw new Error(`${path} answered ${answer.status}: ${text}`);
    return text;
  };
  const many = async (base: string, init: { readonly body: string | Buffer<ArrayBuffer>; readonly type: string }): Promise<void> => {
    const text = await send(`${base}/documents/bulk`, init);
    const accepted = text.split('\n').filter((line) => line.includes('"accepted"')).length;
    if (accepted !== scale.manyFiles) throw new Error(`${accepted} of ${scale.manyFiles} files were accepted`);
  };
  const ways: Readonly<Record<string, (base: string) => Promise<void>>> = {
    'a request for each file, four at a time': (base) =>
      forEachOf(files(), AT_ONCE, async ({ name, content }) => {
        const body = new FormData();
        body.set('file', new Blob([content]), name);
        await send(`${base}/documents/file`, { body });
      }),
    'one request, lines of JSON': (base) =>
      many(base, {
        body: files()
          .map((file) => `${JSON.stringify(file)}\n`)
          .join(''),
        type: 'application/x-ndjson',
      }),
    'one request, zip archive': (base) => many(base, { body: Buffer.from(makeZip(files())), type: 'application/zip' }),
  };
  try {
    const figures: Record<string, number[]> = {};
    for (let round = 0; round < scale.rounds; round += 1) {
      progress(`${scale.manyFiles} files of 1 KB, round ${round}`);
      for (const [way, run] of Object.entries(ways)) {
        const { name } = await host.collection({ org: ORG, ranking: 'words' });
        const startedAt = performance.now();
        await run(name);
        (figures[way] ??= []).push(performance.now() - startedAt);
      }
    }
    return {
      figures,
      tables: [
        {
          title: `${figure(scale.manyFiles)} files of 1 KB over REST, until the last is accepted`,
          columns: ['', 'median', 'slowest', 'files/s'],
          rows: Object.entries(figures).map(([way, ms]) => [
            way,
            duration(median(ms)),
            duration(percentile(ms, 100)),
            figure((scale.manyFiles / median(ms)) * 1_000),
          ]),
          notes: ['One api without rate limits; Postgres and the folder of files on the same machine. Nothing reads the documents.'],
        },
      ],
    };
  } finally {
    await api.stop();
  }
};
