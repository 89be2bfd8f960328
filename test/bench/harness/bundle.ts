/** The roles that are measured run on the bundle, as in production. */
import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const repository = fileURLToPath(new URL('../../..', import.meta.url));

/** Path of the bundle. */
export const bundle = `${repository}dist/parley.mjs`;
/** What the bundle is made from. */
const sourceFolders = [
  'api',
  'calls',
  'cli',
  'crds',
  'dispatcher',
  'knowledge',
  'kube',
  'operator',
  'platform',
  'store',
  'voice',
  'webhooks',
  'workflows',
];

/** Builds it where it is missing or older than its sources. */
export async function ensureBundle(progress: (line: string) => void): Promise<void> {
  const built = await stat(bundle).catch(() => undefined);
  const changed = built === undefined ? Number.POSITIVE_INFINITY : await newestSource();
  if (built !== undefined && changed <= built.mtimeMs) return;
  progress('building the bundle');
  await promisify(execFile)(process.execPath, ['scripts/build.ts'], { cwd: repository });
}

async function newestSource(): Promise<number> {
  const lists = await Promise.all(
    sourceFolders.map(async (folder) =>
      (await readdir(`${repository}${folder}`, { recursive: true })).map((file) => `${repository}${folder}/${file}`),
    ),
  );
  const times = await Promise.all(
    lists
      .flat()
      .filter((file) => /(?<!\.test)\.(ts|sql)$/.test(file))
      .map(async (file) => (await stat(file)).mtimeMs),
  );
  return Math.max(...times);
}
