import { execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

import type { BinarySpec } from './binary-spec.ts';

const run = promisify(execFile);

export interface PathSearch {
  readonly found?: { readonly path: string; readonly version: string };
  /** Executables that were found and refused, each with the reason, in words. */
  readonly refused: readonly string[];
}

/** Looks in `KUBEBUILDER_ASSETS` and on PATH, and takes the first executable whose version will do. */
export async function searchPath(spec: BinarySpec, env: NodeJS.ProcessEnv): Promise<PathSearch> {
  const { versionProbe, accepted } = spec;
  if (versionProbe === undefined || accepted === undefined) return { refused: [] };
  const folders = [env['KUBEBUILDER_ASSETS'], ...(env['PATH'] ?? '').split(delimiter)].filter(
    (folder) => folder !== undefined && folder !== '',
  );
  const refused: string[] = [];
  const seen = new Set<string>();
  const names = [spec.name, ...(spec.aliases ?? [])];
  for (const path of (folders as string[]).flatMap((folder) => names.map((name) => join(folder, name)))) {
    if (!existsSync(path)) continue;
    // /bin is often a link to /usr/bin.
    const real = realpathSync(path);
    if (seen.has(real)) continue;
    seen.add(real);
    const version = await versionOf(path, versionProbe, env);
    if (version === undefined) {
      refused.push(`${path} does not state its version`);
    } else if (!accepted.check(version)) {
      refused.push(`${path} is ${version}; needed: ${accepted.text}`);
    } else if (spec.companions === 'pgvector' && !(await hasPgvector(path))) {
      refused.push(`${path} is ${version} without the pgvector extension`);
    } else {
      return { found: { path, version }, refused };
    }
  }
  return { refused };
}

async function versionOf(
  path: string,
  { args, pattern }: NonNullable<BinarySpec['versionProbe']>,
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  // Some programs exit with an error after they state their version.
  const { stdout, stderr } = await run(path, [...args], { timeout: 10_000, env }).catch(
    (error: unknown) => error as { readonly stdout?: string; readonly stderr?: string },
  );
  return pattern.exec(`${stdout ?? ''}\n${stderr ?? ''}`)?.[1];
}

/** Tells whether the share folder of this very server has the control file of `vector`. */
async function hasPgvector(postgres: string): Promise<boolean> {
  const real = realpathSync(postgres);
  const pgConfig = join(dirname(real), 'pg_config');
  const initdb = join(dirname(real), 'initdb');
  if (!existsSync(initdb)) return false;
  const share = existsSync(pgConfig)
    ? await run(pgConfig, ['--sharedir'], { timeout: 10_000 }).then(
        ({ stdout }) => stdout.trim(),
        () => undefined,
      )
    : undefined;
  const candidates = [share, join(dirname(real), '..', 'share', 'postgresql'), join(dirname(real), '..', 'share')];
  return candidates.some((folder) => folder !== undefined && existsSync(join(folder, 'extension', 'vector.control')));
}
