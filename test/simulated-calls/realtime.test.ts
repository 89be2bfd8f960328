/** A realtime model holds the conversation: its session says what the history says, and the call goes on without it. */
import { expect, it } from 'vitest';

import { SimulatedCall } from '../support/simulated-call.ts';
import type { HistoryItem } from '../../voice/providers/llm/history.ts';
import type { RealtimeScript } from '../support/simulated-realtime.ts';
import { aTool } from '../support/scripted-tool.ts';

const INTERRUPTIONS = 50;

const callWith = (realtime: RealtimeScript, more: object = {}) => new SimulatedCall({ realtime, ...more });

/** Joins the items of one side that stand next to each other: several sounds may be one message. */
function joined(items: readonly string[]): readonly string[] {
  const lines: string[] = [];
  for (const item of items.map((each) => each.replace(/\s+/g, ' ').trim())) {
    const side = /^(user|agent): /.exec(item)?.[0];
    if (side !== undefined && lines.at(-1)?.startsWith(side)) lines.push(`${lines.pop()} ${item.slice(side.length)}`);
    else lines.push(item);
  }
  return lines;
}

const written = (history: readonly HistoryItem[]): readonly string[] =>
  history.map((item) => {
    if (item.type === 'message') return `${item.role}: ${item.text}`;
    return item.type === 'call' ? `call: ${item.name} ${item.args}` : `result: ${item.output}`;
  });

const answerTo = (round: number): string =>
  ['Wonderful', 'Beautiful', 'Colourful', 'Delightful']
    .map((kind) => `${kind} umbrellas protect ${round} travellers everywhere.`)
    .join(' ');

it('hears the sound, answers it, and is told no word twice', async () => {
  const call = callWith({ answer: ({ lastUser }) => ({ text: `You said ${lastUser}.` }) });
  await call.says('when are you open');
  await call.until(() => call.heardText.includes('You said when are you open.'));
  await call.says('thank you');
  await call.until(() => call.heardText.includes('You said thank you.'));
  const { questions, fallbacks } = call.realtime!;
  expect(questions.map(({ items, sounds }) => [items, sounds])).toEqual([
    [['user: when are you open'], 1],
    [['user: when are you open', 'agent: You said when are you open.', 'user: thank you'], 2],
  ]);
  expect([fallbacks, call.realtime!.server.refused]).toEqual([0, []]);
});

it.each([
  { transcribesMs: 0, beta: false },
  { transcribesMs: 200, beta: true },
  { transcribesMs: 500, beta: false },
  { transcribesMs: 800, beta: true },
])(
  `keeps in its session what the user has heard, to the word, in ${INTERRUPTIONS} interruptions, with %j`,
  async (server) => {
    let round = 0;
    const call = callWith({ ...server, answer: () => ({ text: answerTo(round) }) }, { voice: () => ({ msPerCharacter: 70 }) });
    await call.says('question number zero');
    for (; round < INTERRUPTIONS;) {
      const heard = () => call.heard.filter(({ sentence }) => answerTo(round).includes(sentence));
      await call.until(() => heard().length > 0);
      await call.pass(300 + ((round * 2_311) % 4_000));
      round += 1;
      await call.says(`question number ${round}`);
      await call.until(() => call.realtime!.questions.length > round);
    }
    const { questions, histories, fallbacks, servers } = call.realtime!;
    expect(fallbacks).toBe(0);
    expect(servers.map(({ refused }) => refused)).toEqual([[]]);
    expect(questions.map(({ items }) => joined(items))).toEqual(histories.map((history) => joined(written(history))));
    expect(joined(questions.at(-1)!.items)).toEqual(joined(call.transcript.map((line) => line.replace(/ …$/, ''))));
    // No word of the user's had to be sent as text.
    expect(questions.at(-1)!.sounds).toBe(INTERRUPTIONS + 1);
  },
  120_000,
);

it('is not moved by sounds without words', async () => {
  const call = callWith({ answer: () => ({ text: answerTo(1) }) });
  await call.says('go on');
  await call.until(() => call.heard.length > 0);
  for (let cough = 0; cough < 5; cough += 1) await call.pass(call.coughs(200) - call.now + 1_500);
  await call.until(() => call.transcript.length === 2);
  expect(call.realtime!.questions).toHaveLength(1);
  expect(call.transcript.filter((line) => line.startsWith('agent'))).toEqual([`agent: ${answerTo(1)}`]);
  await call.says('thank you');
  await call.until(() => call.realtime!.questions.length === 2);
  expect(call.realtime!.questions[1]!.items).toEqual(['user: go on', `agent: ${answerTo(1)}`, 'user: thank you']);
});

it('gives results of tools, and answers words that come meanwhile once and in order', async () => {
  const tool = aTool('find_price');
  const call = callWith(
    {
      answer: ({ items, lastUser }) => {
        if (!items.some((item) => item.startsWith('call: ')))
          return { text: 'One moment.', calls: [{ name: 'find_price', args: '{"item":"hat"}' }] };
        return { text: items.at(-1)!.startsWith('result: ') ? 'It costs nine.' : `Also ${lastUser}.` };
      },
    },
    { tools: [tool.definition] },
  );
  await call.says('what does the hat cost');
  await call.until(() => tool.runs.length > 0 && call.heardText.includes('One moment.'));
  await call.says('and please be quick');
  await call.until(() => call.heardText.includes('Also and please be quick.'));
  tool.gives('nine');
  await call.until(() => call.heardText.includes('It costs nine.') || call.realtime!.questions.length === 3);
  const { questions, histories, fallbacks, server } = call.realtime!;
  expect([fallbacks, server.refused]).toEqual([0, []]);
  expect(questions[0]!.toolNames).toContain('find_price');
  expect(questions.map(({ items }) => joined(items))).toEqual(histories.map((history) => joined(written(history))));
  expect(call.transcript.filter((line) => line === 'agent: Also and please be quick.')).toHaveLength(1);
});

it('hands on to the language model where the connection is lost in the middle of an answer, and nothing is said twice', async () => {
  const call = callWith({
    answer: () => ({ text: answerTo(7), breaksAfter: 4, msPerWord: 100 }),
    fallback: (messages) => (messages.at(-1)!.content.includes('cut off') ? '7 travellers everywhere.' : 'Here I am.'),
  });
  await call.says('go on');
  await call.until(() => call.heardText.endsWith('travellers everywhere.'));
  expect(call.heardText).toBe('Wonderful umbrellas protect 7 travellers everywhere.');
  await call.says('are you still there');
  await call.until(() => call.heardText.endsWith('Here I am.'));
  expect(call.transcript).toContain('user: are you still there');
});

it('has the recogniser of the agent hear the words in whose middle the connection is lost', async () => {
  const call = callWith({ answer: () => ({ text: 'Never.' }), fallback: (messages) => `I heard ${messages.at(-1)!.content}.` });
  const said = call.speaks('my name is', 'Ann Miller');
  await call.pass(900);
  call.realtime!.drop();
  await call.pass(said - call.now);
  await call.until(() => call.heardText.endsWith('Miller.'));
  expect(call.heardText).toBe('I heard my name is Ann Miller.');
  expect(call.realtime!.questions).toHaveLength(0);
});

it('goes on with the result of a tool in whose middle the connection is lost', async () => {
  const tool = aTool('find_price');
  const call = callWith(
    {
      answer: () => ({ calls: [{ name: 'find_price' }] }),
      fallback: (messages) => (messages.at(-1)!.role === 'tool' ? `It costs ${JSON.parse(messages.at(-1)!.content)}.` : 'What?'),
    },
    { tools: [tool.definition] },
  );
  await call.says('what does the hat cost');
  await call.until(() => tool.runs.length > 0);
  call.realtime!.drop();
  tool.gives('nine');
  await call.until(() => call.heardText.endsWith('nine.'));
  expect(call.heardText).toBe('It costs nine.');
  expect(tool.runs).toHaveLength(1);
});

it('understands servers that name their events as before', async () => {
  const call = callWith({ beta: true, answer: () => ({ text: 'Hello there.' }) });
  await call.says('hello');
  await call.until(() => call.heardText === 'Hello there.');
  expect(call.realtime!.fallbacks).toBe(0);
});
