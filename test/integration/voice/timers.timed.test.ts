/** How long it is silent before a call ends, or is asked about. That calls end, and for which reason, is in `timers.test.ts`. */
import { setTimeout as delay } from 'node:timers/promises';

import { dispose } from '@livekit/rtc-node';
import { afterAll, describe, expect, it } from 'vitest';

import type { RevisionTool } from '../../../crds/agent-revision.ts';
import { eventually } from '../../support/eventually.ts';
import { sendJson, Servers, startEndpoint } from '../../support/http-servers.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { openStage } from './stage.ts';

afterAll(dispose);
const stage = suiteFixture(openStage);
const servers = new Servers();
afterAll(() => servers.stop());

/** The silence is all that ends these calls, and nothing is said into it. */
const silent = { endAfterSilence: '20s', silenceReminder: { enabled: false } };

const lookUp = (url: string): RevisionTool => ({
  name: 'look_up',
  type: 'custom',
  functionName: 'look_up',
  spec: {
    messages: {},
    custom: {
      function: { name: 'look_up', description: 'Looks up a price.', parameters: { type: 'object', properties: {} } },
      http: { url, method: 'GET', timeout: '60s' },
    },
  },
});

describe.concurrent('time', () => {
  it('goes on when the user answers, and asks again in the next silence', async () => {
    const silenceReminder = { message: 'Still there, {{name}}?' };
    const call = await stage.joined({ spec: { call: { endAfterSilence: '20s', silenceReminder } }, dynamicData: { name: 'Ada' } });
    await call.caller.hears('Still there, Ada?');
    await eventually(async () => expect(await call.messages()).toHaveLength(1));
    await call.caller.speak();
    const answered = await call.caller.hears('I heard: hello');
    await call.caller.hears('Still there, Ada?', { since: answered });
    await call.becomes({ finishReason: 'inactivity_timeout' });
    const said = await call.messages();
    expect(said.map(({ content }) => content)).toEqual(['Still there, Ada?', 'hello', 'I heard: hello', 'Still there, Ada?']);
    expect(said[3]!.spokenAt.getTime() - said[2]!.spokenAt.getTime()).toBeGreaterThan(9_500);
    // The model knows what the user has answered to.
    expect(JSON.stringify(call.provider.requests('chat')[0]?.messages)).toContain('Still there, Ada?');
  });

  it('counts silence again from its beginning whenever somebody speaks', async () => {
    const call = await stage.joined({ spec: { call: silent } });
    const { startedAt } = await call.becomes({ status: 'ongoing' });
    await new Promise((resolve) => setTimeout(resolve, 7_000));
    // A word that isn't understood is nevertheless somebody who is there.
    call.provider.heard(() => '');
    await call.caller.speak(600);
    const over = await call.becomes({ finishReason: 'inactivity_timeout' });
    expect(over.endedAt!.getTime() - startedAt!.getTime()).toBeGreaterThan(26_500);
    // Where nothing is asked the call ends without a word.
    expect(call.caller.tones()).toEqual([]);
  });

  it('lets no silence pass while the agent speaks or the model thinks', async () => {
    const call = await stage.joined({ spec: { call: silent } });
    const { startedAt } = await call.becomes({ status: 'ongoing' });
    // Six seconds of thinking, and eight of speech: silence begins behind both.
    call.provider.chat(() => ({ text: 'Well.', delayMs: 6_000 }));
    call.provider.speech(() => ({ msPerCharacter: 1_600 }));
    await call.caller.speak(800);
    const over = await call.becomes({ finishReason: 'inactivity_timeout' });
    expect(call.caller.heardFor('Well.')).toBeGreaterThan(7_000);
    expect(over.endedAt!.getTime() - startedAt!.getTime()).toBeGreaterThan(33_000);
  });

  it('lets no silence pass while a tool runs', async () => {
    // Longer than a silent user is waited for, and asked.
    const endpoint = await startEndpoint(servers, (response) => void delay(21_000).then(() => sendJson(response, { price: 900 })));
    const call = await stage.joined({ spec: { call: silent }, tools: [lookUp(endpoint.url)] });
    call.provider.chat(({ toolResults }) => (toolResults.length > 0 ? 'It costs nine hundred.' : { toolCalls: [{ name: 'look_up' }] }));
    await call.becomes({ status: 'ongoing' });
    await call.caller.speak(800);
    await call.caller.hears('It costs nine hundred.');
    expect((await call.record()).status).toBe('ongoing');
  });

  it('lets no silence pass before the welcome message is heard', async () => {
    const call = await stage.call({ spec: { welcomeMessage: 'Hello.', call: { endAfterSilence: '10s' } } });
    call.provider.speech(({ input }) => ({ delayMs: input === 'Hello.' ? 6_500 : 0 }));
    await call.join();
    await call.becomes({ status: 'ended', finishReason: 'inactivity_timeout' });
    const [welcomed, asked] = (await call.messages()).map(({ spokenAt }) => spokenAt.getTime());
    expect(asked! - welcomed!).toBeGreaterThan(4_500);
  });

  it('speaks to a user without a microphone, and waits for it as long as it takes to allow one', async () => {
    const call = await stage.call({ spec: { welcomeMessage: 'Can you hear me?', call: { endAfterSilence: '600s' } } });
    await call.join({ microphone: false });
    await call.caller.hears('Can you hear me?');
    await call.becomes({ status: 'ongoing' });
    const over = await call.becomes({ status: 'error', finishReason: 'no_audio_input' });
    expect(over.endedAt!.getTime() - over.createdAt.getTime()).toBeGreaterThan(29_000);
  });
});
