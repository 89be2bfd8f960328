/** Tests in text report the use of models that the provider has counted. */
import { expect, it } from 'vitest';

import { events, finish, says } from '../../support/model-answers.ts';
import { anAgentTest, aTestFolder, reportIn, type JsonReport } from './test-folder.ts';

const PRICES = [{ kind: 'llm', provider: 'openai', currency: 'EUR', inputPerMillionTokens: '1', outputPerMillionTokens: '2' }];

const tests = {
  judged: {
    type: 'Conversation',
    conversation: [{ type: 'User', user: 'Where is my order 42?', expect: [{ type: 'Judge', judge: 'is friendly' }] }],
    atEnd: [{ type: 'Analysis', analysis: { name: 'topic', equals: 'order' } }],
    repeat: 2,
  },
  simulated: { type: 'SimulatedUser', simulatedUser: { goal: 'to know whether order 42 has shipped' } },
};

const itemsOf = ({ results }: JsonReport) => results.flatMap(({ usage }) => usage?.items ?? []);
const sum = (values: readonly (number | undefined)[]): number => values.reduce<number>((all, value) => all + (value ?? 0), 0);

it('is in their results: agent, judge, simulated user and analysis, priced, and nothing where answers are replayed', async () => {
  await using folder = await aTestFolder();
  await folder.provider.limitContext(1_000_000);
  await folder.write('tests/all.yaml', ...Object.entries(tests).map(([name, spec]) => anAgentTest(name, spec)));
  const env = { PARLEY_PRICES: JSON.stringify(PRICES) };
  const recorded = reportIn(await folder.parley(['test', '.', '--record', '-o', 'json'], { env }));
  expect(recorded).toMatchObject({ failed: 0, errors: 0 });

  const items = itemsOf(recorded);
  const billed = folder.provider.requests('chat').map((request) => request.billed);
  expect({
    requests: sum(items.map(({ requests }) => requests)),
    input: sum(items.map((item) => item.input_tokens)),
    output: sum(items.map((item) => item.output_tokens)),
  }).toEqual({
    requests: billed.length,
    input: sum(billed.map(({ inputTokens }) => inputTokens)),
    output: sum(billed.map(({ outputTokens }) => outputTokens)),
  });
  const purposesOf = (name: string) => recorded.results.find(({ test }) => test === name)?.usage?.items.map(({ purpose }) => purpose);
  expect(purposesOf('judged')?.toSorted()).toEqual(['analysis', 'conversation', 'judge']);
  expect(purposesOf('simulated')?.toSorted()).toEqual(['conversation', 'simulated_user']);
  const micros = sum(recorded.results.map(({ usage }) => Number(usage?.cost?.amount) * 1e6));
  expect(Math.round(micros)).toBe(sum(billed.map(({ inputTokens, outputTokens }) => inputTokens + 2 * outputTokens)));

  const before = folder.provider.requests('chat').length;
  expect(itemsOf(reportIn(await folder.parley(['test', '.', '--replay', '-o', 'json'], { env })))).toEqual([]);
  expect(folder.provider.requests('chat')).toHaveLength(before);
});

it('has the reasoning that a provider counts in the total alone', async () => {
  await using folder = await aTestFolder();
  const usage = {
    prompt_tokens: 1_000,
    completion_tokens: 50,
    total_tokens: 3_050,
    completion_tokens_details: { reasoning_tokens: 2_000 },
  };
  folder.provider.chat(() => ({ raw: events(says('Hello.'), finish('stop'), { choices: null, usage }) }));
  await folder.write(
    'tests/all.yaml',
    anAgentTest('reasons', {
      type: 'Conversation',
      conversation: [{ type: 'User', user: 'Hello', expect: [{ type: 'Answer', answer: { maxWords: 100 } }] }],
    }),
  );
  const env = { PARLEY_PRICES: JSON.stringify([{ ...PRICES[0], inputPerMillionTokens: '0', outputPerMillionTokens: '10' }]) };
  const [result] = reportIn(await folder.parley(['test', '.', '--live', '-o', 'json'], { env })).results;
  expect(result?.usage?.items).toMatchObject([
    { input_tokens: 1_000, output_tokens: 2_050, reasoning_tokens: 2_000, estimated_requests: 0 },
  ]);
  expect(Number(result?.usage?.cost?.amount)).toBe(0.0205);
});
