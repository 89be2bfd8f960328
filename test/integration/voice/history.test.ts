/** Conversations that outgrow the context window of their model go on, and know what was said at the beginning: over HTTP, in text. */
import { describe, expect, it, onTestFinished } from 'vitest';

import { systemClock } from '../../../platform/clock.ts';
import { createLogger } from '../../../platform/logging.ts';
import { AgentTurns } from '../../../voice/conversation/agent-turns.ts';
import { Conversation } from '../../../voice/conversation/conversation.ts';
import type { Entry } from '../../../voice/conversation/entry.ts';
import { textVoice } from '../../../voice/conversation/text-voice.ts';
import { createProviders, type CreateProvidersOptions } from '../../../voice/providers/index.ts';
import { openEgress } from '../../support/open-egress.ts';
import { startProviderServer, type ProviderServer, type ReceivedChat } from '../../support/provider-server.ts';

const WINDOW = 1_200;
const TURNS = 10;

/** Returns the words of a turn, of about 120 tokens; the first has the fact that the last asks for. */
const words = (turn: number): string => {
  if (turn === TURNS - 1) return 'Which bicycle did I ask for?';
  const wish = turn === 0 ? 'My name is Ada and I want the green bicycle.' : 'I wonder about the other things that you sell.';
  return `${wish} Number ${turn}. ${'There is a lot to say about saddles, bells, lights and baskets for it. '.repeat(6)}`.trim();
};

const asksForSummary = ({ system }: ReceivedChat): boolean => system.startsWith('You are given the beginning of a telephone conversation');
const colourIn = ({ messages }: ReceivedChat): string | undefined =>
  /the (\w+) bicycle/.exec(messages.map(({ content }) => content).join('\n'))?.[1];

interface Talk {
  readonly provider: ProviderServer;
  readonly said: readonly string[];
  readonly lines: readonly string[];
}

/** Holds a whole conversation; each answer is there before the user goes on. */
async function talk(summary: (request: ReceivedChat) => string | { readonly status: number }): Promise<Talk> {
  const provider = await startProviderServer();
  const egress = openEgress({ allowCidrs: ['127.0.0.0/8'] });
  const lines: string[] = [];
  const logger = createLogger({ role: 'test', level: 'info', destination: { write: (line) => void lines.push(line) } });
  const part = { provider: 'openai_compatible', baseURL: provider.url, model: 'm' };
  const providers = await createProviders({
    org: 'acme',
    agent: {
      language: 'en-US',
      llm: { temperature: '0', contextTokens: WINDOW, ...part },
      speechToText: part,
      textToSpeech: { voice: {}, temperature: '0.5', ...part },
    } as unknown as CreateProvidersOptions['agent'],
    keys: { read: async () => 'a-key' },
    egress,
    defaults: [],
    logger,
    env: {},
    clock: systemClock,
  });
  const entries: Entry[] = [];
  const conversation = new Conversation({
    agent: 'desk',
    model: providers.llm,
    voice: textVoice,
    language: 'en-US',
    instructions: 'You sell bicycles.',
    welcome: undefined,
    interruptions: { enabled: true, minSpeechMs: 500, minWords: 0 },
    maxDurationMs: 600_000,
    tools: () => [],
    data: {},
    transfer: async () => ({ outcome: 'done' }),
    log: { add: (added) => void entries.push(...added) },
    turns: new AgentTurns({ agent: { name: 'desk', knowledgeBase: null }, llm: { provider: 'openai', model: 'm' } }),
    clock: systemClock,
    logger,
    onEnd: (reason) => expect.fail(reason),
  });
  onTestFinished(async () => {
    await conversation.close();
    await providers.close();
    egress.close();
    await provider.close();
  });
  let turn = 0;
  await provider.limitContext(WINDOW);
  provider.chat((request) => {
    if (asksForSummary(request)) return summary(request);
    return request.lastUser.startsWith('Which') ? `The ${colourIn(request) ?? 'forgotten'} one.` : `Noted ${turn}.`;
  });
  conversation.begin();
  for (; turn < TURNS; turn += 1) {
    conversation.written(words(turn));
    await conversation.quiet();
  }
  const messages = entries.flatMap(({ message }) => message ?? []);
  // The transcript has all of it, whatever the model gets.
  expect(messages.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual(
    Array.from({ length: TURNS }, (_, i) => words(i)),
  );
  return { provider, said: messages.map(({ content }) => content), lines };
}

const turnsOf = ({ provider }: Talk): readonly ReceivedChat[] => provider.requests('chat').filter((request) => !asksForSummary(request));

describe('a conversation that outgrows the window', () => {
  it('goes on with a summary of its beginning, and knows what was said there', async () => {
    const call = await talk((request) => `The user is Ada and wants the ${colourIn(request) ?? 'forgotten'} bicycle.`);
    expect(call.said.at(-1)).toBe('The green one.');
    for (const { tokens } of call.provider.requests('chat')) expect(tokens).toBeLessThan(WINDOW);
    const requests = turnsOf(call);
    const last = requests.at(-1)!;
    expect(last.system).toContain('You sell bicycles.');
    expect(last.system).toContain('The user is Ada and wants the green bicycle.');
    expect(last.messages.some(({ content }) => content === words(0))).toBe(false);
    expect(last.messages.at(-3)?.content).toBe(words(TURNS - 2));
    // The second and later summaries are made of the one before.
    const summaries = call.provider.requests('chat').filter(asksForSummary);
    expect(summaries.length).toBeGreaterThan(1);
    for (const later of summaries.slice(1)) expect(later.lastUser).toContain('"earlier_summary":"The user is Ada');
  });

  it('goes on without its beginning where there is no summary, and says so to the model', async () => {
    const call = await talk(() => ({ status: 500 }));
    expect(call.said.at(-1)).toBe('The forgotten one.');
    for (const { tokens } of turnsOf(call)) expect(tokens).toBeLessThan(WINDOW);
    expect(turnsOf(call).at(-1)?.system).toContain('The oldest part of the conversation is left out');
    expect(call.lines).toContainEqual(expect.stringMatching(/failed to summarise.*500|500.*failed to summarise/u));
  });
});
