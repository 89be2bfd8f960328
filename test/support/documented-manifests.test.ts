/** The API server and the chart would take the YAML of the documents. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { describe, expect, it } from 'vitest';
import { Ajv } from 'ajv';
import { parseAllDocuments } from 'yaml';

import { checkSpec } from '../../cli/agent-files/check-object.ts';
import { kinds } from '../../crds/index.ts';
import { isObject } from '../../platform/json.ts';

const root = resolve(import.meta.dirname, '../..');
const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.md'));

type Block = Readonly<Record<string, unknown>>;

/** Fields that excerpts leave out, by kind. */
const rest: Readonly<Record<string, Block>> = {
  Agent: { llm: { provider: 'openai', model: 'm' }, speechToText: { provider: 'deepgram' }, textToSpeech: { provider: 'cartesia' } },
  AgentTest: { agentRefs: [{ name: 'a' }], type: 'Conversation', conversation: [{ type: 'User', user: 'Hello' }] },
};

const blocks = pages.flatMap((page) => blocksOf(readFileSync(join(root, 'docs', page), 'utf8')).map((block) => ({ page, block })));

const resources = blocks.flatMap(({ page, block: { apiVersion, kind, spec } }) =>
  isObject(spec) && (apiVersion === undefined || apiVersion === 'parley.dev/v1beta1') ? [{ page, kind, spec }] : [],
);

describe('resources in the documents', () => {
  it('are found', () => expect(resources.length).toBeGreaterThan(10));

  it.each(resources.map((each) => [each.page, Object.keys(each.spec).join(', '), each] as const))(
    '%s: %s',
    (_page, _fields, { kind, spec }) => {
      // An excerpt that doesn't name its kind fits one of them.
      const candidates = kinds.filter(({ descriptor }) => kind === undefined || descriptor.kind === kind);
      const problems = candidates.map((each) => checkSpec(each, { ...rest[each.descriptor.kind], ...spec }).problems);
      expect(problems.toSorted((a, b) => a.length - b.length)[0]).toEqual([]);
    },
  );
});

describe('values of the chart in the documents', () => {
  const schema = JSON.parse(readFileSync(join(root, 'charts/parley/values.schema.json'), 'utf8')) as { readonly properties: Block };
  const isValid = new Ajv({ strict: false, validateFormats: false }).compile(schema);
  const values = blocks.filter(({ block }) => Object.keys(block).some((name) => Object.hasOwn(schema.properties, name)));

  it('are found', () => expect(values.length).toBeGreaterThan(3));

  it.each(values.map(({ page, block }) => [page, Object.keys(block).join(', '), block] as const))('%s: %s', (_page, _names, block) => {
    expect(isValid(block), JSON.stringify(isValid.errors)).toBe(true);
  });
});

function blocksOf(text: string): readonly Block[] {
  return [...text.matchAll(/^```ya?ml\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) =>
    parseAllDocuments(block).map((document) => {
      if (document.errors[0] !== undefined) throw document.errors[0];
      return document.toJS() as Block;
    }),
  );
}
