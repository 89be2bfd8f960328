/** The folders in examples/recipes are what `parley init` offers, and an agent of theirs can be named otherwise. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { isObject } from '../../platform/json.ts';
import { readYaml } from '../../platform/yaml.ts';
import { recipesFolder, templateNames, templates } from './templates.ts';

const root = recipesFolder();

it('has a template for each folder, in the order of the page', () => {
  expect(templateNames.toSorted()).toEqual(readdirSync(root).toSorted());
});

describe.each(templateNames)('%s', (template) => {
  const filesIn = (folder: string): readonly string[] =>
    readdirSync(join(root, template, folder))
      .filter((file) => file.endsWith('.yaml'))
      .map((file) => join(root, template, folder, file));
  const objects = ['.', 'manifests', 'tests']
    .flatMap(filesIn)
    .flatMap((file) => readYaml(readFileSync(file, 'utf8')).map(({ value }) => value));
  const ofKind = (kind: string) => objects.filter((object) => isObject(object) && object['kind'] === kind) as readonly Named[];

  it('has one agent of its name and those that it hands over to, with tools, tests, a page, keys and a CI file', () => {
    const agents = ofKind('Agent').map(({ metadata }) => metadata.name);
    const handoffs = ofKind('Agent').flatMap(({ spec }) => spec?.handoffs ?? []);
    expect(agents.toSorted()).toEqual([...new Set([template, ...handoffs.map(({ agentRef }) => agentRef.name)])].toSorted());
    expect(ofKind('Tool').length).toBeGreaterThan(1);
    expect(ofKind('AgentTest').length).toBeGreaterThan(4);
    for (const file of ['README.md', 'secrets.yaml', '.github/workflows/agents.yaml'])
      expect([file, existsSync(join(root, template, file))]).toEqual([file, true]);
  });

  it('has tests named as their files, with the one that the first conversation takes', () => {
    expect(ofKind('AgentTest').map(({ metadata }) => metadata.name)).toEqual(
      filesIn('tests').map((file) => file.replace(/^.*\/(.*)\.yaml$/, '$1')),
    );
    expect(ofKind('AgentTest').map(({ metadata }) => metadata.name)).toContain(templates[template].firstTest);
  });

  it('has Secrets with placeholders only', () => {
    const values = ofKind('Secret').flatMap(({ stringData = {} }) => Object.values(stringData));
    expect(values.length).toBeGreaterThan(2);
    for (const value of values) expect(value).toMatch(/replace-me/);
  });

  it('uses the name of the agent for nothing else in a field `name`', () => {
    const names = objects.flatMap((object) => namedBy(object, ''));
    const places = names.filter(({ name }) => name === template).map(({ path }) => path.replaceAll(/\d+/g, 'n'));
    expect(
      [...new Set(places)].filter((path) => !/^(?:\.metadata|\.spec\.(?:agentRefs\.n|(?:inbound|outbound)AgentRef))\.name$/.test(path)),
    ).toEqual([]);
    expect(
      objects.filter((object) => isObject(object) && isObject(object['metadata']) && object['metadata']['name'] === template),
    ).toHaveLength(1);
  });
});

interface Named {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec?: { readonly handoffs?: readonly { readonly agentRef: { readonly name: string } }[] };
  readonly stringData?: Readonly<Record<string, string>>;
}

/** Finds every text in a field `name`, with the path of the field. */
function namedBy(value: unknown, path: string): readonly { readonly path: string; readonly name: string }[] {
  if (typeof value !== 'object' || value === null) return [];
  const below = Object.entries(value).flatMap(([key, inner]) => namedBy(inner, `${path}.${key}`));
  const { name } = value as { readonly name?: unknown };
  return typeof name === 'string' ? [{ path: `${path}.name`, name }, ...below] : below;
}
