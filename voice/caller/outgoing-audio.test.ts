import { expect, it, vi } from 'vitest';

import { CALLER_RATE } from './caller-rate.ts';
import { OutgoingAudio } from './outgoing-audio.ts';

it.each([CALLER_RATE, 16_000])(
  'hands over what is said in one piece, so that a busy process leaves no hole in it: from %d Hz',
  async (sampleRate) => {
    const audio = new OutgoingAudio();
    const handed = vi.spyOn(audio.source, 'captureFrame').mockResolvedValue();
    vi.spyOn(audio.source, 'waitForPlayout').mockResolvedValue();
    await audio.say({ samples: new Int16Array(3 * sampleRate).fill(1_000), sampleRate });
    expect(handed).toHaveBeenCalledOnce();
    expect(handed.mock.calls[0]![0].samplesPerChannel / CALLER_RATE).toBeCloseTo(3, 2);
    await audio.close();
  },
);
