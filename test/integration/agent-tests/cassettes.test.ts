import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { aTestFolder, demandingReceptionist, anAgentTest, KEY, orderStatus, receptionist, reportIn, shop } from './test-folder.ts';

const noKeys = { OPENAI_API_KEY: undefined, PARLEY_PROVIDERS: undefined };
const judged = () =>
  orderStatus('judged', {
    type: 'SimulatedUser',
    simulatedUser: { goal: 'to know whether order 42 has shipped' },
    conversation: undefined,
    atEnd: [
      { type: 'Judge', judge: 'is friendly' },
      { type: 'Analysis', analysis: { name: 'topic', equals: 'order' } },
    ],
    repeat: 2,
  });

it('records answers, and replays them without a key, a server or a difference', async () => {
  await using folder = await aTestFolder();
  await folder.write('agents/receptionist.yaml', demandingReceptionist());
  await folder.write('tests/order.yaml', orderStatus('order-status', { repeat: 3 }), judged());
  const recorded = await folder.parley(['test', '.', '--record']);
  expect([recorded.code, recorded.stderr]).toEqual([0, '']);
  const files = await readdir(join(folder.path, 'tests/cassettes'));
  expect(files.toSorted()).toEqual(['judged.receptionist.yaml', 'order-status.receptionist.yaml']);
  const texts = await Promise.all(files.map((name) => readFile(join(folder.path, 'tests/cassettes', name), 'utf8')));
  for (const text of texts) {
    expect(text).not.toContain(KEY);
    expect(text).not.toContain(folder.provider.url);
    expect(text.match(/You answer for Harbour Bikes/g)).toHaveLength(1);
  }
  const asked = folder.provider.requests('chat').length;
  const replayed = await folder.parley(['test', '.', '--replay'], { env: noKeys });
  expect([replayed.code, replayed.stderr, replayed.stdout.split('\n')]).toMatchObject([0, '', { length: 4 }]);
  // The default takes the recording, too.
  expect((await folder.parley(['test', '.'], { env: noKeys })).code).toBe(0);
  expect(folder.provider.requests('chat')).toHaveLength(asked);
  await folder.parley(['test', '.', '--live']);
  expect(folder.provider.requests('chat').length).toBeGreaterThan(asked);
});

it('says of a tool call when it began, also in a recording and its replay', async () => {
  await using folder = await aTestFolder();
  // The second call begins after the answer of the first one, which takes 60 ms.
  const tools = [{ name: 'look_up_order', type: 'Returns', delay: '60ms', returns: { state: 'shipped' } }];
  const conversation = [
    { type: 'User', user: 'Where is my order 42?' },
    { type: 'User', user: 'And order 43?' },
  ];
  await folder.write(
    'tests/order.yaml',
    orderStatus('twice', { tools, conversation, atEnd: [{ type: 'Called', called: { name: 'look_up_order', times: 2 } }] }),
  );
  for (const mode of ['--live', '--record', '--replay']) {
    const done = await folder.parley(['test', '.', mode, '-o', 'json']);
    const [attempt] = reportIn(done).results[0]!.attempts;
    const began = attempt?.transcript.flatMap(({ role, atMs }) => (role === 'tool' ? [atMs] : [])) ?? [];
    expect([mode, began]).toEqual([mode, [expect.any(Number), expect.any(Number)]]);
    expect(began[1]! - began[0]!).toBeGreaterThanOrEqual(50);
  }
});

it('keeps a recording when another one breaks off', async () => {
  await using folder = await aTestFolder();
  await folder.write('tests/order.yaml', orderStatus());
  expect((await folder.parley(['test', '.', '--record'])).code).toBe(0);
  const cassettes = join(folder.path, 'tests/cassettes');
  const good = await readFile(join(cassettes, 'order-status.receptionist.yaml'), 'utf8');
  // The first answer comes, the one after the tool's result does not.
  folder.provider.chat((request) => (request.toolResults.length > 0 ? { status: 400 } : shop(request)));
  const broken = await folder.parley(['test', '.', '--record']);
  expect([broken.code, broken.stdout]).toEqual([1, expect.stringContaining('0 passed, 0 failed, 1 error')]);
  expect(await readFile(join(cassettes, 'order-status.receptionist.yaml'), 'utf8')).toBe(good);
  expect(await readdir(cassettes)).toEqual(['order-status.receptionist.yaml']);
  expect((await folder.parley(['test', '.', '--replay'], { env: noKeys })).code).toBe(0);
});

it('says what has changed since the recording', async () => {
  await using folder = await aTestFolder();
  await folder.write('tests/order.yaml', orderStatus());
  expect((await folder.parley(['test', '.', '--record'])).code).toBe(0);
  const { llm } = receptionist().spec as { readonly llm: object };
  await folder.write('agents/receptionist.yaml', receptionist({ llm: { ...llm, systemPrompt: 'You answer for {{shop}}.\nBe rude.' } }));
  const changed =
    /order-status\.receptionist\.yaml: compared with the most similar recorded request, the system prompt has changed: it was "Be brief\." and is "Be rude\."\. (.*)/;
  const replayed = await folder.parley(['test', '.', '--replay']);
  expect([replayed.code, changed.exec(replayed.stdout)?.[1]]).toEqual([1, 'Run the test with --record']);
  expect(replayed.stdout).toContain('0 passed, 0 failed, 1 error');
  // Without a key there is no other way either.
  const keyless = await folder.parley(['test', '.'], { env: noKeys });
  expect([keyless.code, changed.exec(keyless.stdout)?.[1]]).toEqual([1, 'There is no key to ask openai with']);
  // With one the model is asked, and nothing is written.
  expect((await folder.parley(['test', '.'])).code).toBe(0);
  expect((await folder.parley(['test', '.', '--replay'])).code).toBe(1);
});

it('refuses to replay what was never recorded, or is no recording', async () => {
  await using folder = await aTestFolder();
  await folder.write('tests/order.yaml', orderStatus());
  const none = await folder.parley(['test', '.', '--replay']);
  expect([none.code, none.stdout]).toEqual([
    1,
    expect.stringMatching(/there is no recording tests\/cassettes\/order-status\.receptionist\.yaml: run the test with --record/),
  ]);
  await folder.write('tests/cassettes/order-status.receptionist.yaml', 'answers: nothing\n');
  const broken = await folder.parley(['test', '.', '--replay']);
  expect([broken.code, broken.stdout]).toEqual([1, expect.stringMatching(/is no recording of this version/)]);
  expect(folder.provider.requests()).toEqual([]);
});

it('replays keys of several entries, of which only the last is answered', async () => {
  await using folder = await aTestFolder();
  await folder.write(
    'tests/keys.yaml',
    anAgentTest('keys', {
      type: 'Conversation',
      conversation: [{ type: 'Keys', keys: '12#34#', expect: [{ type: 'Answer', answer: { contains: ['34'] } }] }],
    }),
  );
  const recorded = await folder.parley(['test', '.', '--record']);
  const replayed = await folder.parley(['test', '.', '--replay']);
  expect([recorded.code, replayed.code, folder.provider.requests('chat').length]).toEqual([0, 0, 1]);
});

it('replays a conversation whose beginning was summarised', async () => {
  await using folder = await aTestFolder();
  const { llm } = receptionist().spec as { readonly llm: object };
  await folder.write('agents/receptionist.yaml', receptionist({ llm: { ...llm, contextTokens: 1024 } }));
  const summaries = () => folder.provider.requests('chat').filter(({ system }) => system.startsWith('You are given the beginning')).length;
  folder.provider.chat(({ system, lastUser }) => (system.startsWith('You are given') ? `Summary ${summaries()}.` : lastUser));
  const conversation = Array.from({ length: 12 }, (_, turn) => ({ type: 'User', user: `Turn ${turn}${' of many'.repeat(20)}` }));
  await folder.write('tests/long.yaml', anAgentTest('long', { conversation, atEnd: [{ type: 'Ends', ends: 'user_ended_call' }] }));
  const recorded = await folder.parley(['test', '.', '--record']);
  expect(summaries()).toBeGreaterThan(1);
  const replayed = await folder.parley(['test', '.', '--replay', '-o', 'json']);
  expect([recorded.code, replayed.code, reportIn(replayed).results[0]?.attempts[0]?.error]).toEqual([0, 0, undefined]);
});

it('replays what a fallback answered, and how it came to that', async () => {
  await using folder = await aTestFolder();
  const { llm } = receptionist().spec as { readonly llm: object };
  const fallback = { provider: 'openai', model: 'gpt-4o', apiKeySecretRef: { name: 'model', key: 'api-key' } };
  await folder.write('agents/receptionist.yaml', receptionist({ llm: { ...llm, fallbacks: [fallback] } }));
  folder.provider.chat(({ model, lastUser }) => {
    if (model === 'gpt-4o') return /cut off/.test(lastUser) ? 'three.' : 'From the second.';
    return lastUser === 'Break off' ? { text: 'One two three.', breakAfter: 2 } : { status: 500 };
  });
  const conversation = [
    { type: 'User', user: 'Fail', expect: [{ type: 'Answer', answer: { contains: ['From the second.'] } }] },
    { type: 'User', user: 'Break off', expect: [{ type: 'Answer', answer: { contains: ['From the second.'] } }] },
  ];
  const breaksOff = {
    type: 'Conversation',
    conversation: [{ type: 'User', user: 'Break off', expect: [{ type: 'Answer', answer: { contains: ['One two three.'] } }] }],
  };
  await folder.write('tests/fallback.yaml', anAgentTest('fails', { conversation }), anAgentTest('breaks-off', breaksOff));
  const recorded = await folder.parley(['test', '.', '--record']);
  const replayed = await folder.parley(['test', '.', '--replay'], { env: noKeys });
  for (const { code, stdout } of [recorded, replayed]) expect([code, stdout]).toEqual([0, expect.stringContaining('2 passed, 0 failed')]);
});

it('makes no lookup in a replay, and none whose values the test gives', async () => {
  await using folder = await aTestFolder();
  const dynamicData = [{ name: 'customer', url: 'https://crm.example.com/who', response: [{ name: 'customer', path: '$.name' }] }];
  await folder.write('agents/receptionist.yaml', receptionist({ dynamicData }));
  await folder.write('tests/given.yaml', orderStatus('given', { dynamicData: { shop: 'x', customer: 'Ada' } }), orderStatus('open'));
  await folder.parley(['test', '.', '-t', 'given', '-t', 'open', '--record']);
  const done = await folder.parley(['test', '.', '--replay']);
  expect(done.stdout).toMatch(/✓ given/);
  expect(done.stdout).toMatch(
    /! open[^]*spec\.dynamicData: the agent looks up "customer" before the call, and replayed tests make no requests: give customer/,
  );
});

it('records requests that a model refuses in one form and takes in another', async () => {
  await using folder = await aTestFolder();
  folder.provider.chat((request) => (request.body['response_format'] !== undefined ? { status: 400 } : shop(request)));
  await folder.write('tests/judged.yaml', judged());
  expect((await folder.parley(['test', '.', '--record'])).code).toBe(0);
  expect((await folder.parley(['test', '.', '--replay'], { env: noKeys })).code).toBe(0);
});
