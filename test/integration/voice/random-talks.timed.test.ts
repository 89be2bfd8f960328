/**
 * Talks in which anything may happen: users who interrupt and pause, noise, providers that fail, answer late or break off, tools. Whatever it is, the
 * transcript has what the user said, and of the answers what was heard.
 * A search and no gate, for on a machine that is too busy speech is cut and dropped as it comes:
 * `PARLEY_TEST_TALKS=40 PARLEY_TEST_SEED=100 vitest run --project timed test/integration/voice/random-talks.timed.test.ts`.
 */
import { setTimeout as delay } from 'node:timers/promises';

import { dispose } from '@livekit/rtc-node';
import { afterAll, describe, expect, it } from 'vitest';

import type { RevisionTool } from '../../../crds/agent-revision.ts';
import { mulberry } from '../../../platform/mulberry.ts';
import { eventually } from '../../support/eventually.ts';
import { sendJson, Servers, startEndpoint } from '../../support/http-servers.ts';
import {
  startProviderServer,
  type ChatScript,
  type HeardRequest,
  type ProviderServer,
  type ReceivedChat,
  type SpeechScript,
} from '../../support/provider-server.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { MARKS } from '../../support/synthetic-speech.ts';
import { openStreamingStage } from './streaming-stage.ts';

const { PARLEY_TEST_TALKS, PARLEY_TEST_SEED = '1' } = process.env;
const seeds = Array.from({ length: Number(PARLEY_TEST_TALKS ?? 1) }, (_, i) => Number(PARLEY_TEST_SEED) + i);
const TURNS = 7;
const MOMENT = 'One moment, please.';
const WELCOME = 'Good morning, this is the practice of Doctor Brown.';

const servers = new Servers();
const stage = suiteFixture(openStreamingStage);
afterAll(async () => {
  await servers.stop();
  await dispose();
});

const lookUp = (url: string): RevisionTool => ({
  name: 'look-up',
  type: 'custom',
  functionName: 'look_up',
  spec: {
    custom: {
      function: { name: 'look_up', description: 'Looks it up.', parameters: { type: 'object', properties: {} } },
      http: { method: 'GET', timeout: '5s', url },
    },
    messages: {},
  },
});

/** The same for the same question, so that one that is asked again or continued is known. */
const answerTo = (question: string): string => {
  const last = question.split(' ').at(-1) ?? '';
  return `You asked me for ${last} just now. I have looked for it everywhere today. There is nothing more to say of ${last}.`;
};

/** OpenAI refuses a call without its result, and a result without its call. */
function unpaired({ messages }: ReceivedChat): readonly string[] {
  const wrong: string[] = [];
  for (const [i, { role, tool_calls: calls = [], tool_call_id: of, content }] of messages.entries()) {
    if (calls.length > 0) {
      const results = new Set(messages.slice(i + 1, i + 1 + calls.length).map(({ tool_call_id: id }) => id));
      if (calls.some(({ id }) => !results.has(id))) wrong.push(`${i}: a call without its result`);
    } else if (role === 'tool') {
      const callAt = messages.slice(0, i).findLastIndex(({ tool_calls: made = [] }) => made.some(({ id }) => id === of));
      if (callAt < 0) wrong.push(`${i}: a result without its call`);
    } else if (content.trim() === '') wrong.push(`${i}: an empty message of ${role}`);
  }
  return wrong;
}

/** Each call has faults of its own. */
function script(
  provider: ProviderServer,
  { random, faults, said, log }: { random: () => number; faults: number; said: () => readonly string[]; log: (event: string) => void },
): void {
  const fails = (): boolean => random() < faults;
  const pick = <T>(of: readonly T[]): T => of[Math.floor(random() * of.length)]!;
  provider.chat((request): ChatScript => {
    const { lastUser, toolResults, messages } = request;
    // The instruction with which another model goes on comes last: the question is the one before.
    const continued =
      messages.at(-2)?.role === 'assistant' && messages.at(-1)?.role === 'user' && !said().some((one) => lastUser.includes(one));
    const question = continued
      ? (messages.findLast(({ role, content }) => role === 'user' && content !== lastUser)?.content ?? '')
      : lastUser;
    const text = answerTo(question);
    const tokens = text.split(/(?<= )/);
    const choice = random();
    if (fails()) {
      const fault = pick<ChatScript>([
        { status: 500 },
        { drop: true },
        { text, breakAfter: 1 + Math.floor(random() * (tokens.length - 1)) },
      ]);
      log(`chat "${lastUser}" fails: ${JSON.stringify({ ...fault, text: undefined })}`);
      return fault;
    }
    if (choice < 0.25 && !continued && toolResults.length === 0 && request.toolNames.includes('look_up')) {
      log(`chat "${lastUser}" calls a tool`);
      return {
        ...(random() < 0.5 && { text: MOMENT }),
        toolCalls: [{ name: random() < 0.85 ? 'look_up' : 'unknown_tool' }],
      };
    }
    log(`chat "${lastUser}" is answered`);
    return { text, tokenDelayMs: pick([0, 0, 20, 60]), delayMs: pick([0, 0, 100, 400, 1_500]) };
  });
  provider.speech(({ input }): SpeechScript => {
    if (!fails()) return { msPerCharacter: 50, pace: pick([1.5, 3, 10]) };
    const fault = pick<SpeechScript>([
      { status: 500 },
      { drop: true },
      { breakAfterMs: 100 + Math.floor(random() * 1_500), msPerCharacter: 50 },
    ]);
    log(`speech "${input}" fails: ${JSON.stringify(fault)}`);
    return fault;
  });
}

describe.skipIf(PARLEY_TEST_TALKS === undefined).concurrent('a talk in which anything may happen', () => {
  it.each(seeds)('goes on, and no word is lost: seed %i', { timeout: 1_200_000 }, async (seed) => {
    const random = mulberry(seed);
    const began = performance.now();
    const events: string[] = [];
    const log = (event: string): void => void events.push(`${((performance.now() - began) / 1_000).toFixed(2)} ${event}`);
    const between = (least: number, most: number): number => Math.round(least + random() * (most - least));
    const streams = random() < 0.5;
    const tool = await startEndpoint(servers, (response) => {
      const choice = random();
      log(`the tool answers, ${choice}`);
      setTimeout(() => {
        if (choice < 0.2) response.writeHead(500).end();
        else if (choice < 0.3) response.destroy();
        else sendJson(response, { found: true });
      }, random() * 1_500);
    });
    const spare = await startProviderServer();
    const at = (name: string) => ({ provider: 'openai_compatible', baseURL: spare.url, model: `other-${name}` });
    const call = await stage.call({
      tools: [lookUp(tool.url)],
      spec: {
        ...(random() < 0.7 && { welcomeMessage: WELCOME }),
        llm: { fallbacks: [at('model')] },
        // A stream's words are scripted before they are said: another provider would not know them.
        speechToText: streams ? stage.streamingSpeechToText : { fallbacks: [at('ears')] },
        textToSpeech: { fallbacks: [at('voice')] },
        interruptions: { minWords: random() < 0.3 ? 2 : 0 },
        turnDetection: { endOfSpeechDelay: random() < 0.5 ? '300ms' : '800ms' },
      },
    });
    const { provider, caller } = call;
    /** Each part of what the user says has its word, a noise has none. */
    const parts: string[] = [];
    const said = (): readonly string[] => parts.filter((word) => word !== '');
    const heard = ({ marks, seconds }: HeardRequest): string => {
      // A mark comes again after five parts.
      const words = marks.map((mark) => parts.findLast((_, part) => part % MARKS === mark) ?? '');
      log(`hears ${seconds.toFixed(1)} s: "${words.join(' ')}"`);
      return words.filter((word) => word !== '').join(' ');
    };
    script(provider, { random, faults: 0.15, said, log });
    script(spare, { random, faults: 0, said, log });
    spare.heard(heard);
    provider.heard((request) =>
      random() < 0.1 ? { status: 500 } : { text: heard(request), delayMs: random() < 0.15 ? 1_200 : random() * 500 },
    );
    const lastIsAgent = async (): Promise<void> => {
      const messages = await call.messages();
      const { role, content } = messages.at(-1) ?? {};
      expect([role, content?.includes(said().at(-1)!.split(' ')[1]!)], JSON.stringify({ messages, parts, events })).toEqual([
        'agent',
        true,
      ]);
    };
    await call.join();
    await call.becomes({ status: 'ongoing' });
    for (let turn = 0; turn < TURNS; turn += 1) {
      const last = turn === TURNS - 1;
      const noise = !last && random() < 0.12;
      const pause = random() < 0.25 ? { pauseMs: between(200, 900), thenMs: [between(700, 1_200)] } : { pauseMs: 0, thenMs: [] };
      const ms = between(600, 1_800);
      const from = parts.length;
      for (const _ of [ms, ...pause.thenMs]) parts.push(noise ? '' : `about number${parts.length}`);
      const words = parts.slice(from).join(' ').trim();
      log(`says "${words}" in ${ms} ms ${JSON.stringify(pause)}`);
      if (streams) provider.streamed.hear({ text: words, msPerWord: 120, finalDelayMs: random() * 400 });
      const since = performance.now();
      await caller.speak(ms, { ...pause, mark: from % MARKS });
      if (noise) {
        await delay(1_000);
        continue;
      }
      const choice = random();
      if (last || choice < 0.5) await eventually(lastIsAgent, 200);
      else if (choice < 0.8) {
        await eventually(() => expect(caller.heard.some((one) => one.at > since + ms && one.frequency !== undefined)).toBe(true), 20);
        await delay(random() * 3_000);
      } else await delay(random() * 2_000);
    }
    // What is being said is said.
    await eventually(() => expect(caller.heard.slice(-12).every(({ frequency }) => frequency === undefined)).toBe(true), 100);
    await caller.leave();
    await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
    const messages = await call.messages();
    const why = JSON.stringify(
      { messages: messages.map(({ role, content, interrupted }) => [role, content, interrupted]), said: said(), events },
      null,
      1,
    );
    const users = messages.flatMap(({ role, content }) => (role === 'user' ? content : [])).join(' ');
    // Sound that arrives with holes is heard in more pieces.
    expect(users.replaceAll(/(about number\d+)( \1)+/g, '$1'), why).toBe(said().join(' '));
    const whole = [WELCOME, MOMENT, ...said().map(answerTo)].flatMap((text) => [text, `${MOMENT} ${text}`]);
    for (const { content, interrupted } of messages.filter(({ role }) => role === 'agent')) {
      const fits = (text: string): boolean => (interrupted ? text.startsWith(content) : text === content);
      expect(whole.some(fits), `${content} ${why}`).toBe(true);
    }
    for (const chat of [...provider.requests('chat'), ...spare.requests('chat')])
      expect(unpaired(chat), `${JSON.stringify(chat.messages)} ${why}`).toEqual([]);
    expect(JSON.stringify(call.lines()), why).not.toContain('"level":"error"');
    await spare.close();
  });
});
