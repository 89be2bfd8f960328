/** Argo CD, Flux and Kustomize handle Parley's resources and the files in examples/. */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { repositoryRoot } from '../../../local-stack/repository.ts';
import { kinds } from '../../../crds/index.ts';
import { suiteFolder } from '../../support/folders.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { readExamples } from '../crds/example-files.ts';
import { openCluster, type SchemaCluster } from '../crds/support.ts';
import { parseManifests, render, type Rendered } from './helm.ts';

const examples = join(repositoryRoot(), 'examples');
const overlay = (environment: string): string => join(examples, 'kustomize/overlays', environment);

const cluster = suiteFixture(() => openCluster('gitops'));
const folder = suiteFolder();

describe('the examples of Argo CD and Flux', () => {
  it('is configured for Argo CD for each of the six kinds', async () => {
    const [patch] = parseManifests(await cluster.kubectl(['kustomize', join(examples, 'argocd')]));
    const [script, ofApplications] = await Promise.all(
      ['health.lua', 'application-health.lua'].map((name) => readFile(join(examples, 'argocd', name), 'utf8')),
    );
    expect(patch?.metadata).toMatchObject({ name: 'argocd-cm', namespace: 'argocd' });
    expect(patch?.['data']).toEqual(
      Object.fromEntries([
        ...kinds.map(({ descriptor }) => [`resource.customizations.health.parley.dev_${descriptor.kind}`, script]),
        ['resource.customizations.health.argoproj.io_Application', ofApplications],
      ]),
    );
  });

  it('point at what there is, with values that the chart takes', async () => {
    const applications = parseManifests(await readFile(join(examples, 'argocd/applications.yaml'), 'utf8'));
    const flux = parseManifests(await readFile(join(examples, 'flux/parley.yaml'), 'utf8'));
    const paths = [
      ...applications.map(({ spec }) => (spec as { source: { path: string } }).source.path),
      ...flux.flatMap(({ spec }) => {
        const { path, chart } = spec as { path?: string; chart?: { spec: { chart: string } } };
        return [path, chart?.spec.chart].filter((one) => one !== undefined);
      }),
    ];
    expect(paths).toHaveLength(6);
    for (const { spec } of applications)
      expect((spec as { syncPolicy: { retry: { limit: number } } }).syncPolicy.retry.limit, 'retries without end').toBe(-1);
    for (const path of paths) expect(existsSync(join(repositoryRoot(), path)), path).toBe(true);
    const values = [
      applications[1]?.['spec'].source.helm.valuesObject,
      flux.find(({ metadata, kind }) => kind === 'HelmRelease' && metadata.name === 'parley')?.['spec'].values,
    ] as object[];
    for (const own of values) expect((await render(own)).length).toBeGreaterThan(40);
  });
});

describe('the overlays', () => {
  it.each(['dev', 'stage', 'prod'])('%s builds, and the API server takes all of it', async (environment) => {
    const objects = await build(environment);
    expect(objects.map(({ kind }) => kind).toSorted()).toEqual(
      [...(environment === 'dev' ? ['Secret'] : []), 'Agent', 'ConfigMap', 'KnowledgeBase', 'Tool', 'WebhookSubscription'].toSorted(),
    );
    const agent = objects.find(({ kind }) => kind === 'Agent');
    const prompt = objects.find(({ kind }) => kind === 'ConfigMap')?.metadata.name;
    expect(prompt).toMatch(/^receptionist-prompt-[a-z0-9]{10}$/);
    expect(agent?.['spec'].llm.systemPromptFrom.configMapKeyRef.name).toBe(prompt);
    expect(agent?.metadata.labels).toEqual({ environment });
    await apply(objects, 'kustomize', ['--dry-run=server']);
  });

  it('follow a name that Kustomize changes into every reference', async () => {
    const references = parseManifests(await readFile(join(examples, 'kustomize/base/parley-references.yaml'), 'utf8'))[0];
    const paths = ((references ?? ({} as Rendered))['nameReference'] as { fieldSpecs: { kind: string; path: string }[] }[]).flatMap(
      ({ fieldSpecs }) => fieldSpecs.map(({ kind, path }) => `${kind} ${path}`),
    );
    expect(paths).toContain('Tool spec/agentRefs/name');
    expect(paths).toContain('PhoneNumber spec/sip/passwordSecretRef/name');
    expect(new Set(paths).size).toBe(paths.length);
  });
});

describe('two managers, again and again', () => {
  it.each([
    ['examples/', async () => ((await readExamples()) as unknown as readonly Rendered[]).map(asTheyApply)],
    ['an overlay', async () => build('dev')],
  ])('find no drift in %s', async (_name, load) => {
    const objects = await load();
    // The two sets have names in common.
    const own = await openCluster('drift');
    try {
      const managers = ['argocd-controller', 'kustomize-controller'];
      for (const manager of managers) await apply(objects, manager, [], own);
      const before = await versions(objects, own);
      for (let round = 0; round < 3; round += 1) {
        for (const manager of managers) {
          await apply(objects, manager, [], own);
          expect(await versions(objects, own), `${manager} in round ${round}`).toEqual(before);
        }
      }
      // kubectl would print a difference, and exit with 1.
      for (const manager of managers) {
        const difference = own.kubectl([
          'diff',
          '--server-side',
          '--force-conflicts',
          `--field-manager=${manager}`,
          `--filename=${await file(objects)}`,
        ]);
        await expect(difference).resolves.toBe('');
      }
    } finally {
      await own.close();
    }
  });
});

/** Builds the overlay, without the namespace that it names: the test has one of its own. */
async function build(environment: string): Promise<readonly Rendered[]> {
  const objects = parseManifests(await cluster.kubectl(['kustomize', overlay(environment)]));
  return objects.map((object) => {
    const { namespace, ...metadata } = object.metadata;
    expect(namespace).toBe(`acme-${environment}`);
    return Object.assign(object, { metadata });
  });
}

/** Writes the objects to a file for kubectl to read. */
async function file(objects: readonly Rendered[]): Promise<string> {
  const path = join(folder, 'objects.json');
  await writeFile(path, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  return path;
}

async function apply(
  objects: readonly Rendered[],
  manager: string,
  more: readonly string[] = [],
  where: SchemaCluster = cluster,
): Promise<void> {
  // Argo CD and Flux do the same: both take what is theirs by the repository.
  await where.kubectl([
    'apply',
    '--server-side',
    '--force-conflicts',
    `--field-manager=${manager}`,
    `--filename=${await file(objects)}`,
    ...more,
  ]);
}

/** Returns the version of each object: any write moves it on. */
async function versions(objects: readonly Rendered[], where: SchemaCluster): Promise<readonly string[]> {
  const text = await where.kubectl([
    'get',
    `--filename=${await file(objects)}`,
    '--output=jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.resourceVersion}{"\\n"}{end}',
  ]);
  return text.trim().split('\n');
}

/**
 * Sends `data` in place of `stringData`, as Flux and Argo CD do: the API server never keeps `stringData`, so that each apply of it changes
 * the Secret's owners, whatever is in it.
 */
function asTheyApply(object: Rendered): Rendered {
  const { stringData, ...rest } = object;
  if (stringData === undefined) return object;
  const data = Object.entries(stringData as Record<string, string>).map(([key, value]) => [key, Buffer.from(value).toString('base64')]);
  return { ...rest, data: Object.fromEntries(data) as object };
}
