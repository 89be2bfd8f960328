/** What is heard of the microphone of `parley call`. */
import { AudioStream } from '@livekit/rtc-node';
import { expect, it } from 'vitest';

import { CALLER_RATE } from '../../../voice/caller/caller-rate.ts';
import { eventually } from '../../support/eventually.ts';
import { loudness, tone } from '../../support/tones.ts';
import { joined } from './joined-call.ts';

it('speaks without a hole while its process is busy, and is silent before and after', async () => {
  const { agent, call, audio } = await joined('busy');
  await agent.publishVoice();
  await call.audible;
  await eventually(() => expect(agent.microphone()?.track).toBeDefined());
  const windows: boolean[] = [];
  const hears = async (): Promise<void> => {
    const sound = new AudioStream(agent.microphone()!.track!, { sampleRate: CALLER_RATE, numChannels: 1, frameSizeMs: 100 });
    for await (const { data } of sound) windows.push(loudness(data) > 0.02);
  };
  void hears();
  await eventually(() => expect(windows.length).toBeGreaterThan(3));
  expect(windows).not.toContain(true);

  const said = audio.say({ samples: tone({ frequency: 440, seconds: 3, sampleRate: 24_000 }), sampleRate: 24_000 });
  await eventually(() => expect(windows).toContain(true));
  for (const until = performance.now() + 1_500; performance.now() < until;);
  await said;
  await eventually(() => expect(windows.slice(-3)).toEqual([false, false, false]));
  const heard = windows.slice(windows.indexOf(true), windows.lastIndexOf(true) + 1);
  // What is lost on the way is made up for, and more softly.
  expect(heard.filter((loud) => !loud).length).toBeLessThan(5);
  expect(heard.length).toBeGreaterThan(25);
});
