/** Holds a conversation, as a caller hears it: on any machine, however many holes it leaves in the sound. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, describe, expect, it } from 'vitest';

import { openStage } from './stage.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';

const question = 'what does it cost';
const answer = 'It costs nine hundred.';

afterAll(dispose);
const stage = suiteFixture(openStage);

describe('a conversation', () => {
  it('welcomes, hears, answers, and is written down while it goes on', async () => {
    const call = await stage.call({
      spec: {
        welcomeMessage: 'Good morning {{name}}.',
        // Words behind a hole still belong to the same turn, and what comes later has no words and stops no answer.
        turnDetection: { endOfSpeechDelay: '3s' },
        interruptions: { minWords: 1 },
      },
      systemPrompt: 'You speak with {{name}}.',
      dynamicData: { name: 'Ada' },
    });
    call.provider.chat(() => answer);
    // The speech is long enough to be heard between holes.
    call.provider.speech(() => ({ msPerCharacter: 150 }));
    await call.join();
    const welcomed = await call.caller.hears('Good morning Ada.');
    await call.becomes({ status: 'ongoing' });
    await call.says(question, 2_000);
    await call.caller.hears(answer, { since: welcomed });
    await expect
      .poll(async () => (await call.messages()).map(({ role, content }) => [role, content]))
      .toEqual(
        expect.arrayContaining([
          ['agent', 'Good morning Ada.'],
          ['user', question],
          ['agent', answer],
        ]),
      );
    expect((await call.record()).status).toBe('ongoing');
    const [request] = call.provider.requests('chat');
    expect(request?.system).toContain('You speak with Ada.');
    expect(request?.system).toContain('English');
    expect(request?.lastUser).toBe(question);
    await call.caller.leave();
    await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
    const measured = { eou: expect.any(Number), stt: expect.any(Number), llmTtft: expect.any(Number), ttsTtfb: expect.any(Number) };
    expect(await call.turns()).toContainEqual(expect.objectContaining(measured));
    // The end-of-turn detector refuses what it can't hear at once.
    expect(JSON.stringify(call.lines())).not.toContain('pcm too long');
  });
});
