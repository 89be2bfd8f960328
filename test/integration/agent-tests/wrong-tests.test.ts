/** Mistakes in a test of an agent never turn it green, and each message alone says where the mistake is and what to write instead. */
import { beforeAll, describe, expect, it } from 'vitest';

import { aTestFolder, demandingReceptionist, shop } from './test-folder.ts';

const HEAD = 'apiVersion: parley.dev/v1beta1\nkind: AgentTest\nmetadata: {name: NAME}\n';
const AGENT = '  agentRefs: [{name: receptionist}]\n';
const DATA = '  dynamicData: {shop: Harbour Bikes}\n';
const MOCK = '  tools: [{name: look_up_order, returns: {state: shipped}}]\n';
const ASK = '  conversation: [{user: "Where is my order 42?", expect: [{answer: {contains: [shipped]}}]}]\n';
const test = (...parts: readonly string[]): string => `${HEAD}spec:\n${parts.join('')}`;
const turn = (expectation: string, user = '"Where is my order 42?"'): string =>
  test(AGENT, DATA, MOCK, `  conversation: [{user: ${user}, expect: [${expectation}]}]\n`);
const atEnd = (check: string): string => test(AGENT, DATA, MOCK, ASK, `  atEnd: [${check}]\n`);

/** Mistakes by name: the file, and the message about it. */
const EVALUATED: Readonly<Record<string, readonly [file: string, message: RegExp]>> = {
  'nothing is expected': [
    test(AGENT, DATA, MOCK, '  conversation: [{user: Hi}]\n'),
    /:8: spec\.conversation: the test expects nothing.*add expect to a turn/,
  ],
  'required data is missing': [test(AGENT, MOCK, ASK), /spec\.dynamicData: agent receptionist requires "shop".*add shop with a value/],
  'required data is null': [test(AGENT, '  dynamicData: {shop: ~}\n', MOCK, ASK), /:6: spec\.dynamicData\.shop: /],
  'data is a map': [test(AGENT, '  dynamicData: {shop: {name: x}}\n', MOCK, ASK), /:6: spec\.dynamicData\.shop: .*text/],
  'no agent is named': [test(DATA, MOCK, ASK), /spec\.agentRefs: is required/],
  'the agent is misspelt': [
    test('  agentRefs: [{name: receptionst}]\n', DATA, MOCK, ASK),
    /:5: spec\.agentRefs\[0\]\.name: there is no agent receptionst in the files: the agents are receptionist/,
  ],
  'agents are a text': [test('  agentRefs: receptionist\n', DATA, MOCK, ASK), /:5: spec\.agentRefs: must be a list and is "receptionist"/],
  'a field is misspelt': [
    test(AGENT, DATA, '  converstion: []\n'),
    /:7: spec\.converstion: is not a field here: use one of .*conversation/,
  ],
  'an expectation is misspelt': [turn('{anwser: {contains: [x]}}'), /expect\[0\]\.anwser: is not a field here: use one of answer, tool/],
  'two expectations stand in one entry': [
    turn('{judge: greets, within: 1s}'),
    /expect\[0\]: exactly one of answer, tool, judge, within, ends must be set|expect\[0\]: set exactly one of answer, tool, judge, within, ends/,
  ],
  'contains is a text': [turn('{answer: {contains: shipped}}'), /answer\.contains: must be a list and is "shipped"/],
  'contains is empty': [
    turn('{answer: {contains: []}}'),
    /answer\.contains: must have at least 1 entries: add one, or leave the field out/,
  ],
  'an answer has no check': [turn('{answer: {}}'), /answer: set at least one of contains, notContains, matches, maxWords/],
  'a text is read as a boolean': [
    turn('{answer: {notContains: [no]}}'),
    /answer\.notContains\[0\]: must be a text and is false, as YAML reads yes, no.*put it in quotes/,
  ],
  'what the user says is read as a boolean': [
    turn('{judge: greets}', 'yes'),
    /conversation\[0\]\.user: must be a text and is true.*put it in quotes/,
  ],
  'a text is read as a number': [turn('{answer: {contains: [42]}}'), /answer\.contains\[0\]: must be a text and is 42: put it in quotes/],
  'an octal number is compared': [
    turn('{tool: {name: look_up_order, arguments: {order_id: 0123}}}'),
    /expected +at least one call of look_up_order with \{"order_id":83\}\n +got +look_up_order\(\{"order_id":"42"\}\)/,
  ],
  'a number stands for a text': [
    turn('{tool: {name: look_up_order, arguments: {order_id: 42}}}'),
    /with \{"order_id":42\}\n +got +look_up_order\(\{"order_id":"42"\}\)/,
  ],
  'part of a number is expected': [
    turn('{answer: {contains: ["12"]}}', 'price'),
    /expected +an answer with "12"\n +got +It costs 12\.50\./,
  ],
  'a number without its sign is expected': [
    turn('{answer: {contains: ["5"]}}', 'cold'),
    /expected +an answer with "5"\n +got +It is -5 degrees\./,
  ],
  'a regular expression is broken': [turn('{answer: {matches: "("}}'), /answer\.matches: is not a regular expression: .*\(/],
  'a language is unknown': [turn('{answer: {language: tlh}}'), /answer\.language: "tlh" cannot be detected: ask a judge instead/],
  'a duration has no unit': [turn('{within: 2}'), /within: must be a text and is 2: put it in quotes/],
  'a reason to end is misspelt': [
    turn('{ends: agent_endet_call}'),
    /ends: must be one of .* and is "agent_endet_call": did you mean agent_ended_call\?/,
  ],
  'a tool is misspelt': [
    turn('{tool: {name: look_up_odrer}}'),
    /tool\.name: agent receptionist has no function "look_up_odrer": it has look_up_order/,
  ],
  'a tool is unknown that is not': [
    turn('{tool: {name: look_up_order, unknown: true}}'),
    /tool\.unknown: agent receptionist has the function "look_up_order": leave unknown out/,
  ],
  'a tool has arguments of no call': [
    turn('{tool: {name: look_up_order, times: 0, arguments: {order_id: "1"}}}'),
    /tool\.arguments: mean nothing with times: 0; leave one of them out/,
  ],
  'a matcher is misspelt': [
    turn('{tool: {name: look_up_order, arguments: {order_id: {contain: "4"}}}}'),
    /arguments\.order_id: .*contains, matches.*equals/,
  ],
  'the model makes a tool up': [
    turn('{answer: {contains: [Cancelled]}}', 'cancel'),
    /expected +calls of look_up_order.*\n +got +cancel_all\(\{\}\)\n +reason +the agent has no function cancel_all: .*unknown: true/,
  ],
  'a mock is misspelt': [
    test(AGENT, DATA, '  tools: [{name: look_up, returns: 1}]\n', ASK),
    /:7: spec\.tools\[0\]\.name: agent receptionist has no function "look_up": it has look_up_order/,
  ],
  'a mock is for other arguments': [
    test(AGENT, DATA, '  tools: [{name: look_up_order, when: {order_id: 42}, returns: 1}]\n', ASK),
    /:7: spec\.tools\[0\]\.when\n.*look_up_order\(\{"order_id":"42"\}\).*\n +got +no mock fits: spec\.tools\[0\] answers look_up_order with \{"order_id":42\}\n +reason +change when/,
  ],
  'a mock is missing': [
    test(AGENT, DATA, ASK),
    /a mock for look_up_order.*\n +got +the call has no mock\n +reason +add look_up_order to spec\.tools/,
  ],
  'a mock has two answers': [
    test(AGENT, DATA, '  tools: [{name: look_up_order, error: x, passthrough: true}]\n', ASK),
    /:7: spec\.tools\[0\]: set exactly one of returns, error, sequence and passthrough/,
  ],
  'a mock has no answer': [
    test(AGENT, DATA, '  tools: [{name: look_up_order}]\n', ASK),
    /:7: spec\.tools\[0\]: set exactly one of returns, error/,
  ],
  'a result of the analysis is misspelt': [
    atEnd('{analysis: {name: mood, equals: good}}'),
    /analysis\.name: agent receptionist has no result "mood".*it has topic/,
  ],
  'a function that is never called is misspelt': [
    atEnd('{neverCalled: transfer}'),
    /neverCalled: agent receptionist has no function "transfer"/,
  ],
  'an end is expected that does not come': [atEnd('{ends: agent_ended_call}'), /expected +agent_ended_call\n +got +user_ended_call/],
  'a turn comes after the end': [
    test(AGENT, DATA, '  conversation: [{user: bye}, {user: "And then?", expect: [{judge: answers}]}]\n'),
    /spec\.conversation\[1\]\n +expected +the call goes on\n +got +it has ended before this turn: agent_ended_call/,
  ],
  'there are both a script and a user': [
    test(AGENT, DATA, MOCK, ASK, '  simulatedUser: {goal: x}\n'),
    /: spec: .*exactly one of conversation.*simulatedUser/,
  ],
  'more must pass than are made': [
    test(AGENT, DATA, MOCK, ASK, '  repeat: 2\n  passAtLeast: 3\n'),
    /:10: spec\.passAtLeast: .*must not be more than repeat/,
  ],
  'a mode is misspelt': [
    test(AGENT, DATA, MOCK, ASK, '  mode: txt\n'),
    /:9: spec\.mode: must be one of text, audio and is "txt": did you mean text\?/,
  ],
  'sound is tested without a cluster': [
    test(AGENT, DATA, MOCK, ASK, '  mode: audio\n'),
    /:9: spec\.mode: .*run it in the cluster \(kubectl parley test\), or set text/,
  ],
  'a schedule never comes': [
    test(AGENT, DATA, MOCK, ASK, '  schedule: "0 6 31 2 *"\n'),
    /:9: spec\.schedule: names a time that never comes/,
  ],
  'a judge lacks its address': [
    test(AGENT, DATA, MOCK, ASK, '  judge: {provider: openai_compatible, model: m}\n'),
    /spec\.judge\.baseURL: .*is required for provider openai_compatible/,
  ],
  'a provider is misspelt': [test(AGENT, DATA, MOCK, ASK, '  judge: {provider: opnai, model: m}\n'), /spec\.judge\.provider: .*"opnai"/],
};

const named = (what: string): string => what.replaceAll(' ', '-');

describe('a wrong test is not green, and its message says what to write:', () => {
  let said: ReadonlyMap<string, string>;
  let summary = '';

  beforeAll(async () => {
    await using folder = await aTestFolder();
    folder.provider.chat((request) => {
      if (request.lastUser === 'price') return 'It costs 12.50.';
      if (request.lastUser === 'cold') return 'It is -5 degrees.';
      if (request.lastUser === 'cancel')
        return request.toolResults.length > 0 ? 'Cancelled.' : { toolCalls: [{ name: 'cancel_all', arguments: {} }] };
      return shop(request);
    });
    await folder.write('agents/receptionist.yaml', demandingReceptionist());
    for (const [what, [file]] of Object.entries(EVALUATED))
      await folder.write(`tests/${named(what)}.yaml`, file.replace('NAME', named(what)));
    const done = await folder.parley(['test', '.']);
    expect([done.code, done.stderr]).toEqual([1, '']);
    summary = done.stdout;
    const sections = done.stdout.split(/^(?=\S)/m);
    said = new Map(
      Object.keys(EVALUATED).map((what) => [what, sections.find((section) => section.slice(2).startsWith(`${named(what)} `)) ?? 'nothing']),
    );
  });

  it('none is green', () => {
    expect(summary).toMatch(/^0 passed, /m);
    expect(summary).not.toContain('✓');
  });

  it.each(Object.entries(EVALUATED))('%s', (what, [, message]) => {
    expect(said.get(what)).toMatch(message);
  });
});

describe('a file that kubectl would refuse is not run:', () => {
  it.each([
    [
      'a version that there is not',
      test(AGENT, ASK).replace('v1beta1', 'v1'),
      /:1: apiVersion: there is no AgentTest in "parley\.dev\/v1": write parley\.dev\/v1beta1/,
    ],
    [
      'a misspelt group',
      test(AGENT, ASK).replace('parley.dev', 'parly.dev'),
      /:1: apiVersion: there is no AgentTest in "parly\.dev\/v1beta1": write/,
    ],
    ['no version', test(AGENT, ASK).replace(/^.*\n/, ''), /:1: apiVersion: is required: write parley\.dev\/v1beta1/],
    ['a misspelt kind', test(AGENT, ASK).replace('AgentTest', 'Agenttest'), /:2: kind: there is no kind "Agenttest": write AgentTest/],
    ['no kind', test(AGENT, ASK).replace(/kind: .*\n/, ''), /: kind: is required: AgentTest/],
    ['no name', test(AGENT, ASK).replace('{name: NAME}', '{}'), /:3: metadata\.name: is required/],
    ['a name that is a number', test(AGENT, ASK).replace('NAME', '0123'), /:3: metadata\.name: is 83, which is no text: put it in quotes/],
    ['no YAML', 'kind: [', /wrong\.yaml:\d+: /],
    ['a tab', 'kind: AgentTest\n\tspec: {}\n', /wrong\.yaml:2: .*[Tt]ab/],
    ['a key that is there twice', `${test(AGENT, ASK)}  mode: text\n  mode: text\n`, /wrong\.yaml:8: .*unique/],
  ])('%s', async (_what, file, message) => {
    await using folder = await aTestFolder();
    await folder.write('tests/wrong.yaml', file);
    const done = await folder.parley(['test', '.']);
    expect(done.stderr).toMatch(message);
    expect([done.code, done.stdout]).toEqual([2, '']);
    expect(folder.provider.requests()).toEqual([]);
  });
});
