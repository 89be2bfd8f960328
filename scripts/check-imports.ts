/** Holds every import of the product against the table in docs/architecture.md: `node scripts/check-imports.ts`. */
import { readFileSync } from 'node:fs';

import { sourceFiles } from './changed.ts';
import { folderCycles, forbiddenImports, importsOf, readLayers } from './imports.ts';

const files = sourceFiles().filter((file) => !file.startsWith('test/') && !file.endsWith('.test.ts'));
const imports = files.flatMap((file) => importsOf(file, readFileSync(file, 'utf8')));
const layers = readLayers(readFileSync('docs/architecture.md', 'utf8'));
const found = [...forbiddenImports(imports, layers), ...folderCycles(imports)];
process.stdout.write(found.map((line) => `${line}\n`).join(''));
process.exitCode = found.length === 0 ? 0 : 1;
