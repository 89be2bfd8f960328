/** Tests what the chart parley-demo makes of its values: it is rendered through the chart parley. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { llmProviders, speechProviders } from '../../../crds/providers.ts';
import { repositoryRoot } from '../../../local-stack/repository.ts';
import { find, helm, ofKind, parseManifests, podsOf, type Rendered, roles } from './helm.ts';

const chart = join(repositoryRoot(), 'charts/parley-demo');
const NAMESPACE = 'parley-demo';

async function render(values: object): Promise<readonly Rendered[]> {
  return parseManifests(await helm(['template', 'parley-demo', chart, '--namespace', NAMESPACE, '--kube-version', '1.34.4'], { values }));
}

/** Returns the manifests of an installation without a value. */
const byDefault = (
  (rendered?: Promise<readonly Rendered[]>) => () =>
    (rendered ??= render({}))
)();

const servers = ['livekit', 'postgres', 'robot', 'temporal'] as const;

describe('the demo chart', () => {
  it('passes helm lint without a value', async () => {
    expect(await helm(['lint', chart, '--strict', '--kube-version', '1.34.4'])).toContain('1 chart(s) linted, 0 chart(s) failed');
  });

  it('has the version of the chart parley', async () => {
    const [demo, parley] = (await Promise.all(
      ['parley-demo', 'parley'].map(async (name) => parse(await readFile(join(repositoryRoot(), 'charts', name, 'Chart.yaml'), 'utf8'))),
    )) as { readonly version: string; readonly appVersion: string; readonly dependencies: readonly { readonly version: string }[] }[];
    expect([demo?.version, demo?.appVersion, demo?.dependencies[0]?.version]).toEqual(Array(3).fill(parley?.version));
  });

  it('brings one pod of each role and of each server', async () => {
    const deployments = ofKind(await byDefault(), 'Deployment');
    expect(deployments.map(({ metadata }) => metadata.name).toSorted()).toEqual(
      [...servers, ...roles.map((role) => `parley-${role}`)].toSorted(),
    );
    for (const { metadata, spec } of deployments) expect(spec.replicas, metadata.name).toBe(1);
  });

  it('meets the restricted Pod Security Standard, unless LiveKit has the network of the node', async () => {
    const manifests = await byDefault();
    const pods = podsOf(manifests);
    expect(pods.length).toBeGreaterThan(servers.length + roles.length);
    for (const { name, template } of pods) {
      expect(template.spec.securityContext, name).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
      expect(template.spec['hostNetwork'], name).toBeUndefined();
      for (const { securityContext } of [...template.spec.containers, ...(template.spec.initContainers ?? [])])
        expect(securityContext, name).toMatchObject({ allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } });
    }
    const open = await render({ livekit: { hostNetwork: true, nodeAddress: '203.0.113.7' } });
    expect(find(open, 'Deployment', 'livekit')['spec'].template.spec.hostNetwork).toBe(true);
    expect(livekitOf(open)).toMatchObject({ rtc: { node_ip: '203.0.113.7' } });
    expect(livekitOf(manifests)).not.toHaveProperty('rtc.node_ip');
  });

  it('takes the images of the values, and pins those that it names itself', async () => {
    const images = { postgres: 'own/postgres:1', temporal: 'own/temporal:1', livekit: 'own/livekit:1', python: 'own/python:1' };
    const imagesOf = (manifests: readonly Rendered[]) =>
      podsOf(manifests).flatMap(({ template: { spec } }) => [...spec.containers, ...(spec.initContainers ?? [])].map(({ image }) => image));
    const used = new Set(imagesOf(await render({ images, parley: { image: { registry: 'own', tag: 'dev' } } })));
    expect([...used].toSorted()).toEqual([...Object.values(images), 'own/parley:dev'].toSorted());
    for (const image of imagesOf(await byDefault())) expect(image).toMatch(/:v?\d+\.\d+\.\d+/);
  });

  it('leads every provider to the robot', async () => {
    const env = find(await byDefault(), 'Deployment', 'parley-voice')['spec'].template.spec.containers[0].env as readonly {
      readonly name: string;
      readonly value?: string;
    }[];
    const value = env.find(({ name }) => name === 'PARLEY_PROVIDERS')?.value ?? '[]';
    const providers = JSON.parse(value) as readonly { readonly name: string; readonly baseURL: string }[];
    expect(providers.map(({ name }) => name).toSorted()).toEqual([...new Set([...llmProviders, ...speechProviders])].toSorted());
    for (const { baseURL } of providers) expect(baseURL).toBe('http://robot:7890/v1');
  });

  it('gives the same passwords to those who need them', async () => {
    const manifests = await byDefault();
    const { stringData } = find(manifests, 'Secret', 'parley-demo') as unknown as { readonly stringData: Readonly<Record<string, string>> };
    expect(stringData['postgres-password']).toMatch(/^\w{32}$/);
    expect(stringData['database-url']).toBe(`postgres://parley:${stringData['postgres-password']}@postgres:5432/postgres`);
    expect(livekitOf(manifests)).toMatchObject({ keys: { parley: stringData['livekit-secret'] }, webhook: { api_key: 'parley' } });
  });

  it('brings the example agent after the definitions, with a tool that asks the robot', async () => {
    const manifests = await byDefault();
    const examples = manifests.filter(
      ({ metadata }) => metadata.namespace === 'demo' && metadata.annotations?.['helm.sh/hook'] !== undefined,
    );
    expect(examples.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['Agent', 'Tool', 'KnowledgeBase', 'ConfigMap', 'Secret']));
    for (const { metadata } of examples) expect(metadata.annotations?.['helm.sh/hook'], metadata.name).toBe('post-install');
    expect(find(manifests, 'Tool', 'look-up-order')['spec'].custom.http.url).toBe(
      'http://robot.parley-demo.svc.cluster.local:7890/orders/{order_number}',
    );
    expect(ofKind(await render({ example: false }), 'Agent')).toEqual([]);
  });

  it.each([
    ['an image without a tag', { images: { postgres: 'postgres' } }, '/images/postgres'],
    ['an address that is none', { livekit: { nodeAddress: 'my-node' } }, '/livekit/nodeAddress'],
    ['a value that it doesn’t know', { postgres: {} }, 'postgres'],
    ['a wrong value of the chart parley', { parley: { voice: { enabled: 'yes' } } }, '/voice/enabled'],
  ])('refuses %s', async (_what, values, named) => {
    await expect(render(values)).rejects.toThrow(named);
  });
});

const livekitOf = (manifests: readonly Rendered[]): unknown =>
  parse(find(manifests, 'Secret', 'parley-demo')['stringData']['livekit.yaml']);
