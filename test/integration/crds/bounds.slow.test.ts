/** Objects that are far too large are refused by both kinds of `kubectl apply`, with the field and the limit. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { suiteFolder } from '../../support/folders.ts';
import { agent, custom, manifestOf, openCluster, webhook, type ManifestFields } from './support.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';

const MIB = 1024 * 1024;
const many = <T>(count: number, make: (index: number) => T): readonly T[] => Array.from({ length: count }, (_value, index) => make(index));
const refs = many(10_000, (index) => ({ name: `a-${index}` }));
const words = many(10_000, (index) => `A.e${index}`);

/** Client-side apply sends the object twice (once as an annotation), so that the limit of a request may come first. */
const tooLarge = 'Request entity too large: limit is 3145728';

const rows: readonly (readonly [string, string, ManifestFields, string])[] = [
  [
    'a prompt of 2 MB',
    'Agent',
    agent({ llm: { model: 'm', systemPrompt: 'x'.repeat(2 * MIB) } }),
    'spec.llm.systemPrompt: Too long: may not be more than 4096 bytes',
  ],
  ['a name of 1 MB', 'Agent', agent({ displayName: 'x'.repeat(MIB) }), 'spec.displayName: Too long: may not be more than 200 bytes'],
  [
    'a welcome of 1 MB',
    'Agent',
    agent({ welcomeMessage: 'x'.repeat(MIB) }),
    'spec.welcomeMessage: Too long: may not be more than 2000 bytes',
  ],
  [
    'a reference of 1 MB',
    'Agent',
    agent({ knowledgeBaseRef: { name: 'x'.repeat(MIB) } }),
    'spec.knowledgeBaseRef.name: Too long: may not be more than 253 bytes',
  ],
  [
    '10,000 lookups',
    'Agent',
    agent({ dynamicData: refs.map(({ name }) => ({ name, url: 'https://example.com' })) }),
    'spec.dynamicData: Too many: 10000: must have at most 10 items',
  ],
  [
    '10,000 analyses',
    'Agent',
    agent({ postCallAnalysis: refs.map(({ name }) => ({ name, type: 'String' })) }),
    'spec.postCallAnalysis: Too many: 10000: must have at most 32 items',
  ],
  [
    '10,000 required names',
    'Agent',
    agent({ requiredDynamicData: words }),
    'spec.requiredDynamicData: Too many: 10000: must have at most 64 items',
  ],
  [
    '10,000 agents of a tool',
    'Tool',
    { type: 'TransferCall', transferCall: { to: '+15550100' }, agentRefs: refs },
    'spec.agentRefs: Too many: 10000: must have at most 256 items',
  ],
  [
    '10,000 headers',
    'Tool',
    custom({ headers: refs.map(({ name }) => ({ name, value: 'v' })) }),
    'spec.custom.http.headers: Too many: 10000: must have at most 32 items',
  ],
  [
    '10,000 parameters',
    'Tool',
    custom({ fixedParams: Object.fromEntries(refs.map(({ name }) => [name, {}])) }),
    'spec.custom.http.fixedParams: Too many: 10000: must have at most 64 items',
  ],
  [
    'an address of 1 MB',
    'Tool',
    custom({ url: `https://example.com/${'x'.repeat(MIB)}` }),
    'spec.custom.http.url: Too long: may not be more than 2048 bytes',
  ],
  [
    'a number of 1 MB',
    'PhoneNumber',
    { number: `+1${'5'.repeat(MIB)}`, type: 'Native' },
    'spec.number: Too long: may not be more than 16 bytes',
  ],
  [
    '10,000 sources',
    'KnowledgeBase',
    { sources: refs.map(({ name }) => ({ name, type: 'ConfigMap', configMap: { name: 'n', key: 'k' } })) },
    'spec.sources: Too many: 10000: must have at most 64 items',
  ],
  [
    '10,000 pages',
    'KnowledgeBase',
    { sources: [{ name: 'a', type: 'Website', website: { urls: many(10_000, (index) => `https://example.com/${index}`) } }] },
    'spec.sources[0].website.urls: Too many: 10000: must have at most 100 items',
  ],
  [
    'a description of 1 MB',
    'KnowledgeBase',
    { description: 'x'.repeat(MIB) },
    'spec.description: Too long: may not be more than 1500 bytes',
  ],
  ['10,000 events', 'WebhookSubscription', webhook({ events: words }), 'spec.events: Too many: 10000: must have at most 64 items'],
  [
    '10,000 agents in scope',
    'WebhookSubscription',
    webhook({ scope: { type: 'AgentRefs', agentRefs: refs } }),
    'spec.scope.agentRefs: Too many: 10000: must have at most 100 items',
  ],
];

describe('objects far too large', () => {
  const cluster = suiteFixture(() => openCluster('bounds'));
  const folder = suiteFolder();

  /** Returns kubectl's complaint when it applies the object; throws when the object is taken. */
  async function complaint(kind: string, name: string, spec: ManifestFields, options: readonly string[]): Promise<string> {
    const file = join(folder, 'object.json');
    await writeFile(file, JSON.stringify(manifestOf(kind, name, spec)));
    try {
      await cluster.kubectl(['apply', ...options, '-f', file]);
    } catch (error) {
      return (error as { readonly stderr?: string }).stderr ?? '';
    }
    throw new Error(`${kind} ${name} was taken`);
  }

  it.each(rows)('%s is refused', async (_title, kind, spec, message) => {
    const serverSide = await complaint(kind, 'large', spec, ['--server-side']);
    expect(serverSide).toContain(message);
    // A refusal that repeats the value would flood a terminal, and a log.
    expect(serverSide.length).toBeLessThan(2000);
    const clientSide = await complaint(kind, 'large', spec, []);
    expect([message, tooLarge].filter((text) => clientSide.includes(text))).not.toEqual([]);
    expect(clientSide.length).toBeLessThan(2000);
  });

  it('a metadata.name beyond 253 characters is refused', async () => {
    expect(await complaint('Agent', 'n'.repeat(254), agent({}), ['--server-side'])).toContain('must be no more than 253 characters');
    expect(await complaint('Agent', 'n'.repeat(254), agent({}), [])).toContain('must be no more than 253 characters');
  });

  it('duplicates are refused in lists by key and where order counts', async () => {
    const twice = { name: 'a', url: 'https://example.com' };
    expect(await complaint('Agent', 'twice', agent({ dynamicData: [twice, twice] }), ['--server-side'])).toContain(
      '.spec.dynamicData: duplicate entries for key [name="a"]',
    );
    expect(await complaint('Agent', 'twice', agent({ dynamicData: [twice, twice] }), [])).toContain(
      'spec.dynamicData[1]: Duplicate value: {"name":"a"}',
    );
    for (const options of [['--server-side'], []])
      expect(await complaint('WebhookSubscription', 'twice', webhook({ events: ['A.B', 'A.B'] }), options)).toContain(
        'spec.events: Invalid value: "array": must not name anything twice',
      );
  });

  it('unknown fields are refused by name', async () => {
    expect(await complaint('Agent', 'unknown', agent({ langauge: 'en' }), ['--server-side'])).toContain(
      '.spec.langauge: field not declared in schema',
    );
    expect(await complaint('Agent', 'unknown', agent({ langauge: 'en' }), [])).toContain('unknown field "spec.langauge"');
  });
});
