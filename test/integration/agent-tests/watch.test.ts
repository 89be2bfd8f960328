import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { expect, it, onTestFinished } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { parleyEntry } from '../../support/stack.ts';
import { aTestFolder, anAgentTest, lookUpOrder, orderStatus, receptionist, shop } from './test-folder.ts';

it('runs the tests that a change affects again', async () => {
  await using folder = await aTestFolder();
  await folder.write('agents/other.yaml', { ...receptionist(), metadata: { name: 'other' } });
  await folder.write('tests/order.yaml', orderStatus('one'));
  await folder.write(
    'tests/more.yaml',
    orderStatus('two', { agentRefs: [{ name: 'receptionist' }] }),
    orderStatus('three', {
      agentRefs: [{ name: 'other' }],
      tools: [],
      type: 'Conversation',
      conversation: [{ type: 'User', user: 'hi' }],
      atEnd: [{ type: 'Ends', ends: 'user_ended_call' }],
    }),
  );
  const child = spawn(process.execPath, [parleyEntry, 'test', '.', '--watch'], {
    cwd: folder.path,
    env: { ...process.env, ...folder.env() },
  });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  /** Waits for the next summary, which must have these verdicts. */
  const round = async (verdicts: readonly string[]): Promise<void> => {
    const text = await eventually(() => {
      const [all] = /^[^]*?\d+ passed, \d+ failed.*\n/.exec(out) ?? [];
      if (all === undefined) throw new Error(`no summary yet: ${out} ${err}`);
      return all;
    }, 20);
    out = out.slice(text.length);
    expect([...text.matchAll(/^([✓✗!] \S+)/gmu)].map(([, line = '']) => line).toSorted(), text).toEqual(verdicts);
  };
  await round(['✓ one', '✓ three', '✓ two']);

  await folder.write(
    'tests/order.yaml',
    orderStatus('one', {
      type: 'Conversation',
      conversation: [{ type: 'User', user: 'hello', expect: [{ type: 'Answer', answer: { contains: ['gone'] } }] }],
      atEnd: [],
    }),
  );
  await round(['✗ one']);
  await folder.write('tools/look-up-order.yaml', { ...lookUpOrder(), spec: { ...lookUpOrder().spec, description: 'Changed.' } });
  await round(['✓ two', '✗ one']);

  // A file that is being written is no reason to end.
  await folder.write('tests/order.yaml', 'a: [');
  await eventually(() => expect(err).toMatch(/tests\/order\.yaml:\d+: /), 20);
  await folder.write('tests/order.yaml', orderStatus('one'));
  await round(['✓ one']);

  child.kill('SIGINT');
  await exited;
});

it('sums up the tests that are done when Ctrl-C ends it', async () => {
  await using folder = await aTestFolder();
  folder.provider.chat((request) => (request.lastUser === 'wait' ? { text: ['One', ' moment.'], tokenDelayMs: 3_600_000 } : shop(request)));
  await folder.write('tests/one.yaml', orderStatus('one'));
  await folder.write(
    'tests/two.yaml',
    anAgentTest('two', {
      type: 'Conversation',
      conversation: [{ type: 'User', user: 'wait', expect: [{ type: 'Answer', answer: { contains: ['x'] } }] }],
    }),
  );
  const child = spawn(process.execPath, [parleyEntry, 'test', '.'], { cwd: folder.path, env: { ...process.env, ...folder.env() } });
  const exited = once(child, 'exit');
  onTestFinished(() => void child.kill('SIGKILL'));
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  await eventually(() => expect(out).toContain('✓ one'), 20);
  child.kill('SIGINT');
  expect((await exited)[0]).toBe(130);
  expect(out).toMatch(/1 passed, 0 failed in \d/);
});
