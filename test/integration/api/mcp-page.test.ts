/** The commands on the page about assistants work as printed, and its table has the tools that there are. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { beforeAll, expect, it } from 'vitest';

import { routeTools } from '../../../api/mcp-server/tools.ts';
import { describedRoutes } from '../../../api/openapi/described-routes.ts';
import { repositoryRoot } from '../../../local-stack/repository.ts';
import { anAgent } from '../../support/builders.ts';
import { run } from '../../support/run.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { kubectl, organization, startFacade } from './facade.ts';

const facade = suiteFixture(startFacade);
let page: string;

beforeAll(async () => {
  page = await readFile(join(repositoryRoot(), 'docs/mcp.md'), 'utf8');
});

it('has commands that make a key, list the tools and try a change', async () => {
  const org = await organization(facade);
  // The field that the page changes has an owner, as in the examples of a local stack.
  await kubectl(['apply', '--server-side', '-f', '-'], anAgent('receptionist', org.name, { welcomeMessage: 'Hello!' }));
  const blocks = [...page.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, block = '']) => block);
  expect(blocks).toHaveLength(3);
  const outputs: string[] = [];
  for (const block of blocks) {
    const done = await run('bash', ['--norc', '-euc', block], { env: { PARLEY_URL: facade.url, PARLEY_API_KEY: org.key } });
    expect([done.code, done.stderr]).toEqual([0, '']);
    outputs.push(done.stdout);
  }
  const [made = '', listed, dryRun] = outputs;
  const { api_key: key, permissions } = JSON.parse(made) as { readonly api_key: string; readonly permissions: readonly string[] };
  expect(permissions).toContain('calls:read');
  expect((await facade.call('GET', '/v2/ai-agents', { key })).status).toBe(200);
  expect((await facade.call('DELETE', '/v2/ai-agents/receptionist', { key })).status).toBe(403);
  expect(listed?.trim().split('\n')).toContain('"name":"search_knowledge_base"');
  expect(dryRun).toContain('Dry run: nothing was changed.');
  expect(dryRun).toContain('{"field":"welcome_message","from":"Hello!","to":"Good morning!"}');
  const unforced = blocks[2]!.replace(', "force": true', '');
  const refused = await run('bash', ['--norc', '-euc', unforced], { env: { PARLEY_URL: facade.url, PARLEY_API_KEY: org.key } });
  expect(refused.stdout).toMatch(/conflict \(HTTP 409\): welcome_message is owned by .*take it over with `force: true`/);
});

it('has the tools that there are, with their permissions', () => {
  const listed = [...page.matchAll(/^\| (`[a-z_, `]+`) \| `([a-z_:]+)` \|$/gm)].flatMap(([, names = '', permission]) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name]) => `${name} ${permission}`),
  );
  const offered = routeTools(describedRoutes()).map(({ definition, route }) => `${definition.name} ${route.permission}`);
  expect(listed.toSorted()).toEqual(offered.toSorted());
});

it('has settings of clients that are JSON', () => {
  const settings = [...page.matchAll(/^```json\n([^]*?)^```/gm)].map(([, block = '']) => JSON.stringify(JSON.parse(block)));
  expect(settings).toHaveLength(3);
  for (const text of settings) expect(text).toContain('https://parley.example.com/mcp');
});
