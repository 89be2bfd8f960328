/** Holds every import of the product against the table in docs/architecture.md: `node scripts/check-imports.ts`. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

import { folderCycles, forbiddenImports, importsOf, readLayers } from './imports.ts';

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && !file.startsWith('test/') && !file.endsWith('.test.ts') && existsSync(file));
const imports = files.flatMap((file) => importsOf(file, readFileSync(file, 'utf8')));
const layers = readLayers(readFileSync('docs/architecture.md', 'utf8'));
const found = [...forbiddenImports(imports, layers), ...folderCycles(imports)];
process.stdout.write(found.map((line) => `${line}\n`).join(''));
process.exitCode = found.length === 0 ? 0 : 1;
