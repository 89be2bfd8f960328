/** Mistakes in a test of an agent never turn it green, and each message alone says where the mistake is and what to write instead. */
import { beforeAll, describe, expect, it } from 'vitest';

import { aTestFolder, demandingReceptionist, shop } from './test-folder.ts';

const HEAD = 'apiVersion: parley.dev/v1beta1\nkind: AgentTest\nmetadata: {name: NAME}\n';
const AGENT = '  agentRefs: [{name: receptionist}]\n';
const DATA = '  dynamicData: {shop: Harbour Bikes}\n';
const MOCK = '  tools: [{name: look_up_order, type: Returns, returns: {state: shipped}}]\n';
const ASK =
  '  conversation: [{type: User, user: "Where is my order 42?", expect: [{type: Answer, answer: {contains: [shipped]}}]}]\n  type: Conversation\n';
const test = (...parts: readonly string[]): string => `${HEAD}spec:\n${parts.join('')}`;
const turn = (expectation: string, user = '"Where is my order 42?"'): string =>
  test(AGENT, DATA, MOCK, `  conversation: [{type: User, user: ${user}, expect: [${expectation}]}]\n  type: Conversation\n`);
const atEnd = (check: string): string => test(AGENT, DATA, MOCK, ASK, `  atEnd: [${check}]\n`);

/** Mistakes by name: the file, and the message about it. */
const EVALUATED: Readonly<Record<string, readonly [file: string, message: RegExp]>> = {
  'nothing is expected': [
    test(AGENT, DATA, MOCK, '  conversation: [{type: User, user: Hi}]\n  type: Conversation\n'),
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
  'an expectation is misspelt': [
    turn('{type: Answer, anwser: {contains: [x]}}'),
    /expect\[0\]\.anwser: is not a field here: use one of type, answer, tool/,
  ],
  'the type of an expectation is forgotten': [
    turn('{judge: greets}'),
    /:8: spec\.conversation\[0\]\.expect\[0\]\.type: is required: write type: Judge/,
  ],
  'the type of a turn is forgotten': [
    test(AGENT, DATA, '  conversation: [{user: Hi, expect: []}]\n  type: Conversation\n'),
    /:7: spec\.conversation\[0\]\.type: is required: write type: User/,
  ],
  'the type of a mock is forgotten': [
    test(AGENT, DATA, '  tools: [{name: look_up_order, passthrough: true}]\n', ASK),
    /:7: spec\.tools\[0\]\.type: is required: write type: Passthrough/,
  ],
  'the type of the test is forgotten': [
    test(AGENT, DATA, '  simulatedUser: {goal: x}\n'),
    /:4: spec\.type: is required: write type: SimulatedUser/,
  ],
  'the type is that of another expectation': [
    turn('{type: Tool, judge: greets}'),
    /:8: spec\.conversation\[0\]\.expect\[0\]: set tool with type Tool, and with no other type/,
  ],
  'the time zone is misspelt': [
    test(AGENT, DATA, MOCK, ASK, '  schedule: "0 6 * * *"\n  timeZone: Europe/Berln\n'),
    /:11: spec\.timeZone: "Europe\/Berln" is not an IANA time zone; use a name like Europe\/Berlin or UTC/,
  ],
  'two expectations stand in one entry': [
    turn('{type: Judge, judge: greets, within: 1s}'),
    /:8: spec\.conversation\[0\]\.expect\[0\]: set within with type Within, and with no other type/,
  ],
  'contains is a text': [turn('{type: Answer, answer: {contains: shipped}}'), /answer\.contains: must be a list and is "shipped"/],
  'contains is empty': [
    turn('{type: Answer, answer: {contains: []}}'),
    /answer\.contains: must have at least 1 entries: add one, or leave the field out/,
  ],
  'an answer has no check': [turn('{type: Answer, answer: {}}'), /answer: set at least one of contains, notContains, matches, maxWords/],
  'a text is read as a boolean': [
    turn('{type: Answer, answer: {notContains: [no]}}'),
    /answer\.notContains\[0\]: must be a text and is false, as YAML reads yes, no.*put it in quotes/,
  ],
  'what the user says is read as a boolean': [
    turn('{type: Judge, judge: greets}', 'yes'),
    /conversation\[0\]\.user: must be a text and is true.*put it in quotes/,
  ],
  'a text is read as a number': [
    turn('{type: Answer, answer: {contains: [42]}}'),
    /answer\.contains\[0\]: must be a text and is 42: put it in quotes/,
  ],
  'an octal number is compared': [
    turn('{type: Tool, tool: {name: look_up_order, arguments: {order_id: 0123}}}'),
    /expected +at least one call of look_up_order with \{"order_id":83\}\n +got +look_up_order\(\{"order_id":"42"\}\)/,
  ],
  'a number stands for a text': [
    turn('{type: Tool, tool: {name: look_up_order, arguments: {order_id: 42}}}'),
    /with \{"order_id":42\}\n +got +look_up_order\(\{"order_id":"42"\}\)/,
  ],
  'part of a number is expected': [
    turn('{type: Answer, answer: {contains: ["12"]}}', 'price'),
    /expected +an answer with "12"\n +got +It costs 12\.50\./,
  ],
  'a number without its sign is expected': [
    turn('{type: Answer, answer: {contains: ["5"]}}', 'cold'),
    /expected +an answer with "5"\n +got +It is -5 degrees\./,
  ],
  'a regular expression is broken': [turn('{type: Answer, answer: {matches: "("}}'), /answer\.matches: is not a regular expression: .*\(/],
  'a language is unknown': [
    turn('{type: Answer, answer: {language: tlh}}'),
    /answer\.language: "tlh" cannot be detected: ask a judge instead/,
  ],
  'a duration has no unit': [turn('{type: Within, within: 2}'), /within: must be a text and is 2: put it in quotes/],
  'a reason to end is misspelt': [
    turn('{type: Ends, ends: agent_endet_call}'),
    /ends: calls never end with "agent_endet_call": did you mean agent_ended_call\?/,
  ],
  'a tool is misspelt': [
    turn('{type: Tool, tool: {name: look_up_odrer}}'),
    /tool\.name: agent receptionist has no function "look_up_odrer": it has look_up_order/,
  ],
  'a tool is unknown that is not': [
    turn('{type: Tool, tool: {name: look_up_order, unknown: true}}'),
    /tool\.unknown: agent receptionist has the function "look_up_order": leave unknown out/,
  ],
  'a tool has arguments of no call': [
    turn('{type: Tool, tool: {name: look_up_order, times: 0, arguments: {order_id: "1"}}}'),
    /tool\.arguments: mean nothing with times: 0; leave one of them out/,
  ],
  'a matcher is misspelt': [
    turn('{type: Tool, tool: {name: look_up_order, arguments: {order_id: {contain: "4"}}}}'),
    /arguments\.order_id: .*contains, matches.*equals/,
  ],
  'the model makes a tool up': [
    turn('{type: Answer, answer: {contains: [Cancelled]}}', 'cancel'),
    /expected +calls of look_up_order.*\n +got +cancel_all\(\{\}\)\n +reason +the agent has no function cancel_all: .*unknown: true/,
  ],
  'a mock is misspelt': [
    test(AGENT, DATA, '  tools: [{name: look_up, type: Returns, returns: 1}]\n', ASK),
    /:7: spec\.tools\[0\]\.name: agent receptionist has no function "look_up": it has look_up_order/,
  ],
  'a mock is for other arguments': [
    test(AGENT, DATA, '  tools: [{name: look_up_order, when: {order_id: 42}, type: Returns, returns: 1}]\n', ASK),
    /:7: spec\.tools\[0\]\.when\n.*look_up_order\(\{"order_id":"42"\}\).*\n +got +no mock fits: spec\.tools\[0\] answers look_up_order with \{"order_id":42\}\n +reason +change when/,
  ],
  'a mock is missing': [
    test(AGENT, DATA, ASK),
    /a mock for look_up_order.*\n +got +the call has no mock\n +reason +add look_up_order to spec\.tools/,
  ],
  'a mock has two answers': [
    test(AGENT, DATA, '  tools: [{name: look_up_order, type: Passthrough, error: x}]\n', ASK),
    /:7: spec\.tools\[0\]: set error with type Error, and with no other type/,
  ],
  'a mock has no answer': [
    test(AGENT, DATA, '  tools: [{name: look_up_order, type: Returns}]\n', ASK),
    /:7: spec\.tools\[0\]: set returns with type Returns, and with no other type/,
  ],
  'a result of the analysis is misspelt': [
    atEnd('{type: Analysis, analysis: {name: mood, equals: good}}'),
    /analysis\.name: agent receptionist has no result "mood".*it has topic/,
  ],
  'a function that is never called is misspelt': [
    atEnd('{type: NeverCalled, neverCalled: transfer}'),
    /neverCalled: agent receptionist has no function "transfer"/,
  ],
  'an end is expected that does not come': [
    atEnd('{type: Ends, ends: agent_ended_call}'),
    /expected +agent_ended_call\n +got +user_ended_call/,
  ],
  'a turn comes after the end': [
    test(
      AGENT,
      DATA,
      '  conversation: [{type: User, user: bye}, {type: User, user: "And then?", expect: [{type: Judge, judge: answers}]}]\n  type: Conversation\n',
    ),
    /spec\.conversation\[1\]\n +expected +the call goes on\n +got +it has ended before this turn: agent_ended_call/,
  ],
  'there are both a script and a user': [
    test(AGENT, DATA, MOCK, ASK, '  simulatedUser: {goal: x}\n'),
    /:4: spec: set simulatedUser with type SimulatedUser, and with no other type/,
  ],
  'more must pass than are made': [
    test(AGENT, DATA, MOCK, ASK, '  repeat: 2\n  passAtLeast: 3\n'),
    /:11: spec\.passAtLeast: .*must not be more than repeat/,
  ],
  'a mode is misspelt': [
    test(AGENT, DATA, MOCK, ASK, '  mode: Txt\n'),
    /:10: spec\.mode: must be one of Text, Audio and is "Txt": did you mean Text\?/,
  ],
  'sound is tested without a cluster': [
    test(AGENT, DATA, MOCK, ASK, '  mode: Audio\n'),
    /:10: spec\.mode: .*run it in the cluster \(kubectl parley test\), or set mode: Text/,
  ],
  'a schedule never comes': [
    test(AGENT, DATA, MOCK, ASK, '  schedule: "0 6 31 2 *"\n'),
    /:10: spec\.schedule: names a time that never comes/,
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
    ['a key that is there twice', `${test(AGENT, ASK)}  mode: Text\n  mode: Text\n`, /wrong\.yaml:9: .*unique/],
  ])('%s', async (_what, file, message) => {
    await using folder = await aTestFolder();
    await folder.write('tests/wrong.yaml', file);
    const done = await folder.parley(['test', '.']);
    expect(done.stderr).toMatch(message);
    expect([done.code, done.stdout]).toEqual([2, '']);
    expect(folder.provider.requests()).toEqual([]);
  });
});
