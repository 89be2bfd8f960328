/**
 * Upgrades an installation with live data from another version to this checkout: `make upgrade-test`.
 *
 * The older version runs as `parley dev` with the tour's data. Then come, in the order of docs/operations/upgrade.md, the definitions, the migrations
 * (while the older roles go on: the time of a rolling update), and the roles. Whatever was there has to be there afterwards, and work.
 */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { eventually } from '../support/eventually.ts';
import { run } from '../support/run.ts';
import { readStackEnv, repository, type TestStackEnv } from '../support/stack.ts';
import { checkOut } from './checkout.ts';
import { checkLiveData, makeLiveData, restOf, startReceiver, work, type LiveData, type Receiver } from './live-data.ts';

const started = performance.now();
const say = (line: string): void =>
  void process.stdout.write(`${((performance.now() - started) / 1000).toFixed(0).padStart(4)} s  ${line}\n`);

async function parley(root: string, folder: string, args: readonly string[], env: Partial<TestStackEnv> = {}): Promise<string> {
  const node = join(root, 'node_modules/.bin/node');
  const { code, stdout, stderr } = await run(node, [join(root, 'cli/main.ts'), ...args], { cwd: folder, timeoutMs: 900_000, env });
  if (code !== 0) throw new Error(`parley ${args.join(' ')} of ${root} failed (${code}):\n${stdout}\n${stderr}`);
  return stdout;
}

async function kubectl(env: TestStackEnv, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(join(env.PARLEY_BIN, 'kubectl'), [`--kubeconfig=${env.KUBECONFIG}`, ...args]);
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
  return stdout;
}

async function allReady(env: TestStackEnv): Promise<void> {
  await eventually(async () => {
    const shown = await kubectl(env, [
      'get',
      'agents,tools,knowledgebases,webhooksubscriptions',
      '-n',
      env.PARLEY_ORG,
      '-o',
      'jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.generation} {.status.observedGeneration} {.status.conditions[?(@.type=="Ready")].status}{"\\n"}{end}',
    ]);
    const late = shown.split('\n').filter((line) => line !== '' && !/ (\d+) \1 True$/.test(line));
    if (shown.trim() === '' || late.length > 0) throw new Error(`not Ready: ${late.join(', ')}`);
  });
}

const emit = (root: string, folder: string, env: TestStackEnv): Promise<string> =>
  parley(root, folder, ['events', 'emit', '--name', 'CallHandler.CallStarted', '--org', env.PARLEY_ORG], env);

async function idsOf(lines: Promise<string>): Promise<string> {
  const { id } = JSON.parse((await lines).split('\n')[0] ?? '{}') as { readonly id?: string };
  if (id === undefined) throw new Error('events emit names no event');
  return id;
}

async function taken(receiver: Receiver, ids: readonly string[]): Promise<void> {
  await eventually(() => {
    const missing = ids.filter((id) => !receiver.taken.includes(id));
    if (missing.length > 0) throw new Error(`never delivered: ${missing.join(', ')}`);
  });
}

const receiver = await startReceiver();
const folder = await mkdtemp(join(tmpdir(), 'parley-upgrade-'));
const older = await checkOut(process.env['PARLEY_UPGRADE_FROM'], say);
let running: string | undefined;
try {
  say(`from ${older.name}: it starts with the examples`);
  await parley(older.folder, folder, ['dev', '--detach']);
  running = older.folder;
  let env = await readStackEnv(folder);
  const data: LiveData = await makeLiveData(restOf(env), receiver);
  await allReady(env);
  const queued = [await idsOf(emit(older.folder, folder, env))];
  await eventually(() => {
    if (receiver.refused.length === 0) throw new Error('the receiver that is unavailable was not asked');
  });
  say('an agent, documents, a call with its recording, and an event that waits for its receiver are there');

  await kubectl(env, ['apply', '--server-side', '--force-conflicts', ...(await definitions())]);
  const applied = await parley(repository, folder, ['migrate', '--json'], env);
  const { applied: names } = JSON.parse(applied) as { readonly applied: readonly string[] };
  say(`definitions and migrations of this version: ${names.length === 0 ? 'no migration is new' : names.join(', ')}`);
  await checkLiveData(restOf(env), data);
  await work(restOf(env), 'meanwhile');
  await kubectl(env, ['annotate', '--overwrite', 'agents', '--all', '-n', env.PARLEY_ORG, `upgrade.test/at=${Date.now()}`]);
  await kubectl(env, [
    'patch',
    'agent',
    'receptionist',
    '-n',
    env.PARLEY_ORG,
    '--type=merge',
    '-p',
    '{"spec":{"displayName":"Meanwhile"}}',
  ]);
  await allReady(env);
  queued.push(await idsOf(emit(older.folder, folder, env)));
  say('the older roles read, write, index and reconcile on the newer schema');

  await parley(older.folder, folder, ['dev', 'stop']);
  running = repository;
  await parley(repository, folder, ['dev', '--detach']);
  env = await readStackEnv(folder);
  say('the roles of this version run on the same data');
  await allReady(env);
  await checkLiveData(restOf(env), data);
  await work(restOf(env), 'afterwards');
  queued.push(await idsOf(emit(repository, folder, env)));
  receiver.open();
  await taken(receiver, queued);
  const repeated = receiver.taken.filter((id, index) => receiver.taken.indexOf(id) !== index);
  if (repeated.length > 0) throw new Error(`delivered more than once: ${repeated.join(', ')}`);
  say('everything is Ready; search, keys, calls and recordings are as they were; what waited was delivered once');
} finally {
  if (running !== undefined) await parley(running, folder, ['dev', 'stop']).catch((error: unknown) => say((error as Error).message));
  await Promise.all([receiver.close(), older.remove(), rm(folder, { recursive: true, force: true })]);
}

async function definitions(): Promise<string[]> {
  const files = (await readdir(join(repository, 'crds/generated'))).filter((name) => name.endsWith('.yaml'));
  return files.map((name) => `--filename=${join(repository, 'crds/generated', name)}`);
}
