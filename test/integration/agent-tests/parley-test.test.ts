import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { beforeAll, describe, expect, it } from 'vitest';

import {
  aTestFolder,
  anAgentTest,
  demandingReceptionist,
  lookUpOrder,
  orderStatus,
  receptionist,
  reportIn,
  shop,
  type JsonReport,
} from './test-folder.ts';

const resultOf = (report: JsonReport, test: string) => report.results.find((result) => result.test === test)!;
const attemptOf = (report: JsonReport, test: string) => resultOf(report, test).attempts[0]!;
const failedChecks = (report: JsonReport, test: string) => attemptOf(report, test).checks.filter(({ verdict }) => verdict !== 'passed');

describe('parley test', () => {
  it('holds the conversation of a call, with its prompt, welcome message, tools and their messages', async () => {
    await using folder = await aTestFolder();
    await folder.write('agents/receptionist.yaml', demandingReceptionist());
    await folder.write('tests/order.yaml', orderStatus());
    const done = await folder.parley(['test', '.']);
    expect([done.code, done.stderr]).toEqual([0, '']);
    expect(done.stdout).toMatch(/^✓ order-status · receptionist \([\d.]+ s\)\n1 passed, 0 failed in [\d.]+ s\n$/);
    const [first, second] = folder.provider.requests('chat');
    expect(first?.system).toMatch(/^You answer for Harbour Bikes\.\nBe brief\.\n\nThe call began on /);
    expect(first?.messages.map(({ role, content }) => [role, content]).slice(1)).toEqual([
      ['assistant', 'Hello, this is Harbour Bikes.'],
      ['user', 'Where is my order 42?'],
    ]);
    expect(first?.toolNames.toSorted()).toEqual(['collect_digits', 'end_call', 'look_up_order', 'send_digits']);
    expect(second?.toolResults.map(({ content }) => content)).toEqual(['{"state":"shipped"}']);
    expect(folder.provider.requests('speech')).toEqual([]);
  });

  it('warns of a name that only some calls may bring, and runs no test with a tool that could never be called', async () => {
    await using folder = await aTestFolder();
    await folder.write('tests/order.yaml', orderStatus());
    await folder.write('agents/receptionist.yaml', demandingReceptionist({ welcomeMessage: 'Hello, this is {{shp}}.' }));
    const warned = await folder.parley(['test', '.']);
    expect([warned.code, warned.stderr]).toEqual([
      0,
      'parley: warning: agents/receptionist.yaml:20: spec.welcomeMessage: holds "{{shp}}", which is empty unless the call brings it: did you mean "{{shop}}"?\n',
    ]);
    const tool = lookUpOrder();
    const { custom } = tool.spec as { readonly custom: object };
    await folder.write('tools/look-up-order.yaml', {
      ...tool,
      spec: { ...tool.spec, custom: { ...custom, http: { url: 'https://x.example/{order_ids}' } } },
    });
    const refused = await folder.parley(['test', '.']);
    expect([refused.code, refused.stdout]).toEqual([
      1,
      expect.stringMatching(/look-up-order\.yaml:\d+: spec\.custom\.http\.url: holds "{order_ids}", which nothing supplies.*did you mean/),
    ]);
  });

  it('shows the transcript up to a failure, what was expected and what came', async () => {
    await using folder = await aTestFolder();
    const conversation = [
      { type: 'User', user: 'Hello', expect: [{ type: 'Answer', answer: { contains: ['hello'] } }] },
      {
        type: 'User',
        user: 'Where is my order 42?',
        expect: [
          { type: 'Answer', answer: { contains: ['delivered'] } },
          { type: 'Judge', judge: 'is never asked' },
        ],
      },
      { type: 'User', user: 'is never said' },
    ];
    await folder.write('tests/order.yaml', anAgentTest('delivered', { conversation }));
    const done = await folder.parley(['test', '.', '--junit', 'report.xml']);
    expect(done.code).toBe(1);
    expect(done.stdout.split('\n').slice(0, -2)).toEqual([
      expect.stringMatching(/^✗ delivered · receptionist/),
      '    agent │ Hello, this is Harbour Bikes.',
      '    user  │ Hello',
      '    agent │ You said: Hello',
      '    user  │ Where is my order 42?',
      '    tool  │ look_up_order({"order_id":"42"}) → {"state":"shipped"}',
      '    agent │ One moment.',
      '    agent │ Your order: shipped.',
      '    tests/order.yaml:30: spec.conversation[1].expect[0].answer.contains[0]',
      '      expected  an answer with "delivered"',
      '      got       One moment. Your order: shipped.',
    ]);
    expect(folder.provider.requests('chat').filter(({ system }) => system.startsWith('You check'))).toEqual([]);
    const junit = await readFile(join(folder.path, 'report.xml'), 'utf8');
    expect(junit).toContain('<testsuites name="parley test" tests="1" failures="1" errors="0"');
    expect(junit).toMatch(/<testcase name="delivered" classname="receptionist" file="tests\/order.yaml" line="4" time="[\d.]+">/);
    expect(junit).toContain('expected  an answer with "delivered"');
    expect(junit).toContain('look_up_order({"order_id":"42"})');
  });

  it('evaluates every kind of expectation', async () => {
    await using folder = await aTestFolder();
    folder.provider.chat((request) => {
      if (request.system.startsWith('You check') && request.messages[1]?.content.includes('insults'))
        return '{"reason": "it is friendly", "met": false}';
      return shop(request);
    });
    const turn = (user: string, ...expectations: readonly object[]) => ({
      type: 'Conversation',
      conversation: [{ type: 'User', user, expect: expectations }],
    });
    const failing = {
      'f-tool': turn('Where is my order 42?', { type: 'Tool', tool: { name: 'look_up_order', times: 2 } }),
      'f-arguments': turn('Where is my order 42?', { type: 'Tool', tool: { name: 'look_up_order', arguments: { order_id: '43' } } }),
      'f-words': turn('Tell me everything that you know about bicycles', { type: 'Answer', answer: { maxWords: 3 } }),
      'f-language': turn('Tell me everything that you know about bicycles', { type: 'Answer', answer: { language: 'de' } }),
      'f-judge': turn('Hello', { type: 'Judge', judge: 'insults the caller' }),
      'f-ends': turn('Hello', { type: 'Ends', ends: 'agent_ended_call' }),
      'f-within': turn('slow', { type: 'Within', within: '1ms' }),
      'f-early': {
        type: 'Conversation',
        conversation: [
          { type: 'User', user: 'bye' },
          { type: 'User', user: 'Are you still there?' },
        ],
        atEnd: [{ type: 'NeverCalled', neverCalled: 'send_digits' }],
      },
      'f-never': { ...turn('Where is my order 42?'), atEnd: [{ type: 'NeverCalled', neverCalled: 'look_up_order' }] },
      'f-called': { ...turn('Hello'), atEnd: [{ type: 'Called', called: { name: 'look_up_order' } }] },
      'f-analysis': { ...turn('Hello'), atEnd: [{ type: 'Analysis', analysis: { name: 'topic', equals: 'order' } }] },
      'f-unmocked': {
        ...turn('Where is my order 42?', { type: 'Tool', tool: { name: 'look_up_order' } }),
        tools: [{ name: 'look_up_order', type: 'Returns', when: { order_id: '43' }, returns: 1 }],
      },
      'f-goal': {
        type: 'SimulatedUser',
        simulatedUser: { goal: 'buy a boat', maxTurns: 2 },
        tools: [{ name: 'look_up_order', type: 'Returns', returns: { state: 'lost' } }],
      },
    };
    const passing = {
      'p-judge': turn('Hello', { type: 'Judge', judge: 'greets' }),
      'p-analysis': {
        ...turn('Where is my order 42?'),
        atEnd: [
          { type: 'Analysis', analysis: { name: 'topic', equals: 'order' } },
          { type: 'Judge', judge: 'is friendly' },
          { type: 'Ends', ends: 'user_ended_call' },
        ],
      },
      'p-user': {
        type: 'SimulatedUser',
        simulatedUser: { persona: 'impatient', goal: 'to know whether order 42 has shipped' },
        atEnd: [{ type: 'Called', called: { name: 'look_up_order', times: 1 } }],
      },
      'p-error': {
        ...turn('Where is my order 42?', { type: 'Answer', answer: { contains: ['cannot say'] } }),
        tools: [{ name: 'look_up_order', type: 'Error', error: 'the order system is away', delay: '20ms' }],
      },
      'p-keys': {
        type: 'Conversation',
        conversation: [{ type: 'Keys', keys: '42#', expect: [{ type: 'Answer', answer: { contains: ['pressed 42'] } }] }],
      },
    };
    await folder.write('tests/all.yaml', ...Object.entries({ ...failing, ...passing }).map(([name, spec]) => anAgentTest(name, spec)));
    const done = await folder.parley(['test', '.', '-o', 'json', '--concurrency', '8']);
    const report = reportIn(done);
    expect(Object.fromEntries(report.results.map(({ test, verdict }) => [test, verdict]))).toEqual({
      ...Object.fromEntries(Object.keys(failing).map((name) => [name, 'failed'])),
      ...Object.fromEntries(Object.keys(passing).map((name) => [name, 'passed'])),
    });
    expect(failedChecks(report, 'f-judge')).toMatchObject([
      { path: 'spec.conversation[0].expect[0].judge', kind: 'judge', reason: 'it is friendly' },
    ]);
    expect(failedChecks(report, 'f-unmocked')).toMatchObject([
      {
        path: 'spec.tools[0].when',
        kind: 'mock',
        expected: 'a mock for look_up_order({"order_id":"42"}), or no call',
        actual: 'no mock fits: spec.tools[0] answers look_up_order with {"order_id":"43"}',
      },
    ]);
    expect(failedChecks(report, 'f-early')).toMatchObject([
      { path: 'spec.conversation[1]', actual: expect.stringContaining('agent_ended_call') },
    ]);
    expect(failedChecks(report, 'f-goal')).toMatchObject([{ path: 'spec.simulatedUser.goal', actual: 'not reached in 2 turns' }]);
    expect(done.code).toBe(1);
  });

  it('repeats, and passes with as many attempts as the test asks for', async () => {
    await using folder = await aTestFolder();
    let calls = 0;
    folder.provider.chat(() => (++calls % 3 === 0 ? 'No.' : 'Yes.'));
    const conversation = [{ type: 'User', user: 'Well?', expect: [{ type: 'Answer', answer: { contains: ['yes'] } }] }];
    await folder.write(
      'tests/t.yaml',
      anAgentTest('often', { conversation, repeat: 9, passAtLeast: 6 }),
      anAgentTest('always', { conversation, repeat: 9 }),
    );
    const report = reportIn(await folder.parley(['test', '.', '-o', 'json', '--concurrency', '1']));
    expect(report).toMatchObject({ passed: 1, failed: 1, flaky: 1 });
    expect(resultOf(report, 'often')).toMatchObject({ verdict: 'passed', flaky: true, passed: 6, failed: 3 });
    expect(
      resultOf(report, 'always')
        .attempts.map(({ verdict }) => verdict)
        .slice(0, 3),
    ).toEqual(['failed', 'failed', 'failed']);
  });
});

it('has in a turn what tools did that ran beside the end of the call', async () => {
  await using folder = await aTestFolder();
  folder.provider.chat(() => ({
    text: 'Goodbye!',
    toolCalls: [{ name: 'look_up_order', arguments: { order_id: '42' } }, { name: 'end_call' }],
  }));
  const tool = { name: 'look_up_order', times: 1 };
  await folder.write('agents/receptionist.yaml', demandingReceptionist());
  await folder.write(
    'tests/order.yaml',
    orderStatus('ends', {
      tools: [{ name: 'look_up_order', type: 'Returns', returns: { state: 'shipped' }, delay: '60s' }],
      type: 'Conversation',
      conversation: [
        {
          type: 'User',
          user: 'Bye',
          expect: [
            { type: 'Tool', tool },
            { type: 'Ends', ends: 'agent_ended_call' },
          ],
        },
      ],
      atEnd: [{ type: 'Called', called: tool }],
    }),
  );
  const done = await folder.parley(['test', '.']);
  expect([done.code, done.stderr]).toEqual([0, '']);
});

describe('what cannot be evaluated is an error with its place, and never passes', () => {
  const cases: readonly (readonly [what: string, spec: object, message: RegExp])[] = [
    [
      'a mock of no tool',
      { tools: [{ name: 'look_up_odrer', type: 'Returns', returns: 1 }] },
      /tests\/t\.yaml:\d+: spec\.tools\[0\]\.name: agent receptionist has no function "look_up_odrer": it has look_up_order, collect_digits/m,
    ],
    [
      'an expectation of no tool',
      { type: 'Conversation', conversation: [{ type: 'User', user: 'x', expect: [{ type: 'Tool', tool: { name: 'cancel' } }] }] },
      /:\d+: spec\.conversation\[0\]\.expect\[0\]\.tool\.name: agent receptionist has no function "cancel"/,
    ],
    [
      'no such analysis',
      { atEnd: [{ type: 'Analysis', analysis: { name: 'mood', equals: 'good' } }] },
      /spec\.atEnd\[0\]\.analysis\.name: agent receptionist has no result "mood" in spec\.postCallAnalysis: it has topic/,
    ],
    [
      'a missing agent',
      { agentRefs: [{ name: 'ghost' }] },
      /:\d+: spec\.agentRefs\[0\]\.name: there is no agent ghost in the files: the agents are receptionist/,
    ],
    [
      'a misspelt expectation',
      { type: 'Conversation', conversation: [{ type: 'User', user: 'x', expect: [{ type: 'Answer', anwser: { contains: ['x'] } }] }] },
      /:\d+: spec\.conversation\[0\]\.expect\[0\]\.anwser: is not a field here: use one of type, answer, tool, handoff, judge, within, ends/,
    ],
    [
      'a bad regular expression',
      { type: 'Conversation', conversation: [{ type: 'User', user: 'x', expect: [{ type: 'Answer', answer: { matches: '(' } }] }] },
      /:\d+: spec\.conversation\[0\]\.expect\[0\]\.answer\.matches: is not a regular expression/,
    ],
    [
      'two answers in one mock',
      { tools: [{ name: 'look_up_order', type: 'Passthrough', error: 'x' }] },
      /:\d+: spec\.tools\[0\]: set error with type Error, and with no other type/,
    ],
    [
      'a language that is not known',
      { type: 'Conversation', conversation: [{ type: 'User', user: 'x', expect: [{ type: 'Answer', answer: { language: 'tlh' } }] }] },
      /answer\.language: "tlh" cannot be detected: ask a judge instead/,
    ],
    [
      'an answer too short for its language',
      { type: 'Conversation', conversation: [{ type: 'User', user: 'short', expect: [{ type: 'Answer', answer: { language: 'fr' } }] }] },
      /the answer is too short to tell its language/,
    ],
    ['sound', { mode: 'Audio' }, /:\d+: spec\.mode: a call with sound needs a media server/],
    [
      'a judge that answers nonsense',
      { type: 'Conversation', conversation: [{ type: 'User', user: 'x', expect: [{ type: 'Judge', judge: 'nonsense' }] }] },
      /:\d+: spec\.conversation\[0\]\.expect\[0\]\.judge[^]*reason +the judge gave no usable answer in 3 requests/,
    ],
    [
      'a model that is away',
      { type: 'Conversation', conversation: [{ type: 'User', user: 'break', expect: [{ type: 'Answer', answer: { maxWords: 100 } }] }] },
      /:\d+: spec\.conversation\[0\]: the call failed with llm_websocket_\w+: openai \(language model\) answers 400/,
    ],
    [
      'a conversation that takes too long',
      {
        type: 'Conversation',
        conversation: [{ type: 'User', user: 'hang', expect: [{ type: 'Answer', answer: { maxWords: 100 } }] }],
        timeout: '1s',
      },
      /:\d+: spec\.timeout: the attempt took longer than spec\.timeout, 1s/,
    ],
  ];
  /** One run of all tests says this about each. */
  let said: ReadonlyMap<string, string>;

  beforeAll(async () => {
    await using folder = await aTestFolder();
    folder.provider.chat((request) => {
      if (request.messages.some(({ content }) => content.includes('Statement about the agent: nonsense')))
        return 'As a model I cannot say.';
      if (request.lastUser === 'break') return { status: 400 };
      if (request.lastUser === 'hang') return { holdHead: new Promise(() => undefined) };
      return request.lastUser === 'short' ? 'Okay.' : shop(request);
    });
    const nameOf = (what: string): string => what.replaceAll(' ', '-');
    await folder.write(
      'tests/t.yaml',
      ...cases.map(([what, spec]) =>
        anAgentTest(nameOf(what), {
          type: 'Conversation',
          conversation: [{ type: 'User', user: 'x', expect: [{ type: 'Answer', answer: { maxWords: 100 } }] }],
          ...spec,
        }),
      ),
    );
    const done = await folder.parley(['test', '.']);
    expect(done.stdout).toMatch(new RegExp(`0 passed, 0 failed, ${cases.length} errors in`));
    expect(done.code).toBe(1);
    const sections = done.stdout.split(/^(?=\S)/m);
    said = new Map(cases.map(([what]) => [what, sections.find((section) => section.startsWith(`! ${nameOf(what)} `)) ?? '']));
  });

  it.each(cases)('%s', (what, _spec, message) => {
    expect(said.get(what)).toMatch(message);
  });

  it('an agent that would not be accepted', async () => {
    await using folder = await aTestFolder();
    await folder.write('agents/receptionist.yaml', receptionist({ timeZone: 'Mars/Olympus' }));
    await folder.write('tests/t.yaml', orderStatus());
    const done = await folder.parley(['test', '.']);
    expect(done.stdout).toMatch(/agents\/receptionist\.yaml:\d+: spec\.timeZone: /);
    expect(done.code).toBe(1);
  });

  it('a search without a mock', async () => {
    await using folder = await aTestFolder();
    folder.provider.chat(({ toolResults }) =>
      toolResults.length > 0 ? 'I do not know.' : { toolCalls: [{ name: 'search_knowledge_base', arguments: { query: 'hours' } }] },
    );
    await folder.write('agents/receptionist.yaml', receptionist({ knowledgeBaseRef: { name: 'handbook' } }));
    await folder.write(
      'agents/handbook.yaml',
      'apiVersion: parley.dev/v1beta1\nkind: KnowledgeBase\nmetadata: {name: handbook}\nspec: {description: All}\n',
    );
    const conversation = [{ type: 'User', user: 'When do you open?', expect: [{ type: 'Answer', answer: { contains: ['know'] } }] }];
    const returns = { results: [{ source: 'handbook', content: 'From nine.' }] };
    await folder.write(
      'tests/t.yaml',
      anAgentTest('unmocked', { conversation }),
      anAgentTest('mocked', { conversation, tools: [{ name: 'search_knowledge_base', type: 'Returns', returns }] }),
    );
    const report = reportIn(await folder.parley(['test', '.', '-o', 'json']));
    expect([resultOf(report, 'unmocked').verdict, resultOf(report, 'mocked').verdict]).toEqual(['error', 'passed']);
    expect(failedChecks(report, 'unmocked')).toMatchObject([
      { kind: 'mock', verdict: 'error', reason: expect.stringContaining('search_knowledge_base') },
    ]);
  });

  it('a key that is nowhere', async () => {
    await using folder = await aTestFolder();
    await folder.write('tests/t.yaml', orderStatus());
    const done = await folder.parley(['test', '.'], { env: { OPENAI_API_KEY: undefined } });
    expect(done.stdout).toMatch(
      /Secret model with the key "api-key" is not in the files: set OPENAI_API_KEY or PARLEY_SECRET_MODEL_API_KEY/,
    );
    expect(done.code).toBe(1);
  });
});

describe('nothing is run, with exit code 2,', () => {
  it.each([
    ['for a file that is no YAML', 'a: [', ['.'], /tests\/bad\.yaml:\d+: /],
    ['for a folder that is not there', '', ['nowhere'], /nowhere can't be read: there is no such file or folder/],
    ['without a test', '', ['agents'], /there is no AgentTest in agents/],
    ['for a test that is not there', '', ['.', '-t', 'gone'], /there is no test gone\n {2}→ the tests are order-status/],
    ['for an agent that no test names', '', ['.', '--agent', 'gone'], /no test is left to run/],
    [
      'for an object that is there twice',
      'apiVersion: parley.dev/v1beta1\nkind: Agent\nmetadata: {name: receptionist}\n',
      ['.'],
      /Agent default\/receptionist is also in agents\/receptionist\.yaml:4/,
    ],
    ['for options that exclude each other', '', ['.', '--record', '--replay'], /cannot be used with/],
    ['for an option of files with an agent of the cluster', '', ['agent/x', '--replay'], /--replay is for tests of files/],
    ['for another that has a default', '', ['agent/x', '--concurrency', '2'], /--concurrency is for tests of files/],
    ['for an option of the cluster with files', '', ['.', '-n', 'acme'], /--namespace is for agents of the cluster/],
    ['for an option that does not exist', '', ['.', '--fast'], /unknown option '--fast'/],
  ])('%s', async (_what, bad, args, message) => {
    await using folder = await aTestFolder();
    await folder.write('tests/order.yaml', orderStatus());
    if (bad !== '') await folder.write('tests/bad.yaml', bad);
    const done = await folder.parley(['test', ...args]);
    expect(done.stderr).toMatch(message);
    expect(done.code).toBe(2);
    expect(folder.provider.requests()).toEqual([]);
  });
});
