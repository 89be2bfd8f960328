/** Tests what doctor says of servers that work, and of each that does not. */
import { pathToFileURL } from 'node:url';

import { beforeAll, describe, expect, it, vi } from 'vitest';

import { runDoctor, type Finding } from '../../../cli/doctor/index.ts';
import { migrate } from '../../../store/index.ts';
import { controlPlane } from '../../support/control-plane.ts';
import { suiteFolder } from '../../support/folders.ts';
import { mediaServer } from '../../support/media-server.ts';
import { database, migratedDatabase } from '../../support/postgres.ts';
import { run } from '../../support/run.ts';
import { query } from '../../support/sql.ts';
import { parleyEntry } from '../../support/stack.ts';
import { temporalAddress } from '../../support/temporal.ts';

type Env = Readonly<Record<string, string>>;
let working: Env;
const files = suiteFolder();

beforeAll(async () => {
  const [{ url }, { kubeconfig }, temporal, media] = await Promise.all([
    migratedDatabase(),
    controlPlane(),
    temporalAddress(),
    mediaServer(),
  ]);
  working = {
    KUBECONFIG: kubeconfig,
    DATABASE_URL: url,
    TEMPORAL_ADDRESS: temporal,
    LIVEKIT_URL: media.url,
    LIVEKIT_API_KEY: media.apiKey,
    LIVEKIT_API_SECRET: media.apiSecret,
    STORAGE_URL: pathToFileURL(files).href,
  };
});

async function findings(change: Env = {}): Promise<readonly Finding[]> {
  vi.stubEnv('KUBECONFIG', change['KUBECONFIG'] ?? working['KUBECONFIG']);
  try {
    const found: Finding[] = [];
    for await (const finding of runDoctor({ env: { ...working, ...change } })) found.push(finding);
    return found;
  } finally {
    vi.unstubAllEnvs();
  }
}

const of = (all: readonly Finding[], check: string): Finding | undefined => all.find((finding) => finding.check === check);

it('finds nothing to mend where everything works', async () => {
  const all = await findings();
  expect(all.filter(({ outcome }) => outcome === 'fail')).toEqual([]);
  for (const check of [
    'kubernetes-api',
    'permissions',
    'postgres',
    'pgvector',
    'migrations',
    'database-roles',
    'temporal',
    'media-server',
    'file-storage',
    'clocks',
  ])
    expect(of(all, check), check).toMatchObject({ outcome: 'ok' });
});

describe('what is broken is named with its cure', () => {
  it('in the environment', async () => {
    expect(await findings({ PARLEY_DATABASE_POOL: 'many', LIVEKIT_API_SECRET: 'short' })).toEqual([
      expect.objectContaining({
        check: 'configuration',
        outcome: 'fail',
        detail: expect.stringMatching(/PARLEY_DATABASE_POOL.*LIVEKIT_API_SECRET/s) as string,
      }),
    ]);
    const missing = await findings({ KUBECONFIG: '/nowhere/kubeconfig' });
    expect(of(missing, 'kubeconfig')).toMatchObject({ outcome: 'fail', cure: expect.stringContaining('KUBECONFIG') as string });
  });

  it('of every server that is unavailable, all at once', async () => {
    const all = await findings({
      DATABASE_URL: 'postgres://parley:secret@127.0.0.1:1/parley',
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      LIVEKIT_URL: 'ws://127.0.0.1:1',
      STORAGE_URL: 'file:///etc/hostname/parley',
      VECTOR_STORE_URL: 'milvus://127.0.0.1:1',
      PARLEY_EGRESS_DNS_SERVERS: '127.0.0.1:1',
    });
    for (const check of ['postgres', 'temporal', 'media-server', 'file-storage', 'vector-store', 'name-servers'])
      expect(of(all, check), check).toMatchObject({ outcome: 'fail', cure: expect.stringMatching(/\w/) as string });
    expect(JSON.stringify(all)).not.toContain('secret@');
    const publicUrl = async (env: Readonly<Record<string, string>>) => of(await findings(env), 'public-url');
    expect(await publicUrl({ LIVEKIT_URL: 'wss://media.example.com' })).toMatchObject({ outcome: 'warn' });
    expect(await publicUrl({ LIVEKIT_URL: 'wss://media.example.com', PARLEY_PUBLIC_URL: 'https://api.example.com' })).toMatchObject({
      outcome: 'ok',
    });
  });

  it('of keys and names that are not known', async () => {
    const all = await findings({ LIVEKIT_API_SECRET: 'another secret of thirty-two characters', TEMPORAL_NAMESPACE: 'nobodys' });
    expect(of(all, 'media-server')).toMatchObject({ outcome: 'fail', detail: expect.stringContaining('refuses the key') as string });
    expect(of(all, 'temporal')).toMatchObject({ outcome: 'fail', cure: expect.stringContaining('namespace create') as string });
  });

  it('of a database that is not migrated, or of the future', async () => {
    const { url } = await database();
    const empty = of(await findings({ DATABASE_URL: url }), 'migrations');
    expect(empty).toMatchObject({
      outcome: 'fail',
      detail: expect.stringContaining('0001_schema') as string,
      cure: 'parley migrate',
    });
    await migrate({ databaseUrl: url });
    await query(url, "INSERT INTO parley.schema_migrations (version, name, checksum) VALUES (9999, '9999_tomorrow', '')");
    expect(of(await findings({ DATABASE_URL: url }), 'migrations')).toMatchObject({
      outcome: 'fail',
      detail: expect.stringContaining('9999_tomorrow') as string,
    });
  });
});

it('ends with 1 and prints JSON, as scripts want it', async () => {
  const env = { ...working, DATABASE_URL: 'postgres://127.0.0.1:1/x' };
  const { code, stdout } = await run(process.execPath, [parleyEntry, 'doctor', '--json'], { env });
  const answer = JSON.parse(stdout) as { readonly ok: boolean; readonly findings: readonly Finding[] };
  expect([code, answer.ok]).toEqual([1, false]);
  expect(of(answer.findings, 'postgres')?.outcome).toBe('fail');
});
