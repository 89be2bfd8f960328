import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';

import { eventually } from '../../support/eventually.ts';
import { parleyEntry } from '../../support/stack.ts';
import { aTestFolder, orderStatus, shop } from './test-folder.ts';

const talk = 'Hello\nWhere is my order 42?\nAnd order 43?\n/keys 7#\nThanks, bye!\n';

describe('parley chat', () => {
  it('holds a conversation, and saves it as a test that passes', async () => {
    await using folder = await aTestFolder();
    await folder.write(
      'tests/mocks.yaml',
      orderStatus('mocks', {
        tools: [
          { name: 'look_up_order', type: 'Returns', when: { order_id: '42' }, returns: { state: 'shipped' } },
          { name: 'look_up_order', type: 'Returns', returns: { state: 'packed' } },
        ],
      }),
    );
    const done = await folder.parley(['chat', 'receptionist', '.', '-t', 'mocks', '--save-as-test', 'tests/my order.yaml'], {
      input: talk,
    });
    expect([done.code, done.stderr]).toEqual([0, 'saved as the test my-order in tests/my order.yaml\n']);
    expect(done.stdout.split('\n')).toEqual([
      'agent │ Hello, this is Harbour Bikes.',
      'user  │ Hello',
      'agent │ You said: Hello',
      'user  │ Where is my order 42?',
      'tool  │ look_up_order({"order_id":"42"}) → {"state":"shipped"}',
      'agent │ One moment.',
      'agent │ Your order: shipped.',
      'user  │ And order 43?',
      'tool  │ look_up_order({"order_id":"43"}) → {"state":"packed"}',
      'agent │ One moment.',
      'agent │ Your order: packed.',
      'user  │ /keys 7#',
      'agent │ You said: [pressed 7]',
      'user  │ Thanks, bye!',
      'tool  │ end_call({}) → null',
      'agent │ Goodbye!',
      'the call has ended: agent_ended_call',
      '',
    ]);
    expect(parse(await readFile(join(folder.path, 'tests/my order.yaml'), 'utf8'))).toEqual({
      apiVersion: 'parley.dev/v1beta1',
      kind: 'AgentTest',
      metadata: { name: 'my-order' },
      spec: {
        agentRefs: [{ name: 'receptionist' }],
        dynamicData: { shop: 'Harbour Bikes' },
        tools: [
          { name: 'look_up_order', type: 'Returns', when: { order_id: '42' }, returns: { state: 'shipped' } },
          { name: 'look_up_order', type: 'Returns', when: { order_id: '43' }, returns: { state: 'packed' } },
        ],
        type: 'Conversation',
        conversation: [
          { type: 'User', user: 'Hello' },
          {
            type: 'User',
            user: 'Where is my order 42?',
            expect: [{ type: 'Tool', tool: { name: 'look_up_order', arguments: { order_id: '42' } } }],
          },
          {
            type: 'User',
            user: 'And order 43?',
            expect: [{ type: 'Tool', tool: { name: 'look_up_order', arguments: { order_id: '43' } } }],
          },
          { type: 'Keys', keys: '7#' },
          { type: 'User', user: 'Thanks, bye!', expect: [{ type: 'Ends', ends: 'agent_ended_call' }] },
        ],
      },
    });
    const tested = await folder.parley(['test', '.', '-t', 'my-order']);
    expect([tested.code, tested.stdout]).toEqual([0, expect.stringContaining('1 passed, 0 failed')]);
    const again = await folder.parley(['chat', 'receptionist', '.', '--save-as-test', 'tests/my order.yaml'], { input: 'Hello\n/quit\n' });
    expect([again.code, again.stdout, again.stderr]).toEqual([1, '', expect.stringContaining("can't be written: there is such a file")]);
    const nowhere = await folder.parley(['chat', 'receptionist', '.', '--save-as-test', 'gone/new.yaml'], { input: 'Hello\n/quit\n' });
    expect([nowhere.code, nowhere.stdout, nowhere.stderr]).toEqual([
      1,
      '',
      expect.stringContaining("gone/new.yaml can't be written: ENOENT"),
    ]);
  });

  it('says what has to be changed in a saved conversation before it is a test', async () => {
    await using folder = await aTestFolder();
    const input = `${'x'.repeat(4_097)}\n/quit\n`;
    const done = await folder.parley(['chat', 'receptionist', '.', '--save-as-test', 'long.yaml'], { input });
    expect([done.code, done.stderr]).toEqual([
      1,
      expect.stringMatching(/^parley: what is written to long\.yaml is not yet a test: spec\.conversation\[0\]\.user: .*4096/),
    ]);
    const saved = parse(await readFile(join(folder.path, 'long.yaml'), 'utf8')) as object;
    expect(saved).toMatchObject({
      kind: 'AgentTest',
      spec: { type: 'Conversation', conversation: [{ type: 'User', user: 'x'.repeat(4_097) }] },
    });
  });

  it('ends at Ctrl-C in the middle of an answer', async () => {
    await using folder = await aTestFolder();
    folder.provider.chat(() => ({ holdHead: new Promise(() => {}) }));
    const child = spawn(process.execPath, [parleyEntry, 'chat', 'receptionist', '.'], {
      cwd: folder.path,
      env: { ...process.env, ...folder.env() },
      stdio: ['pipe', 'ignore', 'pipe'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const exited = once(child, 'exit');
    let err = '';
    child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
    child.stdin.write('Hello\n');
    await eventually(() => expect(folder.provider.requests('chat')).toHaveLength(1), 20);
    child.kill('SIGINT');
    expect([await exited, err]).toEqual([[0, null], '']);
  });

  it('calls the tools themselves, with the data that it is given', async () => {
    await using folder = await aTestFolder();
    const done = await folder.parley(['chat', 'receptionist', '.', '--data', 'shop=Dockside'], { input: 'Where is my order 42?\n' });
    expect(done.stdout).toContain('agent │ Hello, this is Dockside.');
    expect(done.stdout).toMatch(/tool {2}│ look_up_order\({"order_id":"42"}\) → error: /);
    expect(done.code).toBe(0);
  });

  it.each([
    [['chat', 'ghost', '.'], /there is no agent ghost in \.\n {2}→ the agents are receptionist/],
    [['chat', 'receptionist', '.', '-t', 'gone'], /there is no test gone/],
    [['chat', 'receptionist', 'nowhere'], /nowhere can't be read/],
    [['chat', 'receptionist'], /kubeconfig/i],
  ])('%j cannot be', async (args, message) => {
    await using folder = await aTestFolder();
    const done = await folder.parley(args, { input: '' });
    expect([done.code, done.stderr]).toEqual([1, expect.stringMatching(message)]);
  });

  it('says why a model does not answer, and saves what was said before', async () => {
    await using folder = await aTestFolder();
    folder.provider.chat((request) => (JSON.stringify(request).includes('Anybody') ? { status: 401 } : shop(request)));
    const done = await folder.parley(['chat', 'receptionist', '.', '--save-as-test', 'short.yaml'], { input: 'Hello\nAnybody there?\n' });
    expect(parse(await readFile(join(folder.path, 'short.yaml'), 'utf8'))).toMatchObject({
      spec: { type: 'Conversation', conversation: [{ type: 'User', user: 'Hello' }] },
    });
    expect([done.code, done.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^saved as the test short in short.yaml\nparley: the call failed \(llm_websocket_runtime_error\): openai \(language model\) answers 401: check its key/,
      ),
    ]);
  });
});
