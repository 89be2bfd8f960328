/** Calls that outgrow the context window of their model go on, and know what was said at the beginning. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, describe, expect, it } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import type { ReceivedChat } from '../../support/provider-server.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { openStage, type StagedCall } from './stage.ts';

const WINDOW = 1_200;
const TURNS = 10;

afterAll(dispose);
const stage = suiteFixture(openStage);

/** About 120 tokens; the first has the fact that the last asks for. */
const words = (turn: number): string => {
  if (turn === TURNS - 1) return 'Which bicycle did I ask for?';
  const wish = turn === 0 ? 'My name is Ada and I want the green bicycle.' : 'I wonder about the other things that you sell.';
  return `${wish} Number ${turn}. ${'There is a lot to say about saddles, bells, lights and baskets for it. '.repeat(6)}`.trim();
};

const asksForSummary = ({ system }: ReceivedChat): boolean => system.startsWith('You are given the beginning of a telephone conversation');
const colourIn = ({ messages }: ReceivedChat): string | undefined =>
  /the (\w+) bicycle/.exec(messages.map(({ content }) => content).join('\n'))?.[1];

/** A whole call; each answer is heard before the user goes on. */
async function talk(summary: (request: ReceivedChat) => string | { readonly status: number }): Promise<StagedCall> {
  const call = await stage.call({ systemPrompt: 'You sell bicycles.', spec: { llm: { contextTokens: WINDOW } } });
  const { provider, caller } = call;
  let turn = 0;
  await provider.limitContext(WINDOW);
  provider.speech(() => ({ msPerCharacter: 20 }));
  provider.chat((request) => {
    if (asksForSummary(request)) return summary(request);
    return request.lastUser.startsWith('Which') ? `The ${colourIn(request) ?? 'forgotten'} one.` : `Noted ${turn}.`;
  });
  await call.join();
  await call.becomes({ status: 'ongoing' });
  for (; turn < TURNS; turn += 1) {
    await call.says(words(turn));
    await eventually(async () => {
      const said = await call.messages();
      expect(said, JSON.stringify([turn, said, call.lines()])).toHaveLength(2 * turn + 2);
    });
  }
  await caller.leave();
  await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
  // Whatever the model gets, the transcript has all of it.
  const said = await call.messages();
  expect(said.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual(
    Array.from({ length: TURNS }, (_, i) => words(i)),
  );
  return call;
}

const turnsOf = ({ provider }: StagedCall): readonly ReceivedChat[] =>
  provider.requests('chat').filter((request) => !asksForSummary(request));
const lastAnswer = async (call: StagedCall): Promise<string | undefined> => (await call.messages()).at(-1)?.content;

describe.concurrent('a conversation that outgrows the window', () => {
  it('goes on with a summary of its beginning, and knows what was said there', async () => {
    const call = await talk((request) => `The user is Ada and wants the ${colourIn(request) ?? 'forgotten'} bicycle.`);
    expect(await lastAnswer(call)).toBe('The green one.');
    for (const { tokens } of call.provider.requests('chat')) expect(tokens).toBeLessThan(WINDOW);
    const requests = turnsOf(call);
    const last = requests.at(-1)!;
    expect(last.system).toContain('You sell bicycles.');
    expect(last.system).toContain('The user is Ada and wants the green bicycle.');
    expect(last.messages.some(({ content }) => content === words(0))).toBe(false);
    expect(last.messages.at(-3)?.content).toBe(words(TURNS - 2));
    // The second and later ones are made of the one before.
    const summaries = call.provider.requests('chat').filter(asksForSummary);
    expect(summaries.length).toBeGreaterThan(1);
    for (const later of summaries.slice(1)) expect(later.lastUser).toContain('"earlier_summary":"The user is Ada');
  });

  it('goes on without its beginning where there is no summary, and says so to the model', async () => {
    const call = await talk(() => ({ status: 500 }));
    expect(await lastAnswer(call)).toBe('The forgotten one.');
    for (const { tokens } of turnsOf(call)) expect(tokens).toBeLessThan(WINDOW);
    expect(turnsOf(call).at(-1)?.system).toContain('The oldest part of the conversation is left out');
    expect(call.lines()).toContainEqual(expect.objectContaining({ msg: expect.stringContaining('failed to summarise'), status: 500 }));
  });
});
