/** Builds the npm package of the command line: the bundle alone, without the packages with native parts that the roles load. */
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { licenceTexts } from '../image/licences.ts';
import { APP_FOLDER, type Staged } from '../image/stage.ts';
import { packFolder } from './pack-folder.ts';

/** Programs of the package, with the arguments that they put in front of those typed. */
const PROGRAMS = { parley: [], 'kubectl-parley': ['kubectl'], 'kubectl_complete-parley': ['kubectl', '__complete'] };

/** @returns the name of the archive in `out` */
export async function packCommandLine(options: { readonly root: string; readonly out: string; readonly staged: Staged }): Promise<string> {
  const { root, out, staged } = options;
  const folder = join(root, 'build/npm');
  await rm(folder, { recursive: true, force: true });
  await mkdir(join(folder, 'bin'), { recursive: true });
  await cp(join(staged.layers.app, APP_FOLDER, 'dist'), join(folder, 'dist'), { recursive: true });
  for (const name of ['LICENSE', 'NOTICE']) await cp(join(root, name), join(folder, name));
  await cp(join(import.meta.dirname, 'npm-readme.md'), join(folder, 'README.md'));
  await writeFile(join(folder, 'third-party-licences.txt'), await licenceTexts({ root, folders: staged.contents.bundled }));
  for (const [name, args] of Object.entries(PROGRAMS)) await writeFile(join(folder, programFile(name)), program(args), { mode: 0o755 });
  const { version, description, license, engines } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as Record<
    'version' | 'description' | 'license',
    string
  > & { readonly engines: object };
  const bin = Object.fromEntries(Object.keys(PROGRAMS).map((name) => [name, programFile(name)]));
  const facts = { name: '@parley/cli', version, description, license, type: 'module', bin, engines };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(facts, null, 2)}\n`);
  return packFolder(folder, out);
}

const programFile = (name: string): string => `bin/${name}.js`;

/** An older Node.js can't read the bundle at all. */
function program(args: readonly string[]): string {
  const before = args.length === 0 ? '' : `process.argv.splice(2, 0, ${args.map((arg) => `'${arg}'`).join(', ')});\n`;
  return `#!/usr/bin/env node
if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error('parley: Node.js 24 or newer is needed, and this is ' + process.version);
  process.exit(1);
}
${before}await import('../dist/parley.mjs');
`;
}
