/** One organisation, document or call goes and comes back from a backup, while everything else works on. */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { createGunzip } from 'node:zlib';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { recordingKey } from '../../../calls/names.ts';
import { bringBack } from '../../../cli/backup/bring-back.ts';
import { readMigrations } from '../../../store/index.ts';
import { aKnowledgeBase, anAgent, aSecret } from '../../support/builders.ts';
import { giveBackControlPlane, takeControlPlane } from '../../support/control-plane.ts';
import type { OwnControlPlane } from '../../support/own-control-planes.ts';
import { suiteFolder, testFolder } from '../../support/folders.ts';
import { parleyHere } from '../../support/parley-command.ts';
import { database } from '../../support/postgres.ts';
import { run, type Finished } from '../../support/run.ts';
import { query } from '../../support/sql.ts';
import { knowledgeHarness, type KnowledgeHarness } from '../knowledge/harness.ts';

let plane: OwnControlPlane;
beforeAll(async () => void (plane = await takeControlPlane()));
afterAll(async () => {
  await kubectl(['delete', 'agents,knowledgebases,secrets', '--all', '--all-namespaces']);
  await kubectl(['label', 'namespaces', '--all', 'parley.dev/organization-']);
  await giveBackControlPlane(plane);
});

const backups = suiteFolder();

async function kubectl(args: readonly string[], input?: unknown): Promise<string> {
  const { code, stdout, stderr } = await run(plane.kubectl, [`--kubeconfig=${plane.kubeconfig}`, ...args], {
    ...(input !== undefined && { input: JSON.stringify(input) }),
  });
  expect(code, stderr).toBe(0);
  return stdout;
}

interface Installation extends KnowledgeHarness {
  parley(...args: readonly string[]): Promise<Finished>;
  /** Returns all rows about the organisation, by table. */
  rows(org: string): Promise<Readonly<Record<string, readonly unknown[]>>>;
  key(org: string): Promise<string>;
  call(org: string): Promise<string>;
}

/** Makes two organisations, acme and globex, with keys, documents and calls, and a worker. */
async function installation(): Promise<Installation> {
  const harness = await knowledgeHarness({ env: { KUBECONFIG: plane.kubeconfigs.worker } });
  const env = { ...harness.env, KUBECONFIG: plane.kubeconfig };
  const parley = (...args: readonly string[]): Promise<Finished> => parleyHere(args, env);
  for (const org of ['acme', 'globex']) {
    expect(await parley('org', 'create', org)).toMatchObject({ code: 0 });
    const llm = { provider: 'openai', model: 'm', apiKeySecretRef: { name: 'provider', key: 'key' } };
    const items = [aSecret('provider', { key: `of ${org}` }, org), aKnowledgeBase('manuals', org), anAgent('desk', org, { llm })];
    await kubectl(['apply', '--server-side', '--filename=-'], { apiVersion: 'v1', kind: 'List', items });
  }
  return {
    ...harness,
    parley,
    rows: (org) => rowsOf(harness.env['DATABASE_URL'] ?? '', org),
    async key(org) {
      const { apiKey } = await harness.store.apiKeys.create({ org, name: 'one', permissions: ['*'], expirationDays: 30 });
      return apiKey;
    },
    async call(org) {
      const id = `call_${randomUUID()}`;
      await harness.sql(
        `INSERT INTO parley.calls (org, id, call_type, status, agent_name, agent_display_name, revision, max_duration_ms, room)
         VALUES ($1, $2, 'web_call', 'registered', 'desk', 'Desk', repeat('a', 64), 60000, $2)`,
        [org, id],
      );
      const key = recordingKey(org, id);
      const { bytes } = await harness.knowledge.storage.put(key, Readable.from([`sound of ${id}`]), { maxBytes: 1_000 });
      const call = { org, id, events: () => [] };
      await harness.store.calls.calls.addRecording({ ...call, key, bytes, durationMs: 60_000 });
      await harness.store.calls.calls.end({ ...call, reason: 'user_ended_call' });
      await harness.sql(
        `INSERT INTO parley.call_messages (org, call_id, seq, role, content, spoken_at) VALUES ($1, $2, 0, 'user', $3, now())`,
        [org, id, 'a\tb\\n\nc'],
      );
      await harness.sql(
        `INSERT INTO parley.call_usage (org, call_id, writer, kind, purpose, provider, model, requests, estimated_requests, input_tokens,
           cached_input_tokens, output_tokens, reasoning_tokens, characters, audio_ms, cost_micros, currency, price_version)
         VALUES ($1, $2, gen_random_uuid(), 'llm', 'conversation', 'openai', 'm', 1, 0, 10, 0, 5, 0, 0, 0, 700, 'EUR', 'v1')`,
        [org, id],
      );
      return id;
    },
  };
}

/** These tables differ by themselves: whoever looks for a row makes it. */
const LEFT_OUT = new Set(['rate_limits', 'voice_servers', 'dynamic_data_cache', 'webhook_watermarks']);

async function rowsOf(url: string, org: string): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const tables = await query<{ name: string; col: string }>(
    url,
    `SELECT c.relname AS name, attname AS col FROM pg_class c JOIN pg_attribute ON attrelid = c.oid AND attnum > 0
     WHERE relnamespace = 'parley'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
       AND attname = CASE relname WHEN 'organizations' THEN 'name' ELSE 'org' END ORDER BY 1`,
  );
  const found: Record<string, readonly unknown[]> = {};
  for (const { name, col } of tables.filter((table) => !LEFT_OUT.has(table.name))) {
    const rows = await query<{ row: string }>(url, `SELECT t::text AS row FROM parley."${name}" t WHERE ${col} = $1 ORDER BY 1`, [org]);
    if (rows.length > 0) found[name] = rows.map(({ row }) => row);
  }
  return found;
}

const HANDBOOK = 'The northern gate is opened with a code of four digits.';
const gate = 'how does the northern gate open?';

it('brings an organisation back as it was, while another one works on', async () => {
  const home = await installation();
  const document = await home.add('handbook.txt', HANDBOOK);
  await home.ended(document);
  const callId = await home.call('acme');
  const apiKey = await home.key('acme');
  await home.call('globex');
  const before = await home.rows('acme');
  expect(Object.keys(before)).toEqual(
    expect.arrayContaining(['api_keys', 'calls', 'call_messages', 'chunks', 'agent_spending', 'vector_chunks']),
  );
  const folder = join(backups, 'both');
  expect(await home.parley('backup', folder)).toMatchObject({ code: 0 });
  expect(await home.parley('restore', folder, '--org', 'acme')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/organisation "acme" is there[\s\S]*--force/),
  });
  expect(await home.rows('acme')).toEqual(before);

  expect(await home.parley('org', 'delete', 'acme', '--confirm', 'acme')).toMatchObject({ code: 0 });
  expect(await home.rows('acme')).toEqual({});
  expect(await home.store.apiKeys.authenticate(apiKey)).not.toMatchObject({ outcome: 'ok' });
  await home.call('globex');
  // The Secret is the organisation's own, which a deletion leaves alone.
  await kubectl(['delete', 'secret', 'provider', '--namespace=acme']);
  const meanwhile = await home.rows('globex');

  const dry = await home.parley('restore', folder, '--org', 'acme', '--dry-run', '-o', 'json');
  expect(dry.code, dry.stderr).toBe(0);
  expect(await home.rows('acme')).toEqual({});
  expect(await home.knowledge.storage.list('acme/', { limit: 9 })).toEqual([]);
  const real = await home.parley('restore', folder, '--org', 'acme', '-o', 'json');
  expect(real.code, real.stderr).toBe(0);
  expect({ ...JSON.parse(dry.stdout), dry_run: false }).toEqual(JSON.parse(real.stdout));
  expect(JSON.parse(real.stdout)).toMatchObject({
    rows: { calls: 1, organizations: 1 },
    files: 2,
    objects: ['Secret/provider', 'KnowledgeBase/manuals', 'Agent/desk'],
  });

  expect(await home.rows('acme')).toEqual(before);
  expect(await home.rows('globex')).toEqual(meanwhile);
  expect(await home.store.apiKeys.authenticate(apiKey)).toMatchObject({ outcome: 'ok' });
  expect((await home.search(gate))[0]).toMatchObject({ content: HANDBOOK });
  expect(await text(await home.knowledge.storage.read(recordingKey('acme', callId)))).toBe(`sound of ${callId}`);
  expect(await kubectl(['get', 'namespace', 'acme', '--output=jsonpath={.metadata.labels}'])).toContain('"parley.dev/organization":"true"');
  const secret = await kubectl(['get', 'secret', 'provider', '--namespace=acme', '--output=jsonpath={.data.key}']);
  expect(Buffer.from(secret, 'base64').toString()).toBe('of acme');

  // With the flag the backup replaces what is there.
  await home.call('acme');
  await kubectl(['delete', 'agent', 'desk', '--namespace=acme']);
  expect(await home.parley('restore', folder, '--org', 'acme', '--force')).toMatchObject({ code: 0 });
  expect(await home.rows('acme')).toEqual(before);
  expect(await kubectl(['get', 'agent', 'desk', '--namespace=acme', '--output=name'])).toContain('desk');
});

it('brings a document back that is found again, and a call with its recording', async () => {
  const home = await installation();
  const [lost, other] = [await home.add('handbook.txt', HANDBOOK), await home.add('menu.txt', 'Soup of the day: tomato.')];
  for (const id of [lost, other]) await home.ended(id);
  const callId = await home.call('acme');
  const folder = join(backups, 'things');
  expect(await home.parley('backup', folder)).toMatchObject({ code: 0 });
  const restore = (...args: readonly string[]): Promise<Finished> => home.parley('restore', folder, '--org', 'acme', ...args);
  expect(await restore('--document', lost)).toMatchObject({ code: 1, stderr: expect.stringContaining(`document ${lost} is there`) });
  expect(await restore('--call', callId)).toMatchObject({ code: 1, stderr: expect.stringContaining(`call ${callId} is there`) });
  const unknown = `call_${randomUUID()}`;
  expect(await restore('--call', unknown)).toMatchObject({ code: 1, stderr: expect.stringContaining(`the backup has no call ${unknown}`) });

  await home.remove(lost);
  await expect.poll(() => home.sql('SELECT FROM parley.documents WHERE id = $1', [lost])).toEqual([]);
  expect(await home.files(lost)).toEqual([]);
  expect(await restore('--document', lost, '--dry-run')).toMatchObject({ code: 0, stderr: expect.stringContaining('would come back') });
  expect(await home.files(lost)).toEqual([]);
  const bare = join(backups, 'bare');
  await cp(folder, bare, { recursive: true });
  const { files: _files, ...withoutFiles } = JSON.parse(await readFile(join(bare, 'backup.json'), 'utf8')) as { files: unknown };
  await writeFile(join(bare, 'backup.json'), JSON.stringify(withoutFiles));
  expect(await home.parley('restore', bare, '--org', 'acme', '--document', lost)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`the backup has no file of document ${lost}`),
  });
  expect(await restore('--document', lost)).toMatchObject({ code: 0 });
  expect(await home.ended(lost)).toMatchObject({ status: 'completed', filename: 'handbook.txt' });
  expect((await home.search(gate))[0]).toMatchObject({ content: HANDBOOK });
  expect((await home.search('tomato soup'))[0]).toMatchObject({ documentId: other });

  const before = await home.rows('acme');
  const key = recordingKey('acme', callId);
  await home.knowledge.storage.delete(key);
  await home.store.calls.deletions.delete({ org: 'acme', id: callId, recordingKey: key, redact: () => undefined });
  expect(await home.sql('SELECT FROM parley.call_messages WHERE call_id = $1', [callId])).toEqual([]);
  expect(await restore('--call', callId)).toMatchObject({ code: 0 });
  // The call comes back with its cost, which was counted when it was held.
  expect(await home.rows('acme')).toEqual(before);
  expect(await text(await home.knowledge.storage.read(key))).toBe(`sound of ${callId}`);
});

it('backs up one organisation alone, from which an installation of its own can begin', async () => {
  const home = await installation();
  await home.ended(await home.add('handbook.txt', HANDBOOK));
  await home.call('acme');
  await home.call('globex');
  const nowhere = join(backups, 'nowhere');
  expect(await home.parley('backup', nowhere, '--org', 'nope')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('there is no organisation "nope"'),
  });
  expect(existsSync(nowhere)).toBe(false);

  const folder = join(backups, 'alone');
  const made = await home.parley('backup', folder, '--org', 'acme');
  expect(made.code, made.stderr).toBe(0);
  const files = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  for (const { parentPath, name } of files) {
    const content = await buffer(
      name.endsWith('.gz')
        ? Readable.from([await readFile(join(parentPath, name))]).pipe(createGunzip())
        : Readable.from([await readFile(join(parentPath, name))]),
    );
    expect([name, content.includes('globex')]).toEqual([name, false]);
  }

  const [{ url }, storage] = [await database(), testFolder()];
  await kubectl(['delete', 'agents,knowledgebases,secrets', '--all', '--namespace=acme']);
  const env = { DATABASE_URL: url, KUBECONFIG: plane.kubeconfig, STORAGE_URL: pathToFileURL(storage).href };
  const back = await parleyHere(['restore', folder], env);
  expect(back.code, back.stderr).toBe(0);
  expect(await rowsOf(url, 'acme')).toEqual(await home.rows('acme'));
  expect(await query(url, 'SELECT name FROM parley.organizations')).toEqual([{ name: 'acme' }]);
  expect(await query(url, 'SELECT octet_length(secret) AS bytes FROM parley.signing_secret')).toEqual([{ bytes: 32 }]);
});

it('refuses a backup whose tables are others, before it writes anything, and says so of an interruption', async () => {
  const home = await installation();
  const folder = join(backups, 'older');
  expect(await home.parley('backup', folder, '--org', 'globex')).toMatchObject({ code: 0 });
  const interrupted = bringBack({
    folder,
    org: 'globex',
    part: { kind: 'organization' },
    databaseUrl: home.env['DATABASE_URL'] ?? '',
    storageUrl: home.env['STORAGE_URL'],
    namespace: undefined,
    force: true,
    dryRun: false,
    progress: { show: () => undefined, note: () => undefined, line: () => undefined },
    signal: AbortSignal.abort(),
  });
  await expect(interrupted).rejects.toMatchObject({ exitCode: 130, message: expect.stringContaining('no rows have come back') });
  const manifest = await readFile(join(folder, 'backup.json'), 'utf8');
  const last = readMigrations().at(-1)?.name ?? '';
  await writeFile(join(folder, 'backup.json'), manifest.replace(`"${last}"`, '"9001_of_tomorrow"'));
  expect(await home.parley('restore', folder, '--org', 'globex', '--force')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('whose tables are not those of this database'),
  });
  expect(await home.parley('restore', folder, '--org', 'acme')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/has no organisation "acme"[\s\S]*it has globex/),
  });
  expect(await home.parley('restore', folder, '--call', 'x')).toMatchObject({ code: 2, stderr: expect.stringContaining('add --org') });
});
