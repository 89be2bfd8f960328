import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { isObject } from '../platform/json.ts';
import { readYaml } from '../platform/yaml.ts';
import { agentRemarks } from './agent-consistency.ts';
import { agentTestProblems } from './agent-test-problems.ts';
import { agentKind, agentTestKind, knowledgeBaseKind, kinds, toolKind, type AgentSpec, type ToolSpec } from './index.ts';
import type { KindDefinition } from './kind.ts';
import { agentProblems, knowledgeBaseProblems, toolProblems, type SpecProblem } from './limits.ts';
import { toolRemarks } from './tool-consistency.ts';

const root = join(import.meta.dirname, '..');

interface Documented {
  readonly place: string;
  readonly kind: KindDefinition;
  readonly spec: unknown;
}

/** Returns whole resources: those that a page writes out with their kind, and not what is merged into another one. */
function resourcesIn(file: string): readonly Documented[] {
  const text = readFileSync(join(root, file), 'utf8');
  const blocks = file.endsWith('.yaml')
    ? [text]
    : Array.from(text.matchAll(/^```yaml\n(.*?)^```|<<'YAML'\n(.*?)^YAML/gms), ([, a, b]) => a ?? b ?? '');
  return blocks
    .filter((block) => /^kind: /m.test(block))
    .flatMap((block) => readYaml(block).map(({ value }) => value as { readonly kind?: string; readonly spec?: unknown }))
    .flatMap(({ kind: name, spec }) => {
      const kind = kinds.find(({ descriptor }) => descriptor.kind === name);
      const isPart = kind === agentKind && isObject(spec) && spec['speechToText'] === undefined;
      return kind === undefined || isPart ? [] : [{ place: `${file} ${name}`, kind, spec }];
    });
}

const files = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(md|yaml)$/.test(file))
    .map((file) => join(folder, file));
const documented = ['README.md', ...files('docs'), ...files('examples')].flatMap(resourcesIn);

const checks: Readonly<Record<string, (spec: never) => readonly SpecProblem[]>> = {
  [agentKind.descriptor.kind]: (spec: AgentSpec) => [...agentProblems(spec), ...agentRemarks(spec)],
  [toolKind.descriptor.kind]: (spec: ToolSpec) => [...toolProblems(spec), ...toolRemarks(spec)],
  [knowledgeBaseKind.descriptor.kind]: knowledgeBaseProblems,
  [agentTestKind.descriptor.kind]: agentTestProblems,
};

describe('a resource that the docs and the examples show', () => {
  it.each(documented.map(({ place, ...one }) => [place, one] as const))(
    'has nothing to be said against it: %s',
    (_place, { kind, spec }) => {
      const read = kind.spec.safeParse(spec);
      expect(read.error?.issues).toBeUndefined();
      expect((checks[kind.descriptor.kind] ?? (() => []))(read.data as never)).toEqual([]);
    },
  );

  it('is found', () => {
    expect(documented.length).toBeGreaterThan(20);
    expect(new Set(documented.map(({ kind }) => kind)).size).toBe(kinds.length);
  });
});
