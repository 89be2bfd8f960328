/** Agents of files have the tools of an MCP server: recorded with the server, and replayed without it. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';
import { stringify } from 'yaml';

import { loadWorkspace } from '../../../cli/agent-files/workspace.ts';
import { anAgent } from '../../support/builders.ts';
import { testFolder } from '../../support/folders.ts';
import { startMcpServer, type McpTestServer } from '../../support/mcp-server.ts';

let folder: string;
let server: McpTestServer;
beforeEach(async () => {
  folder = testFolder();
  server = await startMcpServer({ version: '2026-07-28' });
  await writeFiles(server.url);
});
afterEach(() => server.stop());

const writeFiles = (url: string): Promise<void> =>
  writeFile(
    join(folder, 'agent.yaml'),
    [
      anAgent('desk', 'acme'),
      {
        apiVersion: 'parley.dev/v1beta1',
        kind: 'Tool',
        metadata: { name: 'shop', namespace: 'acme' },
        spec: { agentRefs: [{ name: 'desk' }], type: 'MCP', mcp: { url, include: ['echo'] } },
      },
    ]
      .map((object) => stringify(object))
      .join('---\n'),
  );

const load = async (mode: 'record' | 'replay' | 'auto') => (await loadWorkspace([folder], {}, mode)).agents.get('acme/desk');

it('replays what the server said when the tests were recorded, and asks no server', async () => {
  expect((await load('replay'))?.problems?.join()).toMatch(/there is no recording .*tools\/shop\.yaml: run the tests with --record/);
  const recorded = await load('record');
  expect(recorded?.compiled?.config.tools[0]?.mcp?.tools.map(({ name }) => name)).toEqual(['echo']);
  server.descriptions.set('echo', 'Changed.');
  server.requests.length = 0;
  for (const mode of ['replay', 'auto'] as const) expect((await load(mode))?.compiled?.revision).toBe(recorded?.compiled?.revision);
  expect(server.requests).toEqual([]);
  expect(await readFile(join(folder, 'cassettes', 'tools', 'shop.yaml'), 'utf8')).toContain('Says the same.');
});

it('says so where the recording is of another server, or broken', async () => {
  await load('record');
  await writeFiles('https://other.example/mcp');
  expect((await load('replay'))?.problems?.join()).toContain(`is of the server ${server.url}: run the tests with --record`);
  for (const broken of ['format: 1\ntools: [{ name: 1 }]\n', '{']) {
    await writeFile(join(folder, 'cassettes', 'tools', 'shop.yaml'), broken);
    expect((await load('replay'))?.problems?.join()).toContain('is no list of tools of this version');
  }
});
