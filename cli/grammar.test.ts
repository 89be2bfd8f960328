import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { Command } from 'commander';
import { describe, expect, it, onTestFinished } from 'vitest';

import { repositoryRoot } from '../local-stack/repository.ts';
import { testFolder } from '../test/support/folders.ts';
import { commands } from './commands/index.ts';
import { complete } from './completion/complete.ts';
import { completionScript, SHELLS } from './completion/scripts.ts';
import { fitHelp } from './fit-help.ts';
import { commandsOf, completeProgram, createProgram } from './grammar.ts';
import { createPlugin } from './kubectl/main.ts';
import { processIo } from './kubectl/io.ts';

const io = processIo(new AbortController().signal);

function parley(): Command {
  const program = createProgram('parley', 'test');
  for (const register of commands) register(program);
  return completeProgram(program, { typed: 'parley', io: () => io });
}

const nameOf = (command: Command): string => (command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`);

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (more) => (text += more) });
  command.outputHelp();
  return text;
}

const leaves = [parley(), createPlugin(io)].flatMap((program) => commandsOf(program).filter((command) => command.commands.length === 0));

describe.each(leaves.map((command) => [nameOf(command), command] as const))('%s', (name, command) => {
  it('has an example in its help, which begins as one types it', () => {
    const [, shown = ''] = helpOf(command).split('Examples:\n');
    expect(shown).toContain(name.replace(/^kubectl parley completion/, 'kubectl-parley completion'));
  });

  it('takes -o as kubectl does, where it takes --json', () => {
    const named = (flag: string) => command.options.find(({ long }) => long === flag);
    expect(named('--json') !== undefined && named('--output') === undefined).toBe(false);
    expect(named('--output')?.short ?? '-o').toBe('-o');
  });
});

it('fits help into 80 columns, but for examples', () => {
  const wide = [parley(), createPlugin(io)].flatMap(commandsOf).flatMap((command) => {
    const [help = ''] = fitHelp(helpOf(command), 80).split('Examples:\n');
    return help.split('\n').filter((line) => line.length > 80);
  });
  expect(wide).toEqual([]);
});

/** These commands serve, talk with a person, or write for a person or a file. */
const WITHOUT_DATA: ReadonlySet<string> = new Set([
  ...['operator', 'api', 'worker', 'dispatcher', 'voice', 'dev stop', 'chat', 'completion', 'kubectl'].map((name) => `parley ${name}`),
  // Its result is YAML of resources.
  'parley export',
  'kubectl parley report',
  'kubectl parley completion',
]);

it('prints data for programs with -o json in every command that has data', () => {
  const without = leaves.filter(({ options }) => !options.some(({ short, argChoices }) => short === '-o' && argChoices?.includes('json')));
  expect(new Set(without.map(nameOf))).toEqual(WITHOUT_DATA);
});

it.each(
  leaves
    .flatMap((command) => command.options.map((option) => [nameOf(command), option] as const))
    .filter(([, { long }]) => long === '--org' || long === '--namespace'),
)('%s takes the organisation as -n, as every command', (name, { long, short }) => {
  const both = leaves.find((command) => nameOf(command) === name)!.options.filter((option) => option.short === '-n');
  expect(both).toHaveLength(1);
  if (!both.some((option) => option.long !== long)) expect(short).toBe('-n');
});

describe('wrong usage', () => {
  const run = (...args: readonly string[]) =>
    promisify(execFile)(process.execPath, [join(repositoryRoot(), 'cli/main.ts'), ...args]).then(
      () => 0,
      (error: { readonly code: number }) => error.code,
    );

  it('ends with 2, help with 0, and a failure with 1', async () => {
    expect(
      await Promise.all([
        run('kb', 'add'),
        run('kb', 'search', 'manuals', 'text', '-o', 'xml'),
        run('nonsense'),
        run('kubectl', 'status', '--nonsense'),
        run('kb', 'search', '--help'),
        run('--version'),
        run('explain', 'agent'),
        run('org', 'create', 'good', 'Bad_Name'),
        run('keys', 'list', '--org', 'Bad_Name'),
      ]),
    ).toEqual([2, 2, 2, 2, 0, 0, 1, 2, 2]);
  });
});

describe('completion', () => {
  const candidates = async (...words: readonly string[]): Promise<readonly string[]> =>
    (await complete(parley(), words, io, async () => createPlugin(io))).candidates.map((each) => each.split('\t')[0] ?? '');

  it('knows commands at every depth, flags, choices, and the plugin', async () => {
    expect(await candidates('')).toEqual(expect.arrayContaining(['kb', 'webhooks', 'completion']));
    expect(await candidates('')).not.toContain('__complete');
    expect(await candidates('kb', '')).toEqual(expect.arrayContaining(['add', 'search']));
    expect(await candidates('kb', 'add', '--no-')).toEqual(['--no-skip-existing', '--no-wait']);
    expect(await candidates('kb', 'search', '-o', '')).toEqual(['json', 'yaml', 'wide']);
    expect(await candidates('completion', 'b')).toEqual(['bash']);
    expect(await candidates('kubectl', 'sta')).toEqual(['status']);
    expect(await candidates('events', 'emit', '--name', 'CallHandler.CallE')).toEqual(['CallHandler.CallEnded']);
    expect(await candidates('keys', 'create', '--name', 'CallHandler.CallE')).toEqual([]);
    expect(await candidates('keys', 'create', '--permissions', 'webhooks:')).toEqual(['webhooks:read', 'webhooks:write']);
    expect(await complete(parley(), ['kb', 'add', 'manuals', ''], io)).toEqual({ candidates: [], directive: 0 });
  });

  it('asks the cluster for organisations, and for what an argument names', async () => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ apiVersion: 'v1', kind: 'List', metadata: {}, items: [{ metadata: { name: 'acme' } }] }));
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const kubeconfig = join(testFolder(), 'config');
    const cluster = { server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'insecure-skip-tls-verify': true };
    await writeFile(
      kubeconfig,
      JSON.stringify({
        clusters: [{ name: 'c', cluster }],
        users: [{ name: 'u', user: {} }],
        contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'c',
      }),
    );
    const words = ['--kubeconfig', kubeconfig, '--org', 'globex'];
    expect(await candidates('keys', 'list', ...words.slice(0, 2), '-n', '')).toEqual(['acme']);
    expect(await candidates('kb', 'search', ...words, 'a')).toEqual(['acme']);
    expect(await candidates('webhooks', 'deliveries', ...words, '')).toEqual(['acme']);
    const inCluster = words.slice(0, 2);
    expect(await candidates('kb', 'reindex', ...inCluster, '')).toEqual(['acme']);
    expect(await candidates('export', ...inCluster, '')).toEqual(['acme']);
    expect(await candidates('org', 'delete', ...inCluster, '')).toEqual(['acme']);
    expect(await candidates('kb', 'reindex', ...words, 'globex', '')).toEqual(['acme']);
    expect(await candidates('test', ...words, 'agent/desk', '-t', '')).toEqual(['acme']);
    const [organisations, ...others] = asked.map((url) => decodeURIComponent(url));
    expect(organisations).toMatch(/^\/api\/v1\/namespaces\?.*labelSelector=parley\.dev\/organization=true/);
    expect(others.map((url) => url.split('?')[0])).toEqual([
      '/apis/parley.dev/v1beta1/namespaces/globex/knowledgebases',
      '/apis/parley.dev/v1beta1/namespaces/globex/webhooksubscriptions',
      ...Array.from({ length: 3 }, () => '/api/v1/namespaces'),
      '/apis/parley.dev/v1beta1/namespaces/globex/knowledgebases',
      '/apis/parley.dev/v1beta1/namespaces/globex/agenttests',
    ]);
  });

  it('knows the tests of the files that the command line names', async () => {
    const folder = testFolder();
    const tests = ['hours', 'prices'].map((name) => `kind: AgentTest\nmetadata: {name: ${name}}\n`);
    await writeFile(join(folder, 'tests.yaml'), `---\nkind: Agent\nmetadata: {name: desk}\n---\n${tests.join('---\n')}`);
    expect(await candidates('test', folder, '--replay', '-t', 'p')).toEqual(['prices']);
  });

  it('works in bash', async () => {
    const folder = testFolder();
    await writeFile(join(folder, 'parley'), `#!/bin/sh\nexec ${process.execPath} ${join(repositoryRoot(), 'cli/main.ts')} "$@"\n`, {
      mode: 0o755,
    });
    await writeFile(join(folder, 'script'), completionScript('bash', 'parley'));
    const typed = 'COMP_WORDS=(parley kb a); COMP_CWORD=2; _parley_complete; printf "%s\\n" "${COMPREPLY[@]}"';
    const { stdout } = await promisify(execFile)('bash', ['-c', `source ${join(folder, 'script')}; compopt() { :; }; ${typed}`], {
      env: { ...process.env, PATH: `${folder}:${process.env['PATH']}` },
    });
    expect(stdout.trim()).toBe('add');
  });

  it.each(SHELLS)('names the program everywhere in the script of %s', (shell) => {
    const script = completionScript(shell, 'kubectl-parley');
    expect(script).toContain('kubectl-parley __complete');
    expect(script).not.toMatch(/PROGRAM|FUNCTION|\\\$/);
  });
});
