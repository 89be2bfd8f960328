/**
 * `kill -9` of the worker, of Temporal and of Postgres while many small files are being read: each is completed once.
 * `PARLEY_TEST_KILLS` is how often each is killed: 3 where absent.
 */
import { randomBytes } from 'node:crypto';

import { expect, it, onTestFinished } from 'vitest';

import { migrate } from '../../../store/index.ts';
import { eventually } from '../../support/eventually.ts';
import { spawnRole, type RoleProcess } from '../../support/role-process.ts';
import { query } from '../../support/sql.ts';
import { TestStack } from '../../support/test-stack.ts';
import { expectCountedOnce } from './counted-once.ts';
import { knowledgeHarness, type KnowledgeHarness } from './harness.ts';

const kills = Number(process.env['PARLEY_TEST_KILLS'] ?? 3);
const filesForEachKill = 12;

it(
  'many small files are completed once each, whatever is killed meanwhile',
  async () => {
    const stack = new TestStack({ durable: true });
    onTestFinished(() => stack.stop());
    const [server, temporal] = await Promise.all([stack.databaseUrl(), stack.temporalAddress()]);
    const kb = await knowledgeHarness({ worker: false, env: { DATABASE_URL: await newDatabase(server), TEMPORAL_ADDRESS: temporal } });
    const startWorker = (): RoleProcess => spawnRole('worker', { ...process.env, PARLEY_LOG_LEVEL: 'silent', ...kb.env });
    let worker = startWorker();
    const victims = {
      worker: async () => {
        await worker.kill();
        worker = startWorker();
      },
      temporal: () => killServer(stack, 'temporal'),
      postgres: () => killServer(stack, 'postgres'),
    };
    const ids: string[] = [];
    for (let round = 0; round < kills; round += 1)
      for (const kill of Object.values(victims)) {
        // Postgres may have been the last.
        const before = await eventually(() => completed(kb));
        const adding = addFiles(kb, ids.length);
        // Each kill comes at another point: while the first files are taken on, and when more and more of them have been read.
        await eventually(async () => expect(await completed(kb)).toBeGreaterThanOrEqual(before + 4 * round), 10);
        await kill();
        ids.push(...(await adding));
      }
    for (const id of ids) expect(await kb.ended(id)).toMatchObject({ status: 'completed', errorCode: null });
    await expectCountedOnce(kb, ids);
    for (const [index, id] of ids.entries()) expect((await kb.search(`marker${index}x`))[0]?.documentId).toBe(id);
  },
  120_000 + kills * 120_000,
);

async function completed(kb: KnowledgeHarness): Promise<number> {
  const [row] = await kb.sql<{ count: number }>("SELECT count(*)::int AS count FROM parley.documents WHERE status = 'completed'");
  return row!.count;
}

/** Adds files like a client that gets no answer: each again until it is taken on, with another id than the lost answer had. */
async function addFiles(kb: KnowledgeHarness, from: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let index = from; index < from + filesForEachKill; index += 1)
    await eventually(async () => void ids.push(await kb.add(`file-${index}.txt`, `What is to be known of marker${index}x stands here.`)));
  return ids;
}

async function killServer(stack: TestStack, name: 'temporal' | 'postgres'): Promise<void> {
  const before = stack.pid(name);
  if (before === undefined) throw new Error(`${name} is not running`);
  process.kill(before, 'SIGKILL');
  await eventually(() => expect([undefined, before]).not.toContain(stack.pid(name)));
}

async function newDatabase(server: string): Promise<string> {
  const url = new URL(server);
  url.pathname = `/test_${randomBytes(6).toString('hex')}`;
  await query(server, `CREATE DATABASE ${url.pathname.slice(1)}`);
  await migrate({ databaseUrl: url.href });
  return url.href;
}
