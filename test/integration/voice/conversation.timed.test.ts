/** What of a conversation depends on when sound is heard. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, describe, expect, it } from 'vitest';

import { openStage } from './stage.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';

afterAll(dispose);
const stage = suiteFixture(openStage);

describe('a conversation', () => {
  it('has its answer measured from voice to voice', async () => {
    const call = await stage.joined();
    await call.becomes({ status: 'ongoing' });
    await call.caller.speak(1_000);
    await call.caller.hears('I heard: hello');
    await call.caller.leave();
    await call.becomes({ status: 'ended', finishReason: 'user_ended_call' });
    // The detector of the end of a turn decides after 300 ms at the earliest.
    expect((await call.turns())[0]?.v2v).toBeGreaterThan(300);
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
