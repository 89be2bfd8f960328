import type { AudioFrame } from '@livekit/rtc-node';
import { expect, it } from 'vitest';

import { settle } from '../../test/support/fake-clock.ts';
import { repeat } from './ambience.ts';

/** Builds a source that takes a frame when the test says so. */
function aSource() {
  const taken: AudioFrame[] = [];
  let waiting: (() => void) | undefined;
  const take = async (): Promise<void> => {
    waiting?.();
    waiting = undefined;
    await settle();
  };
  return {
    taken,
    take,
    captureFrame: (frame: AudioFrame): Promise<void> => {
      expect(waiting).toBeUndefined();
      taken.push(frame);
      return new Promise((resolve) => (waiting = resolve));
    },
    clearQueue: () => void take(),
  };
}

it('goes round and round, a frame when there is room for it, until it is stopped', async () => {
  const frames = Array.from({ length: 3 }, (_, index) => ({ index }) as unknown as AudioFrame);
  const source = aSource();
  const stop = new AbortController();
  const playing = repeat(frames, source, stop.signal);
  for (let count = 1; count <= 8; count += 1) {
    expect(source.taken).toEqual(Array.from({ length: count }, (_, index) => frames[index % 3]));
    await source.take();
  }
  stop.abort();
  await playing;
  expect(source.taken).toHaveLength(9);
});
