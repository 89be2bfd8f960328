/**
 * `npm run generate`: writes every file that is made from the sources. `--check` writes nothing, lists what differs and exits with 1.
 * A new generator is one line in `generators`.
 */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { generateCrds, type GeneratedFile } from '../crds/generate.ts';
import { generateAlerts } from './generators/chart-alerts.ts';
import { generateDashboards } from './generators/chart-dashboards.ts';
import { generateChartValues } from './generators/chart-values.ts';
import { generateConditionsReference } from './generators/conditions-reference.ts';
import { generateConfigurationReference } from './generators/configuration-reference.ts';
import { generateEventsReference } from './generators/events-reference.ts';
import { generateKustomizeReferences } from './generators/kustomize-references.ts';
import { generateMetricsReference } from './generators/metrics-reference.ts';
import { generateOpenApi } from './generators/openapi.ts';
import { generateResourcesReference } from './generators/resources-reference.ts';

interface Generator {
  readonly name: string;
  readonly generate: () => readonly GeneratedFile[] | Promise<readonly GeneratedFile[]>;
  /** Folders whose files with this ending are all made here: one that is no longer made is removed. */
  readonly owns?: readonly { readonly folder: string; readonly ending: string }[];
}

const generators: readonly Generator[] = [
  {
    name: 'CustomResourceDefinitions',
    generate: generateCrds,
    owns: [
      { folder: 'crds', ending: '.yaml' },
      { folder: 'charts/parley/charts/crds/templates', ending: '.yaml' },
    ],
  },
  { name: 'resources reference', generate: generateResourcesReference },
  { name: 'configuration reference', generate: generateConfigurationReference },
  { name: 'conditions reference', generate: generateConditionsReference },
  { name: 'events', generate: generateEventsReference },
  { name: 'metrics reference', generate: generateMetricsReference },
  { name: 'chart values', generate: generateChartValues },
  { name: 'alerts', generate: generateAlerts },
  { name: 'dashboards', generate: generateDashboards, owns: [{ folder: 'charts/parley/files/dashboards', ending: '.json' }] },
  { name: 'references for Kustomize', generate: generateKustomizeReferences },
  { name: 'OpenAPI document', generate: generateOpenApi },
];

const root = fileURLToPath(new URL('..', import.meta.url));

async function readOrUndefined(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function listOrEmpty(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Files that a generator owns by their place but no longer makes. */
async function leftovers(generator: Generator, made: ReadonlySet<string>): Promise<readonly string[]> {
  const found: string[] = [];
  for (const { folder, ending } of generator.owns ?? []) {
    for (const file of await listOrEmpty(join(root, folder))) {
      const path = `${folder}/${file}`;
      if (file.endsWith(ending) && !made.has(path)) found.push(path);
    }
  }
  return found;
}

async function main(check: boolean): Promise<number> {
  const drifted: string[] = [];
  for (const generator of generators) {
    const files = await generator.generate();
    for (const { path, content } of files) {
      const target = join(root, path);
      if ((await readOrUndefined(target)) === content) continue;
      drifted.push(path);
      if (check) continue;
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, content);
    }
    for (const path of await leftovers(generator, new Set(files.map((file) => file.path)))) {
      drifted.push(`${path} (no longer generated)`);
      if (!check) await rm(join(root, path));
    }
  }
  for (const path of drifted) process.stdout.write(`${check ? 'differs' : 'written'}: ${path}\n`);
  if (!check || drifted.length === 0) return 0;
  process.stdout.write(
    `${drifted.length} generated ${drifted.length === 1 ? 'file differs' : 'files differ'} from the sources: run \`npm run generate\`\n`,
  );
  return 1;
}

process.exitCode = await main(process.argv.includes('--check'));
