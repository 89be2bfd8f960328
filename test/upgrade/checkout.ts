/** Puts the version to upgrade from into a folder of its own. */
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { run } from '../support/run.ts';
import { repository } from '../support/stack.ts';

export interface Checkout {
  readonly folder: string;
  /** Name of the version, as `git describe` gives it. */
  readonly name: string;
  remove(): Promise<void>;
}

/** The commit that added this file is the oldest that there is a way from. */
const FIRST_SCHEMA = 'store/migrations/0001_schema.sql';

/**
 * @param wanted a tag, branch or commit; where absent the latest tag before HEAD, and before there is one the commit of the first schema
 */
export async function checkOut(wanted: string | undefined, onProgress: (line: string) => void): Promise<Checkout> {
  const ref =
    wanted ??
    (await git(['describe', '--tags', '--abbrev=0', 'HEAD^']).catch(() =>
      git(['log', '--format=%H', '--diff-filter=A', '--', FIRST_SCHEMA]),
    ));
  if (ref === '') throw new Error('there is nothing to upgrade from: name a commit, PARLEY_UPGRADE_FROM=<ref> make upgrade-test');
  const commit = await git(['rev-parse', '--verify', `${ref}^{commit}`]);
  const name = await git(['describe', '--tags', '--always', commit]);
  const folder = await mkdtemp(join(tmpdir(), 'parley-upgrade-from-'));
  // The checkout is no worktree: the repository stays as it is, whatever happens here.
  const archive = `${folder}.tar`;
  await git(['archive', '--format=tar', `--output=${archive}`, commit]);
  await must('tar', ['-xf', archive, '-C', folder]);
  await rm(archive);
  const remove = async (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const [theirs, ours] = await Promise.all([folder, repository].map((root) => readFile(join(root, 'package-lock.json'), 'utf8')));
    if (theirs === ours) await symlink(join(repository, 'node_modules'), join(folder, 'node_modules'));
    else {
      onProgress(`${name} has other dependencies: npm ci`);
      // Packages that are there already need not be fetched again.
      await cp(join(repository, '.npmrc'), join(folder, '.npmrc'), { force: true }).catch(() => undefined);
      await must('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error'], folder);
    }
    return { folder, name, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function git(args: readonly string[]): Promise<string> {
  return (await must('git', ['-C', repository, ...args])).trim();
}

async function must(file: string, args: readonly string[], cwd?: string): Promise<string> {
  const { code, stdout, stderr } = await run(file, args, { timeoutMs: 900_000, ...(cwd !== undefined && { cwd }) });
  if (code !== 0) throw new Error(`${file} ${args.slice(0, 3).join(' ')} failed: ${stderr.trim().slice(-2_000)}`);
  return stdout;
}
