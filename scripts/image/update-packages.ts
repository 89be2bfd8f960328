/** Writes scripts/image/debian-packages.json again with the versions that Debian's archive has now. Run `apt-get update` first. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';

import type { DebianPackages } from './debian.ts';

const FILE = 'scripts/image/debian-packages.json';
const pinned = JSON.parse(await readFile(FILE, 'utf8')) as DebianPackages;
const packages: Record<string, DebianPackages['packages'][string]> = {};
for (const [name, { reason }] of Object.entries(pinned.packages)) {
  const { stdout } = await promisify(execFile)('apt-cache', ['show', '--no-all-versions', name]);
  const field = (key: string): string => {
    const value = new RegExp(`^${key}: (.+)$`, 'm').exec(stdout)?.[1];
    if (value === undefined) throw new Error(`apt-cache show ${name} prints no ${key}: run apt-get update`);
    return value;
  };
  packages[name] = { version: field('Version'), sha256: field('SHA256'), reason };
  process.stdout.write(`${name} ${packages[name].version}\n`);
}
await writeFile(FILE, `${JSON.stringify({ ...pinned, packages }, null, 2)}\n`);
