import { beforeAll, describe, expect, it } from 'vitest';

import { agentTestProblems } from '../../../crds/agent-test-problems.ts';
import { agentProblems, knowledgeBaseProblems, toolProblems } from '../../../crds/limits.ts';
import { kinds, type Agent, type AgentTest, type KnowledgeBase, type Tool } from '../../../crds/index.ts';
import type { TestManifest } from '../../support/builders.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { filenameFlags, findExamples } from '../../../local-stack/manifests.ts';
import { readExamples } from './example-files.ts';
import { openCluster, type StoredManifest } from './support.ts';

const files = filenameFlags(findExamples().files);

describe('the examples', () => {
  const cluster = suiteFixture(() => openCluster('examples'));
  let objects: readonly TestManifest[];
  beforeAll(async () => {
    objects = await readExamples();
  });

  it('hold every kind, and name no namespace', () => {
    expect([...new Set(objects.map((object) => object.kind))].toSorted()).toEqual(
      [...kinds.map((kind) => kind.descriptor.kind), 'ConfigMap', 'Secret'].toSorted(),
    );
    expect(objects.filter((object) => object.metadata.namespace !== undefined)).toEqual([]);
  });

  it('hold placeholders where a secret would be', () => {
    const values = objects.flatMap((object) => Object.values(object.stringData ?? {}));
    expect(values.length).toBeGreaterThan(0);
    expect(values.filter((value) => !value.includes('replace-me'))).toEqual([]);
  });

  it.each([
    ['--server-side'],
    // Client-side apply takes over the fields of the former as its own; that is what people who mix the two do.
    ['--server-side=false'],
  ])('are taken by kubectl apply %s, again without a change', async (mode) => {
    // Without an operator the second one stores the default of status.
    for (let time = 0; time < 2; time += 1) await cluster.kubectl(['apply', mode, ...files]);
    const versions = () =>
      cluster.kubectl([
        'get',
        'parley,secret,configmap',
        '-o',
        'jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.resourceVersion}{"\\n"}{end}',
      ]);
    const first = await versions();
    await cluster.kubectl(['apply', mode, ...files]);
    expect(await versions()).toBe(first);
    for (const object of objects) expect(first).toContain(`${object.kind}/${object.metadata.name} `);
  });

  it('have no problem that only the operator would find', async () => {
    await cluster.kubectl(['apply', '--server-side', '--force-conflicts', ...files]);
    const stored = async <T>(kind: string): Promise<readonly T[]> => {
      const named = objects.filter((object) => object.kind === kind);
      return Promise.all(named.map((object) => cluster.get(kind, object.metadata.name) as Promise<StoredManifest & T>));
    };
    expect((await stored<Agent>('Agent')).flatMap((agent) => agentProblems(agent.spec))).toEqual([]);
    expect((await stored<Tool>('Tool')).flatMap((tool) => toolProblems(tool.spec))).toEqual([]);
    expect((await stored<KnowledgeBase>('KnowledgeBase')).flatMap((knowledgeBase) => knowledgeBaseProblems(knowledgeBase.spec))).toEqual(
      [],
    );
    expect((await stored<AgentTest>('AgentTest')).flatMap((test) => agentTestProblems(test.spec))).toEqual([]);
  });

  it('refer to nothing that they do not hold', () => {
    const held = new Set(objects.flatMap((object) => keysOf(object).map((key) => `${object.kind}/${object.metadata.name}${key}`)));
    const named = objects.flatMap((object) => references(object));
    expect(named).toEqual(
      expect.arrayContaining([
        'Secret/order-system#authorization',
        'ConfigMap/workshop-handbook#handbook.md',
        'Agent/receptionist',
        'KnowledgeBase/workshop-handbook',
      ]),
    );
    expect(named.filter((reference) => !held.has(reference))).toEqual([]);
  });
});

const keysOf = (object: TestManifest & { readonly data?: object }): readonly string[] => [
  '',
  ...Object.keys({ ...object.stringData, ...object.data }).map((key) => `#${key}`),
];

/** Returns `Secret/name#key` and `Agent/name`, found by the names of the fields that refer. */
function references(node: unknown, field = ''): readonly string[] {
  if (Array.isArray(node)) return node.flatMap((item) => references(item, field));
  if (typeof node !== 'object' || node === null) return [];
  const { name, key } = node as { readonly name?: string; readonly key?: string };
  if (/secret(Key)?Ref$/i.test(field)) return [`Secret/${name ?? ''}${key === undefined ? '' : `#${key}`}`];
  if (/^configMap(KeyRef)?$/.test(field)) return [`ConfigMap/${name ?? ''}#${key ?? ''}`];
  if (/agentRefs?$/i.test(field)) return [`Agent/${name ?? ''}`];
  if (field === 'knowledgeBaseRef') return [`KnowledgeBase/${name ?? ''}`];
  return Object.entries(node).flatMap(([child, value]) => references(value, child));
}
