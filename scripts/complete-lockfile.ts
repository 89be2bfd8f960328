/**
 * Adds to `package-lock.json` the optional packages of other platforms that npm left out.
 *
 * npm writes no entry for an optional package that the registry in use doesn't serve (a mirror often holds only
 * its own platform's), and `npm ci` then refuses the lockfile everywhere. Run after each change of a dependency.
 */
import { readFile, writeFile } from 'node:fs/promises';

interface Entry {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const systems = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const processors = ['arm64', 'arm', 'ia32', 'loong64', 'mips64el', 'ppc64', 'riscv64', 's390x', 'wasm32', 'x64'];

/** `@swc/core-darwin-arm64` → os darwin, cpu arm64: packages of this sort carry both in their names. */
function platformOf(name: string): Pick<Entry, 'os' | 'cpu'> {
  const words = name.split(/[/-]/);
  const os = systems.filter((system) => words.includes(system));
  const cpu = processors.filter((processor) =>
    words.some((word) => word === processor || (processor === 'arm' && /^arm(v\d)?$/.test(word))),
  );
  return { ...(os.length > 0 && { os }), ...(cpu.length > 0 && { cpu }) };
}

const file = 'package-lock.json';
const lock = JSON.parse(await readFile(file, 'utf8')) as { packages: Record<string, Entry> };
const added: string[] = [];
for (const [, entry] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    const path = `node_modules/${name}`;
    const platform = platformOf(name);
    // Only what belongs to another platform may stay uninstalled without harm.
    if (lock.packages[path] !== undefined || platform.os === undefined) continue;
    lock.packages[path] = { version: range.replace(/^[\^~=]/, ''), ...platform, ...(entry.dev && { dev: true }), optional: true };
    added.push(name);
  }
}
lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
await writeFile(file, `${JSON.stringify(lock, null, 2)}\n`);
process.stdout.write(added.length === 0 ? 'nothing was missing\n' : `added ${added.length}: ${added.join(', ')}\n`);
