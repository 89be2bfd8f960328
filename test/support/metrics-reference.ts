/** Compares the metrics of a role with their reference. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Registry } from 'prom-client';

import { repositoryRoot } from '../../local-stack/repository.ts';

/** Returns the names that a role has registered and its section of `docs/reference/metrics.md` doesn't know; Node's own need no row. */
export async function undescribedMetrics(heading: string, registry: Registry): Promise<readonly string[]> {
  const page = await readFile(join(repositoryRoot(), 'docs/reference/metrics.md'), 'utf8');
  const section = page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return registry
    .getMetricsAsArray()
    .map(({ name }) => name)
    .filter((name) => !/^(nodejs|process)_|^parley_build_info$/.test(name) && !section.includes(`| \`${name}\` |`));
}
