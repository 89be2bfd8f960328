import { initializeLogger } from '@livekit/agents';
import { beforeAll, expect, it } from 'vitest';

import { agentKind } from '../../crds/agent.ts';
import { createLogger } from '../../platform/logging.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { AgentTurns } from './agent-turns.ts';
import { Conversation, type ConversationOptions } from './conversation.ts';
import { conversationSettingsOf } from './settings.ts';
import type { Entry } from './transcript.ts';

const silentModel: ConversationOptions['llm'] = {
  provider: 'p',
  model: 'm',
  answer() {
    throw new Error('nothing was asked');
  },
};

beforeAll(() => initializeLogger({ pretty: false, level: 'silent' }));

it('ends once all is said', async () => {
  const speech = { provider: 'openai' };
  const agent = agentKind.spec.parse({ llm: { model: 'm' }, speechToText: speech, textToSpeech: speech });
  const written: Entry[] = [];
  const ends: Parameters<ConversationOptions['onEnd']>[] = [];
  const conversation = new Conversation({
    sound: undefined,
    llm: silentModel,
    language: 'en-US',
    settings: conversationSettingsOf(agent),
    instructions: '',
    welcome: 'We are closed. Goodbye!',
    silenceReminder: undefined,
    tools: () => [],
    transfer: async () => ({ outcome: 'done' }),
    log: { add: (entries) => void written.push(...entries) },
    turns: new AgentTurns({ agent: { name: 'desk', knowledgeBase: null }, llm: { provider: 'openai', model: 'm' } }),
    clock: new FakeClock(),
    logger: createLogger({ role: 'test', level: 'silent' }),
    onEnd: (...end) => void ends.push(end),
  });
  await conversation.start();
  conversation.begin();
  conversation.end();
  expect([ends.map(([reason]) => reason), conversation.busy]).toEqual([['agent_ended_call'], true]);
  await ends[0]?.[1]?.();
  expect([written.map(({ message }) => message?.content), conversation.busy]).toEqual([['We are closed. Goodbye!'], false]);
  await conversation.close();
});
