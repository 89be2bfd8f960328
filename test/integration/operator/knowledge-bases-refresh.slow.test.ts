/** A real operator and a real worker refresh declared sources: a search finds them throughout. */
import { pathToFileURL } from 'node:url';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { openKnowledge, type Knowledge } from '../../../knowledge/open-knowledge.ts';
import { loadConfig } from '../../../platform/config/config.ts';
import { createLogger } from '../../../platform/logging.ts';
import { createRegistry } from '../../../platform/metrics.ts';
import { aConfigMap, aKnowledgeBase, type TestManifest } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFolder } from '../../support/folders.ts';
import { Servers, startEndpoint, type TestEndpoint } from '../../support/http-servers.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { temporalAddress } from '../../support/temporal.ts';
import { startWorker } from '../knowledge/harness.ts';
import { unique } from '../workflows/support.ts';
import { condition, startCluster, type AnyObject } from './harness.ts';

const cluster = suiteFixture(startCluster);
let knowledge: Knowledge;
let env: Readonly<Record<string, string>>;
const folder = suiteFolder();
const servers = new Servers();
let site: TestEndpoint;
/** Answer of the website. */
let page: { readonly status: number; readonly words: string } = { status: 200, words: 'edition 1' };

beforeAll(async () => {
  site = await startEndpoint(servers, (response, request) => {
    const found = request.url === '/prices';
    response.writeHead(found ? page.status : 404, { 'content-type': 'text/html' });
    response.end(`<html><body><main><h1>Prices</h1><p>A walrus costs ten crowns, ${page.words}.</p></main></body></html>`);
  });
  env = {
    ...cluster.env(),
    TEMPORAL_ADDRESS: await temporalAddress(),
    TEMPORAL_TASK_QUEUE: unique('refresh'),
    STORAGE_URL: pathToFileURL(folder).href,
    PARLEY_EGRESS_ALLOW_CIDRS: '127.0.0.0/8',
    PARLEY_WORKER_PORT: '0',
    PARLEY_LOG_LEVEL: 'silent',
  };
  const logger = createLogger({ role: 'test', level: 'silent' });
  knowledge = openKnowledge({
    config: loadConfig(env),
    store: cluster.store,
    logger,
    registry: createRegistry({ role: 'test', version: 'test' }),
  });
  await cluster.operator({ env });
});
afterAll(async () => {
  await knowledge?.close();
  await servers.stop();
});

const sourceStates = (object: AnyObject): readonly string[] =>
  ((object.status?.['sources'] ?? []) as readonly { readonly state: string }[]).map(({ state }) => state);

it('keeps what it declares in step with its sources, and never without an answer', async () => {
  await startWorker(env);
  const org = await cluster.organization();
  const base = (requested?: string): TestManifest => {
    const manifest = aKnowledgeBase('handbook', org, {
      sources: [
        { name: 'rules', type: 'ConfigMap', configMap: { name: 'texts', key: 'rules.md' }, metadata: { kind: 'rule' } },
        { name: 'site', type: 'Website', website: { urls: [`${site.url}/prices`] } },
      ],
    });
    if (requested === undefined) return manifest;
    return { ...manifest, metadata: { ...manifest.metadata, annotations: { 'parley.dev/reconcile-requested-at': requested } } };
  };
  const rules = (edition: string): TestManifest =>
    aConfigMap('texts', { 'rules.md': `# Rules\n\nNo penguin on the ice, ${edition}.` }, org);
  const textsFor = async (query: string): Promise<readonly string[]> =>
    ((await knowledge.search.search({ org, knowledgeBase: 'handbook', query, topK: 5 })) ?? []).map((hit) => hit.content);
  const bothSay = (edition: string): Promise<void> =>
    eventually(async () => {
      expect(await textsFor('penguin')).toEqual([expect.stringContaining(edition)]);
      expect(await textsFor('walrus')).toEqual([expect.stringContaining(edition)]);
    });

  await cluster.apply(rules('edition 1'), base());
  await bothSay('edition 1');

  const stop = new AbortController();
  let searches = 0;
  const watching = (async () => {
    const without: string[] = [];
    while (!stop.signal.aborted) {
      for (const query of ['penguin', 'walrus']) if ((await textsFor(query)).length !== 1) without.push(`${query} in search ${searches}`);
      searches += 2;
    }
    return without;
  })();
  const fewSearches = (): Promise<void> => {
    const before = searches;
    return eventually(() => expect(searches).toBeGreaterThan(before + 10));
  };
  await fewSearches();
  for (const edition of ['edition 2', 'edition 3']) {
    page = { status: 200, words: edition };
    await cluster.apply(rules(edition), base(edition));
    await bothSay(edition);
    await fewSearches();
  }
  // The website is broken: what was found stays, and the status says what is wrong with which source.
  page = { status: 500, words: 'edition 4' };
  await cluster.apply(base('edition 4'));
  const failed = await cluster.until('KnowledgeBase', org, 'handbook', (object) => sourceStates(object).includes('Failed'));
  expect(sourceStates(failed)).toEqual(['Completed', 'Failed']);
  expect(JSON.stringify(failed.status?.['sources'])).toContain('the previous content stays in use');
  expect(condition(failed, 'Ready')?.status).toBe('True');
  await fewSearches();
  stop.abort();
  expect(await watching).toEqual([]);
  expect(await textsFor('walrus')).toEqual([expect.stringContaining('edition 3')]);

  await cluster.apply(aKnowledgeBase('handbook', org, { sources: [] }));
  await eventually(async () => expect([await textsFor('penguin'), await textsFor('walrus')]).toEqual([[], []]));
});
