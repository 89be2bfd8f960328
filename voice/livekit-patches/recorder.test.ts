import { AudioFrame } from '@livekit/rtc-node';
import { expect, it } from 'vitest';

import { inLongerFrames, type RecorderItem } from './recorder.ts';

const RATE = 16_000;
const FRAME_MS = 32;

function frame(first: number, { rate = RATE }: { readonly rate?: number } = {}): AudioFrame {
  const samples = (rate * FRAME_MS) / 1_000;
  return new AudioFrame(
    Int16Array.from({ length: samples }, (_, at) => first + at),
    rate,
    1,
    samples,
  );
}

async function written(items: readonly RecorderItem[]): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  const write = inLongerFrames(async (item) => {
    if (item.kind === 'flush') seen.push('flush');
    else seen.push([item.channel, item.startedAt, item.frame.samplesPerChannel, item.frame.sampleRate]);
  });
  for (const item of items) await write(item);
  return seen;
}

function captured(channel: number, startedAt: number, sound = frame(0)): RecorderItem {
  return { kind: 'captured', channel, startedAt, frame: sound };
}

it('frames of a channel that follow each other become one, from where the first began, with every sample', async () => {
  const whole: RecorderItem[] = [];
  const write = inLongerFrames(async (item) => void whole.push(item));
  // The clock of a busy process is a little off.
  for (let index = 0; index < 25; index += 1) await write(captured(0, 1_000 + index * FRAME_MS + (index % 3) * 20, frame(index * 512)));
  await write({ kind: 'flush', until: 2_000 });
  const sounds = whole.filter((item) => item.kind === 'captured');
  expect(sounds.map(({ startedAt, frame: { samplesPerChannel } }) => [startedAt, samplesPerChannel])).toEqual([
    [1_000, 5_120],
    [1_320 + 20, 5_120],
    [1_640 + 40, 2_560],
  ]);
  expect(sounds.flatMap(({ frame: { data } }) => Array.from(data))).toEqual(Array.from({ length: 25 * 512 }, (_, at) => at));
  expect(whole.at(-1)?.kind).toBe('flush');
});

it('a gap, another rate and a flush end what was gathered, each channel by itself', async () => {
  expect(
    await written([
      captured(0, 0),
      captured(1, 5),
      captured(0, 32),
      captured(0, 300),
      captured(1, 37),
      captured(0, 332, frame(0, { rate: 24_000 })),
      { kind: 'flush', until: 400 },
      { kind: 'flush', until: 500 },
    ]),
  ).toEqual([[0, 0, 1_024, RATE], [0, 300, 512, RATE], [1, 5, 1_024, RATE], [0, 332, 768, 24_000], 'flush', 'flush']);
});
