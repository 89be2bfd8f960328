/** A conversation, as a caller hears it. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, describe, expect, it } from 'vitest';

import { openStage } from './stage.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';

afterAll(dispose);
const stage = suiteFixture(openStage);

describe('a conversation', () => {
  it('welcomes, hears, answers, and is written down while it goes on', async () => {
    const call = await stage.call({
      spec: { welcomeMessage: 'Good morning {{name}}.' },
      systemPrompt: 'You speak with {{name}}.',
      dynamicData: { name: 'Ada' },
    });
    call.provider.heard(() => 'what does it cost');
    call.provider.chat(() => 'It costs nine hundred.');
    await call.join();
    const welcomed = await call.caller.hears('Good morning Ada.');
    await call.becomes({ status: 'ongoing' });
    await call.caller.speak(1000);
    await call.caller.hears('It costs nine hundred.', { since: welcomed });
    await expect
      .poll(async () => (await call.messages()).map(({ role, content }) => [role, content]))
      .toEqual([
        ['agent', 'Good morning Ada.'],
        ['user', 'what does it cost'],
        ['agent', 'It costs nine hundred.'],
      ]);
    expect((await call.record()).status).toBe('ongoing');
    const [request] = call.provider.requests('chat');
    expect(request?.system).toContain('You speak with Ada.');
    expect(request?.system).toContain('English');
    await call.caller.leave();
    await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
    const [turn] = await call.turns();
    expect(turn).toMatchObject({
      eou: expect.any(Number),
      stt: expect.any(Number),
      llmTtft: expect.any(Number),
      ttsTtfb: expect.any(Number),
    });
    // The detector of the end of a turn decides after 300 ms at the earliest.
    expect(turn?.v2v).toBeGreaterThan(300);
  });

  it('takes an utterance as one, also where this process stands still while its caller speaks', async () => {
    const call = await stage.joined({ spec: { turnDetection: { endOfSpeechDelay: '3s' } } });
    call.provider.hear('once', 'twice');
    await call.becomes({ status: 'ongoing' });
    setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600), 300);
    await call.caller.speak(1_000);
    await call.caller.hears('I heard: once');
    expect(call.provider.requests('transcriptions')).toHaveLength(1);
  });
});
