/** Conversations that several agents hold, in text: from files. */
import { expect, it } from 'vitest';

import { anAgent, aTool } from '../../support/builders.ts';
import type { ChatHandler } from '../../support/provider-server.ts';
import { aTestFolder, anAgentTest, reportIn, type TestFolder } from './test-folder.ts';

const llm = { provider: 'openai', model: 'gpt-4o-mini', apiKeySecretRef: { name: 'model', key: 'api-key' } };

/** The front desk hands over to billing, with a value that the call brings and one that its model fills in; billing may hand back. */
async function write(folder: TestFolder, spec: object = {}): Promise<void> {
  await folder.write(
    'agents/desk.yaml',
    anAgent('desk', undefined, {
      displayName: 'Front desk',
      llm: { ...llm, systemPrompt: 'You are the front desk.' },
      welcomeMessage: 'Harbour Bikes, hello.',
      handoffs: [
        {
          agentRef: { name: 'billing' },
          when: 'the caller asks about an invoice',
          say: 'One moment, {{name}}.',
          carry: ['name', 'invoice'],
          ...spec,
        },
      ],
    }),
    anAgent('billing', undefined, {
      displayName: 'Billing',
      llm: { ...llm, systemPrompt: 'You do the billing for {{name}}, invoice {{invoice}}.' },
      requiredDynamicData: ['invoice'],
      handoffs: [{ agentRef: { name: 'desk' }, when: 'it is about anything else' }],
    }),
  );
  await folder.write(
    'tools/pay.yaml',
    aTool('pay', undefined, {
      agentRefs: [{ name: 'billing' }],
      custom: { function: { name: 'find_invoice' }, http: { url: 'https://billing.example.com/' } },
    }),
  );
}

const models: ChatHandler = ({ system, lastUser, toolResults, messages }) => {
  const said = messages.findLast(({ role, content }) => role === 'user' && !content.startsWith('('))?.content ?? '';
  if (system.includes('front desk'))
    return said.includes('invoice')
      ? { text: 'Sure.', toolCalls: [{ name: 'hand_over_to_billing', arguments: { invoice: '17' } }] }
      : `The desk heard: ${said}`;
  if (toolResults.length > 0) return `Your invoice is ${toolResults[0]!.content}.`;
  if (said.includes('something else')) return { toolCalls: [{ name: 'hand_over_to_desk' }] };
  if (lastUser.startsWith('(')) return { toolCalls: [{ name: 'find_invoice' }] };
  return `Billing heard: ${said}`;
};

const handsOver = (spec: object = {}) =>
  anAgentTest('hands-over', {
    agentRefs: [{ name: 'desk' }],
    dynamicData: { name: 'Ada' },
    tools: [{ name: 'find_invoice', type: 'Returns', returns: 'paid' }],
    conversation: [
      {
        type: 'User',
        user: 'My invoice is wrong.',
        expect: [
          { type: 'Handoff', handoff: 'billing' },
          { type: 'Tool', tool: { name: 'find_invoice' } },
          { type: 'Answer', answer: { contains: ['One moment, Ada', 'paid'] } },
        ],
      },
      { type: 'User', user: 'Then something else.', expect: [{ type: 'Handoff', handoff: 'desk' }] },
      { type: 'User', user: 'When do you open?', expect: [{ type: 'Answer', answer: { contains: ['The desk heard'] } }] },
    ],
    atEnd: [{ type: 'Handoff', handoff: 'billing' }],
    ...spec,
  });

it('hands a conversation over and back, as its agents and their tests say, live, recorded and replayed', async () => {
  await using folder = await aTestFolder();
  folder.provider.chat(models);
  await write(folder);
  await folder.write('tests/hands-over.yaml', handsOver());
  const recorded = await folder.parley(['test', '.', '--record', '-o', 'json']);
  expect([recorded.code, recorded.stderr]).toEqual([0, '']);
  const [, ofBilling] = folder.provider.requests('chat');
  expect(ofBilling?.system).toMatch(/^You do the billing for Ada, invoice 17\./);
  expect(ofBilling?.messages.slice(1).map(({ role, content }) => [role, content])).toEqual([
    ['assistant', 'Harbour Bikes, hello.'],
    ['user', 'My invoice is wrong.'],
    ['assistant', 'Sure.'],
    ['assistant', 'One moment, Ada.'],
    ['user', expect.stringMatching(/^\(Front desk has handed the call over to you.* It passed on: name: Ada; invoice: 17\./)],
  ]);
  expect(ofBilling?.toolNames.toSorted()).toEqual(['collect_digits', 'end_call', 'find_invoice', 'hand_over_to_desk', 'send_digits']);
  const asked = folder.provider.requests('chat').length;
  const replayed = await folder.parley(['test', '.', '--replay', '-o', 'json']);
  expect([replayed.code, folder.provider.requests('chat').length]).toEqual([0, asked]);
  const lines = reportIn(replayed).results[0]!.attempts[0]!.transcript.map(({ role, text }) => `${role}: ${text}`);
  expect(lines).toContain('tool: hand_over_to_billing({"invoice":"17"})');
});

it('says which agent was expected, and which can never take over', async () => {
  await using folder = await aTestFolder();
  folder.provider.chat(models);
  await write(folder);
  const turn = (handoff: string) => [{ type: 'User', user: 'Hello', expect: [{ type: 'Handoff', handoff }] }];
  await folder.write('tests/hands-over.yaml', handsOver({ conversation: turn('billing'), atEnd: undefined }));
  const failed = await folder.parley(['test', '.']);
  expect(failed.stdout).toMatch(/expected {2}billing takes over\n +got {7}no agent took over/);
  await folder.write('tests/hands-over.yaml', handsOver({ conversation: turn('receptionist') }));
  const wrong = await folder.parley(['test', '.']);
  expect([wrong.code, wrong.stdout]).toEqual([
    1,
    expect.stringContaining('agent desk never hands over to "receptionist": billing can take over'),
  ]);
});

it('refuses an agent without what it requires, and the model goes on', async () => {
  await using folder = await aTestFolder();
  folder.provider.chat(({ toolResults: [result] }) =>
    result === undefined ? { toolCalls: [{ name: 'hand_over_to_billing' }] } : `Sorry: ${result.content}`,
  );
  await write(folder, { carry: ['name'] });
  await folder.write(
    'tests/hands-over.yaml',
    handsOver({
      conversation: [
        {
          type: 'User',
          user: 'My invoice is wrong.',
          expect: [
            {
              type: 'Answer',
              answer: { contains: ['Billing needs values that were not handed over: invoice'], notContains: ['One moment'] },
            },
          ],
        },
      ],
      atEnd: undefined,
    }),
  );
  const done = await folder.parley(['test', '.']);
  expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('1 passed')]);
});

it('names a missing agent, and an agent that names itself, by file and line', async () => {
  await using folder = await aTestFolder();
  await folder.write('tests/hands-over.yaml', handsOver());
  for (const [name, problem] of [
    ['nobody', 'there is no Agent nobody in the files'],
    ['desk', 'must not name the agent itself'],
  ]) {
    await folder.write('agents/desk.yaml', anAgent('desk', undefined, { llm, handoffs: [{ agentRef: { name }, when: 'it suits' }] }));
    const done = await folder.parley(['test', '.']);
    expect([done.code, done.stdout]).toEqual([
      1,
      expect.stringMatching(new RegExp(`agents/desk\\.yaml:\\d+: spec\\.handoffs\\[0\\].*: ${problem}`)),
    ]);
  }
});

it('talks to all of them in parley chat, and saves a hand-over as such', async () => {
  await using folder = await aTestFolder();
  folder.provider.chat(models);
  await write(folder);
  await folder.write('tests/mocks.yaml', handsOver());
  const input = 'My invoice is wrong.\nAnd thanks.\n';
  const done = await folder.parley(['chat', 'desk', '.', '-t', 'hands-over', '--save-as-test', 'tests/saved.yaml'], { input });
  expect([done.code, done.stdout.split('\n').filter((line) => line.startsWith('agent'))]).toEqual([
    0,
    [
      'agent │ Harbour Bikes, hello.',
      'agent │ Sure.',
      'agent │ One moment, Ada.',
      'agent │ Your invoice is "paid".',
      'agent │ Billing heard: And thanks.',
    ],
  ]);
  expect((await folder.parley(['test', 'agents', 'tools', 'tests/saved.yaml'])).code).toBe(0);
});
