/** Settings that change how long the agent waits, and what is heard behind it. Silence, durations and interruptions have files of their own. */
import { dispose } from '@livekit/rtc-node';
import { afterAll, describe, expect, it } from 'vitest';

import type { CallTurn } from '../../../store/index.ts';
import { eventually } from '../../support/eventually.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { openStage, type StagedCall } from './stage.ts';

afterAll(dispose);
const stage = suiteFixture(openStage);

const backgroundTrack = 'background_audio';

async function begun(spec: Readonly<Record<string, unknown>>): Promise<StagedCall> {
  const call = await stage.joined({ spec });
  call.provider.chat(() => 'So it is.');
  await call.becomes({ status: 'ongoing' });
  return call;
}

/** Asks something, waits for the answer, and leaves. */
async function turnOf(call: StagedCall): Promise<CallTurn> {
  await call.caller.speak(800);
  await call.caller.hears('So it is.');
  const turn = await eventually(async () => (await call.turns())[0] ?? Promise.reject(new Error('no turn was written')));
  await call.caller.leave();
  await call.becomes({ finishReason: 'user_ended_call' });
  return turn;
}

describe.concurrent('a setting', () => {
  it('turnDetection: how long the agent waits for more', async () => {
    const [soon, late, heard] = await Promise.all(
      [
        { endOfSpeechDelay: '200ms' },
        { mode: 'silence', endOfSpeechDelay: '15s' },
        // As long as the detector doubts, at least three fifths of the delay.
        { mode: 'model', endOfSpeechDelay: '15s' },
      ].map((turnDetection) => begun({ turnDetection })),
    );
    const [, turn, heardTurn] = await Promise.all([turnOf(soon!), turnOf(late!), turnOf(heard!)]);
    expect(turn.eou).toBeGreaterThan(14_900);
    expect(turn.v2v).toBeGreaterThan(14_900);
    expect(heardTurn.eou).toBeGreaterThan(8_900);
    // All users finished at once: one is answered long before the others. The model is asked for all at once, in advance.
    const [answered, ...answeredLate] = [soon!, late!, heard!].map(({ provider }) => provider.requests('speech')[0]!.at);
    expect(answered).toBeLessThan(Math.min(...answeredLate));
  });

  it('a pause shorter than the delay ends no sentence', async () => {
    const call = await stage.joined({ spec: { turnDetection: { mode: 'silence', endOfSpeechDelay: '3s' } } });
    call.provider.heard(({ marks }) => marks.map((mark) => ['I would like', 'two tickets'][mark]).join(' '));
    await call.becomes({ status: 'ongoing' });
    await call.caller.speak(700, { pauseMs: 1_200, thenMs: [700] });
    const said = await eventually(async () => {
      const [first] = await call.messages();
      return first?.content ?? Promise.reject(new Error('nothing was written'));
    });
    // Sound that arrives with holes is heard in more pieces. They are one sentence all the same.
    expect(said).toMatch(/^I would like( I would like)*( two tickets)+$/);
  });

  it('ambientSound: heard behind the agent, as loud as is asked for', async () => {
    const [loud, soft, none] = await Promise.all([
      stage.joined({ spec: { ambientSound: { source: 'beach', volume: 2 } } }),
      stage.joined({ spec: { ambientSound: { source: 'beach', volume: 0.5 } } }),
      stage.joined({ spec: { ambientSound: { source: 'none' } } }),
    ]);
    const loudness = (call: StagedCall): number => call.caller.loudnessOf(backgroundTrack, 0);
    // A whole round of the sound: the waves come and go.
    await eventually(() => {
      for (const call of [loud, soft])
        expect(call.caller.heard.filter(({ track }) => track === backgroundTrack).length).toBeGreaterThan(130);
    });
    expect(loudness(loud)).toBeGreaterThan(2 * loudness(soft));
    expect(loudness(soft)).toBeGreaterThan(0.001);
    expect(loudness(none)).toBe(0);
  });
});
