/**
 * Compares what our tests take for OpenTelemetry's conventions for generative AI with the published model: `node scripts/check-gen-ai-conventions.ts
 * FOLDER`, which has a checkout of the project semantic-conventions at the version that test/support/gen-ai-conventions.ts names.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { parse } from 'yaml';

import { CONVENTIONS_VERSION, SPANS, TYPES, type RequirementLevel } from '../test/support/gen-ai-conventions.ts';

interface Group {
  readonly id: string;
  readonly type: string;
  readonly extends?: string;
  readonly span_kind?: string;
  readonly attributes?: readonly Attribute[];
}
interface Attribute {
  readonly id?: string;
  readonly ref?: string;
  readonly type?: unknown;
  readonly requirement_level?: string | Readonly<Record<string, string>>;
}

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error(`name the folder with the model of version ${CONVENTIONS_VERSION}`);

const groupsIn = async (...names: readonly string[]): Promise<readonly Group[]> => {
  const files = await Promise.all(names.map((name) => readFile(join(folder, 'model', name), 'utf8')));
  return files.flatMap((text) => (parse(text) as { readonly groups: readonly Group[] }).groups);
};

const spans = new Map((await groupsIn('gen-ai/spans.yaml')).map((group) => [group.id, group]));
const registered = (await groupsIn('gen-ai/registry.yaml', 'server/registry.yaml', 'error/registry.yaml')).flatMap(
  ({ attributes = [] }) => attributes,
);
const published = new Map(registered.map(({ id, type }) => [id, type]));
const problems: string[] = [];

/** Returns the levels of a group, with those of the group that it extends. */
function levelsOf(id: string): ReadonlyMap<string, RequirementLevel> {
  const group = spans.get(id);
  if (group === undefined) throw new Error(`${folder} has no group ${id}: is it version ${CONVENTIONS_VERSION}?`);
  const levels = new Map(group.extends === undefined ? [] : levelsOf(group.extends));
  for (const { ref = '', requirement_level: level } of group.attributes ?? []) {
    if (level !== undefined || !levels.has(ref)) levels.set(ref, levelOf(level ?? 'recommended'));
  }
  return levels;
}

function levelOf(level: NonNullable<Attribute['requirement_level']>): RequirementLevel {
  const [name = ''] = typeof level === 'string' ? [level] : Object.keys(level);
  return name === 'conditionally_required' ? 'conditional' : (name as RequirementLevel);
}

for (const { id, kind, attributes } of new Set(Object.values(SPANS))) {
  const wanted = spans.get(id)?.span_kind === 'internal' ? 1 : 3;
  if (kind !== wanted) problems.push(`${id}: the kind is ${wanted}, not ${kind}`);
  const levels = levelsOf(id);
  for (const name of new Set([...levels.keys(), ...Object.keys(attributes)])) {
    if (levels.get(name) !== attributes[name])
      problems.push(`${id}: ${name} is ${levels.get(name) ?? 'no attribute'}, not ${attributes[name] ?? 'absent'}`);
    const type = published.get(name);
    const plain = typeof type === 'string' ? type : 'string';
    if (plain !== (TYPES[name] ?? 'string')) problems.push(`${name} is ${plain}, not ${TYPES[name] ?? 'string'}`);
  }
}

process.stdout.write(`${problems.join('\n') || `as version ${CONVENTIONS_VERSION} has it: ${Object.keys(SPANS).join(', ')}`}\n`);
process.exitCode = problems.length === 0 ? 0 : 1;
