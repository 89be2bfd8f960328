/** Gets the programs of a node: containerd, runc and the network plugins out of Debian's packages, unpacked into the cache. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readdir, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The packages include the libraries that a slim system lacks. */
const packages = [
  'containerd',
  'runc',
  'containernetworking-plugins',
  'catatonit',
  'umoci',
  'iptables',
  'libip4tc2',
  'libip6tc2',
  'libnftnl11',
  'libxtables12',
  'libnfnetlink0',
  'libnetfilter-conntrack3',
  'conntrack',
  'ipset',
  'libipset13',
] as const;

/** @returns the folder that holds `usr/`; made once */
export async function nodePrograms(cache: string): Promise<string> {
  const folder = join(cache, 'node-programs', createHash('sha256').update(packages.join()).digest('hex').slice(0, 12));
  try {
    await access(folder);
    return folder;
  } catch {
    // The folder is not there yet.
  }
  const fresh = `${folder}.${process.pid}`;
  const archives = join(fresh, 'archives');
  await mkdir(archives, { recursive: true });
  await run('apt-get', ['download', '-qq', ...packages], { cwd: archives, timeout: 300_000 });
  for (const file of await readdir(archives)) await run('dpkg-deb', ['-x', join(archives, file), fresh]);
  await rm(archives, { recursive: true });
  // Some packages still have their files outside usr/.
  for (const outside of ['lib', 'sbin', 'bin']) {
    await run('sh', ['-c', `[ ! -d ${outside} ] || { mkdir -p usr/${outside} && cp -a ${outside}/. usr/${outside}/; }`], { cwd: fresh });
  }
  // The package's script would have set these up.
  for (const name of ['iptables', 'iptables-save', 'iptables-restore', 'ip6tables', 'ip6tables-save', 'ip6tables-restore']) {
    await symlink('xtables-nft-multi', join(fresh, 'usr/sbin', name));
  }
  await rename(fresh, folder);
  return folder;
}
