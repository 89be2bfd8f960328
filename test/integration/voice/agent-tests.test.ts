/** Runs tests of agents in audio mode: real calls, with mocks in place of tools, that agree with the same tests in text. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, expect, it, onTestFinished } from 'vitest';

import type { TestResult } from '../../../agent-tests/result.ts';
import type { TestResultRecord } from '../../../store/index.ts';
import { startProviderServer, type ChatHandler, type ProviderServer } from '../../support/provider-server.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { syntheticSpeech } from '../../support/synthetic-speech.ts';
import { temporalAddress } from '../../support/temporal.ts';
import { bytesOf } from '../../support/tones.ts';
import { customTool, over, requestRun, startWorker, workerEnv, type TestSpecs } from '../agent-tests/runs-support.ts';
import { session } from '../store/support.ts';
import { openStage } from './stage.ts';

afterAll(dispose);
const stage = suiteFixture(openStage);

const SPEECH_MS = 1_200;
/** Spec of the agents: what their users say may arrive with holes, and a hole is not to be taken for its end. */
const agentSpec = { welcomeMessage: 'Good morning.', turnDetection: { endOfSpeechDelay: '1500ms' } };

/** Says the user's texts in a voice, and knows each again by its mark. */
async function providerFor(userTexts: readonly string[], chat: ChatHandler): Promise<ProviderServer> {
  const provider = await startProviderServer();
  onTestFinished(() => provider.close());
  provider.speech(({ input }) => {
    const mark = userTexts.indexOf(input);
    return mark < 0 ? { msPerCharacter: 15 } : { raw: bytesOf(syntheticSpeech({ sampleRate: 24_000, ms: SPEECH_MS, mark })) };
  });
  provider.heard(({ marks }) => marks.map((mark) => userTexts[mark]).join(' '));
  provider.chat(chat);
  return provider;
}

const hours = 'What are your opening hours?';
const order = 'Where is my order?';
const bye = 'Thanks, bye!';

/** Plays an agent that does what its user says. */
const receptionist: ChatHandler = ({ lastUser, toolResults }) => {
  if (toolResults.length > 0) return `Your order has ${String((JSON.parse(toolResults[0]?.content ?? '{}') as { state?: string }).state)}.`;
  // Sound that arrives with holes is heard in more pieces, each as the whole text.
  if (lastUser.startsWith(hours)) return 'We are open from nine to six.';
  if (lastUser.startsWith(order)) return { toolCalls: [{ name: 'look_up', arguments: { order_id: '42' } }] };
  if (lastUser.startsWith(bye)) return { text: 'Goodbye!', toolCalls: [{ name: 'end_call' }] };
  if (lastUser.startsWith('[pressed')) return `You pressed ${lastUser.slice('[pressed '.length, -1)}.`;
  return 'Pardon?';
};

const shipped = { name: 'look_up', type: 'Returns', when: { order_id: '42' }, returns: { state: 'shipped' } };

const cases: TestSpecs = {
  hours: {
    type: 'Conversation',
    conversation: [{ type: 'User', user: hours, expect: [{ type: 'Answer', answer: { contains: ['nine', 'six'], maxWords: 10 } }] }],
  },
  order: {
    tools: [shipped],
    type: 'Conversation',
    conversation: [
      {
        type: 'User',
        user: order,
        expect: [
          { type: 'Tool', tool: { name: 'look_up', times: 1, arguments: { order_id: '42' } } },
          { type: 'Answer', answer: { contains: ['has shipped'] } },
        ],
      },
      {
        type: 'User',
        user: bye,
        expect: [
          { type: 'Answer', answer: { contains: ['goodbye'] } },
          { type: 'Ends', ends: 'agent_ended_call' },
        ],
      },
    ],
    atEnd: [{ type: 'NeverCalled', neverCalled: 'send_digits' }],
  },
  closed: {
    type: 'Conversation',
    conversation: [{ type: 'User', user: hours, expect: [{ type: 'Answer', answer: { contains: ['closed'] } }] }],
  },
  unmocked: {
    type: 'Conversation',
    conversation: [{ type: 'User', user: order, expect: [{ type: 'Answer', answer: { contains: ['shipped'] } }] }],
  },
  broken: {
    tools: [{ name: 'look_up', type: 'Error', error: 'the shop is closed' }],
    type: 'Conversation',
    conversation: [{ type: 'User', user: order, expect: [{ type: 'Answer', answer: { contains: ['shipped'] } }] }],
  },
  keys: {
    type: 'Conversation',
    conversation: [{ type: 'Keys', keys: '42#', expect: [{ type: 'Answer', answer: { contains: ['You pressed 42'] } }] }],
  },
};

const inMode = (mode: 'text' | 'audio', tests: TestSpecs): TestSpecs =>
  Object.fromEntries(
    Object.entries(tests).map(([name, spec]) => [`${name}-${mode}`, { ...spec, mode: mode === 'text' ? 'Text' : 'Audio', timeout: '4m' }]),
  );

/** Returns what both modes have to agree on. */
function essence({ verdict, result }: TestResultRecord) {
  return {
    verdict,
    attempts: (result as TestResult).attempts.map(({ checks, transcript, finishReason }) => ({
      finishReason,
      checks: checks.map((check) => [check.path, check.verdict]),
      tools: transcript.flatMap(({ tool }) => (tool === undefined ? [] : [tool])),
      said: transcript.filter(({ role }) => role === 'agent').map(({ text }) => text),
    })),
  };
}

async function worker(): Promise<void> {
  await startWorker(
    workerEnv(String(stage.env['DATABASE_URL']), await temporalAddress(), {
      LIVEKIT_URL: stage.server.url,
      LIVEKIT_API_KEY: stage.server.apiKey,
      LIVEKIT_API_SECRET: stage.server.apiSecret,
      LIVEKIT_AGENT_NAME: stage.server.agentName,
      PARLEY_CALL_JOIN_SECONDS: '300',
      PARLEY_TEST_CALLS: '3',
    }),
  );
}

it('agrees with text mode on tools, verdicts and what was said, and leaves no trace among the calls of users', async () => {
  const provider = await providerFor([hours, order, bye], receptionist);
  await worker();
  const agent = await stage.agent({ spec: agentSpec, tools: [customTool('look_up')] }, provider);
  const run = await requestRun(stage.store, agent, { ...inMode('text', cases), ...inMode('audio', cases) }, stage.org);
  const { results } = await over(stage.store, run);
  const of = Object.fromEntries(results.map((result) => [result.testName, result]));
  const verdicts = Object.keys(cases).map((name) => [name, of[`${name}-text`]?.verdict, of[`${name}-audio`]?.verdict]);
  expect(verdicts, JSON.stringify(results.map((result) => [result.testName, result.message, essence(result)]))).toEqual([
    ['hours', 'passed', 'passed'],
    ['order', 'passed', 'passed'],
    ['closed', 'failed', 'failed'],
    ['unmocked', 'failed', 'failed'],
    ['broken', 'failed', 'failed'],
    ['keys', 'passed', 'passed'],
  ]);
  for (const name of Object.keys(cases)) expect(essence(of[`${name}-audio`]!), name).toEqual(essence(of[`${name}-text`]!));

  const { attempts } = of['order-audio']!.result as TestResult;
  const id = attempts[0]?.callId ?? '';
  const call = await stage.store.calls.calls.get({ org: stage.org, id });
  expect(call).toMatchObject({
    status: 'ended',
    finishReason: 'agent_ended_call',
    revision: agent.revision,
    metadata: { agent_test: 'order-audio' },
  });
  const { items } = await stage.store.calls.list({ org: stage.org, filter: {}, direction: 'ascending', pageSize: 100 });
  expect(items).toEqual([]);
  const db = await session(String(stage.env['DATABASE_URL']));
  const { rows } = await db.query<{ name: string }>('SELECT DISTINCT name FROM parley.events');
  expect(rows.map(({ name }) => name)).toEqual(['AgentTest.Completed']);
});
