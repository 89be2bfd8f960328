import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { anAgent } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { organizationNamespace } from '../../support/namespace.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { startKubelet, type Kubelet } from './kubelet.ts';
import { grant, pod, startPlugin } from './plugin.ts';

const plugin = suiteFixture(startPlugin);
let kubelet: Kubelet;
let org: string;
let system: string;

const started = Date.now();
/** The time stands still for the plugin: what is `--since 2m` doesn't depend on how long the tests take. */
const now = (): number => started;
const at = (secondsAgo: number): string => new Date(started - secondsAgo * 1_000).toISOString();

beforeAll(async () => {
  [org, system] = await Promise.all([organizationNamespace('logs'), organizationNamespace('logsystem')]);
  kubelet = await startKubelet(plugin, `node-${system}`);
  await plugin.put(
    anAgent('reception', org),
    ...['operator', 'voice', 'dispatcher'].map((role) => pod(role, system, { node: kubelet.node })),
  );
  kubelet.write(
    'parley-operator-0',
    { level: 'info', time: at(300), role: 'operator', kind: 'Agent', key: `${org}/reception`, outcome: 'changed', msg: 'reconciled first' },
    { level: 'info', time: at(290), role: 'operator', kind: 'Agent', key: 'elsewhere/reception', msg: 'reconciled another' },
    'a library has written this',
    { level: 'warn', time: at(30), role: 'operator', kind: 'Agent', key: `${org}/reception`, msg: 'reconciled last' },
  );
  kubelet.write(
    'parley-voice-0',
    { level: 'debug', time: at(210), role: 'voice', callId: 'call-one', org, msg: 'the job begins' },
    { level: 'info', time: at(200), role: 'voice', callId: 'call-one', org, agent: 'reception', msg: 'the call begins' },
    { level: 'info', time: at(190), role: 'voice', callId: 'call-two', org, agent: 'billing', msg: 'of another agent' },
    {
      level: 'error',
      time: at(150),
      role: 'voice',
      callId: 'call-one',
      org,
      err: { type: 'Error', message: 'no voice' },
      msg: 'a provider has failed',
    },
    { level: 'info', time: at(90_000), role: 'voice', agent: 'reception', org, msg: 'of yesterday' },
  );
  kubelet.write('parley-dispatcher-0', { level: 'info', time: at(140), role: 'dispatcher', org, callId: 'call-one', msg: 'delivered' });
});
afterAll(() => kubelet?.stop());

const messages = (text: string): readonly string[] =>
  [...text.matchAll(/parley-\w+-0: ([\w ]+?)(?: \w+=| *$)/gm)].map(([, said = '']) => said.trim());
const flags = () => ['-n', org, '--system-namespace', system];

describe('kubectl parley logs', () => {
  it('merges what all roles have written about the agent and its calls, in the order of time', async () => {
    const { code, stdout, stderr } = await plugin.kubectl(['parley', 'logs', 'reception', ...flags()]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(messages(stdout)).toEqual([
      'reconciled first',
      'the job begins',
      'the call begins',
      'a provider has failed',
      'delivered',
      'reconciled last',
    ]);
    expect(stdout).toMatch(/^\S+T\S+Z ERROR parley-voice-0: a provider has failed err="no voice" callId=call-one/m);
  });

  it('narrows it down: level, time, call, last lines; and gives the lines as they are', async () => {
    const logs = async (...args: readonly string[]): Promise<string> =>
      (await plugin.parley(['logs', 'reception', ...flags(), ...args], { now })).stdout;
    expect(messages(await logs('--level', 'warn'))).toEqual(['a provider has failed', 'reconciled last']);
    expect(messages(await logs('--since', '2m'))).toEqual(['reconciled last']);
    expect(messages(await logs('--since', '2d'))).toContain('of yesterday');
    expect(messages(await logs('--tail', '1'))).toEqual(['reconciled last']);
    expect(messages(await logs('--call', 'call-two'))).toEqual(['of another agent']);
    const raw = (await logs('--call', 'call-one', '-o', 'json')).trimEnd().split('\n');
    expect(raw.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      'the job begins',
      'the call begins',
      'a provider has failed',
      'delivered',
    ]);
    expect(await plugin.parley(['logs', 'reception', ...flags(), '--since', '1s'], { now })).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('nothing was written'),
    });
  });

  it('follows what is written from now on, until it is stopped', async () => {
    const stop = new AbortController();
    let output = '';
    const running = plugin.parley(['logs', 'reception', ...flags(), '--follow', '--since', '2m'], {
      now,
      signal: stop.signal,
      onOutput: (all) => {
        output = all;
      },
    });
    await eventually(() => expect(messages(output)).toEqual(['reconciled last']));
    const time = new Date().toISOString();
    kubelet.write('parley-operator-0', { level: 'info', time, kind: 'Agent', key: 'elsewhere/reception', msg: 'not mine' });
    kubelet.write('parley-operator-0', { level: 'info', time, kind: 'Agent', key: `${org}/reception`, msg: 'reconciled again' });
    await eventually(() => expect(messages(output)).toEqual(['reconciled last', 'reconciled again']));
    stop.abort();
    expect((await running).code).toBe(0);
  });

  it('says what stands in the way', async () => {
    const absent = await plugin.parley(['logs', 'receptoin', ...flags()]);
    expect(absent).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('it has: reception') });
    const nothing = await plugin.parley(['logs', 'reception', '-n', org, '--system-namespace', org]);
    expect(nothing).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/no pod of an installation[\s\S]*→ .*--system-namespace/),
    });
    const user = `reader-of-${org}`;
    await plugin.put(...grant(user, system, { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }));
    const unreadable = await plugin.parley(['logs', 'reception', ...flags(), '--as', user]);
    expect(unreadable).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/none of the logs can be read[\s\S]*→ .*pods\/log/),
    });
    const unseen = await plugin.parley(['logs', 'reception', ...flags(), '--as', 'absent']);
    expect(unseen).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/may not see the pods[\s\S]*→ /) });
  });

  it('reads the files of a local stack, which has no pods', async () => {
    const folder = join(plugin.folder, 'stack/.parley');
    await mkdir(join(folder, 'logs'), { recursive: true });
    const kubeconfig = join(folder, 'kubeconfig');
    await copyFile(plugin.addresses.kubeconfig, kubeconfig);
    const line = (msg: string, secondsAgo: number): string =>
      `${JSON.stringify({ level: 'info', time: at(secondsAgo), kind: 'Agent', key: `${org}/reception`, msg })}\n`;
    await writeFile(join(folder, 'logs/operator.log'), `--- started\n${line('second', 20)}`);
    await writeFile(join(folder, 'logs/operator.log.1'), line('first', 30));
    await writeFile(join(folder, 'logs/voice.log'), line('third', 10));
    const answer = await plugin.parley(['logs', 'reception', '-n', org, '--system-namespace', org], { env: { KUBECONFIG: kubeconfig } });
    expect(answer).toMatchObject({ code: 0, stderr: '' });
    expect([...answer.stdout.matchAll(/(\w+): (\w+) kind=/g)].map(([, source, msg]) => `${source} ${msg}`)).toEqual([
      'operator first',
      'operator second',
      'voice third',
    ]);
  });
});
