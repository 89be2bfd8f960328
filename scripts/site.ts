/**
 * `node scripts/site.ts [--out <folder>]`: the documentation as a static site, by default in `dist/site`. It can be published as it is, or
 * opened from the disk: addresses are relative, and the search asks no server.
 */
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

import { buildSite } from './site/build-site.ts';

const root = resolve(import.meta.dirname, '..');
const { values } = parseArgs({ options: { out: { type: 'string', default: join(root, 'dist/site') } } });
await rm(values.out, { recursive: true, force: true });
const { pages } = await buildSite({ root, out: resolve(values.out) });
process.stdout.write(`${pages} pages are in ${values.out}: open ${join(values.out, 'index.html')}\n`);
