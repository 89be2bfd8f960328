import { AudioFrame, dispose, TrackPublishOptions, type Room } from '@livekit/rtc-node';
import { initializeLogger } from '@livekit/agents';
import { afterAll, beforeAll, expect, it } from 'vitest';

// As the session does; the package doesn't export it.
import { ParticipantAudioOutput } from '../../../node_modules/@livekit/agents/dist/voice/room_io/_output.js';
import { replayAfterPauses, type PausableOutput } from '../../../voice/livekit-patches/paused-sound.ts';

const RATE = 24_000;
const FRAME_MS = 100;
const FRAMES = 8;

beforeAll(() => initializeLogger({ pretty: false, level: 'silent' }));
afterAll(dispose);

/** Each sample is its millisecond of the answer. */
const frameAt = (index: number): AudioFrame => {
  const samples = (RATE * FRAME_MS) / 1_000;
  return new AudioFrame(
    Int16Array.from({ length: samples }, (_, at) => index * FRAME_MS + Math.floor((at * 1_000) / RATE)),
    RATE,
    1,
    samples,
  );
};

/** The output of a session, in a room in which nobody is: the media library plays into nothing. */
function anOutput() {
  const options = { sampleRate: RATE, numChannels: 1, queueSizeMs: 200, trackPublishOptions: new TrackPublishOptions() };
  const output = new ParticipantAudioOutput({} as Room, options);
  const inside = output as unknown as PausableOutput & { readonly startedFuture: { resolve: () => void } };
  inside.startedFuture.resolve();
  /** The first and the last millisecond of what the media library was given. */
  const given: [number, number][] = [];
  const { audioSource: source } = inside;
  const capture = source.captureFrame.bind(source);
  /** After the frame that begins there is given. */
  const at = new Map<number, () => void>();
  source.captureFrame = (frame) => {
    given.push([frame.data[0]!, frame.data.at(-1)!]);
    const captured = capture(frame);
    queueMicrotask(() => at.get(frame.data[0]!)?.());
    return captured;
  };
  replayAfterPauses(inside);
  const played: { readonly startedAt: number; readonly offset: number; readonly duration: number }[] = [];
  output.onPlaybackProgressed = (run) => void played.push(run);
  const finished = Promise.withResolvers<{ readonly playbackPosition: number; readonly interrupted: boolean }>();
  output.onPlaybackFinished = (event) => finished.resolve(event);
  const say = async (frames = FRAMES): Promise<void> => {
    for (let index = 0; index < frames; index += 1) await output.captureFrame(frameAt(index));
  };
  return { output: inside, source, given, played, at, say, flush: () => output.flush(), finished: finished.promise };
}

it('an answer that was paused goes on where it was heard last', async () => {
  const { output, given, played, at, say, flush, finished } = anOutput();
  at.set(300, () => {
    output.pause();
    setTimeout(() => output.resume(), 50);
  });
  await say();
  flush();
  expect(await finished).toEqual({ playbackPosition: expect.closeTo((FRAMES * FRAME_MS) / 1_000), interrupted: false });
  const [from, to] = given[4]!;
  expect(from).toBeGreaterThan(50);
  expect(to).toBe(399);
  expect(given.slice(5)).toEqual([4, 5, 6, 7].map((index) => [index * FRAME_MS, index * FRAME_MS + 99]));
  // The recording has each moment once, those before the pause where they were heard.
  expect(played.some(({ offset, duration }) => Math.abs(offset + duration - from) < 5)).toBe(true);
  const ends = played.map(({ offset, duration }) => offset + duration);
  expect(played.map(({ offset }) => Math.round(offset))).toEqual([0, ...ends.slice(0, -1).map(Math.round)]);
  expect(ends.at(-1)).toBeCloseTo(FRAMES * FRAME_MS);
});

it('of an answer that is interrupted in its pause nothing more is heard, and it counts up to there', async () => {
  const { output, given, played, at, say, finished } = anOutput();
  at.set(300, () => {
    output.pause();
    setTimeout(() => output.clearBuffer(), 50);
  });
  // The fifth frame waits for the end of the pause.
  await say(5);
  const { playbackPosition, interrupted } = await finished;
  output.resume();
  expect(interrupted).toBe(true);
  expect(given).toHaveLength(4);
  expect(playbackPosition * 1_000).toBeCloseTo(played.reduce((sum, { duration }) => sum + duration, 0));
  expect(playbackPosition).toBeLessThan(0.4);
});

it('an answer of which nothing more comes in its pause ends after it', async () => {
  const { output, source, given, played, at, say, flush, finished } = anOutput();
  at.set(100, () => output.pause());
  await say(2);
  flush();
  let over = false;
  void finished.then(() => (over = true));
  await expect.poll(() => source.queuedDuration).toBe(0);
  expect(over).toBe(false);
  const resumedAt = Date.now();
  output.resume();
  expect(await finished).toEqual({ playbackPosition: expect.closeTo(0.2), interrupted: false });
  expect(given).toHaveLength(3);
  // The recording has it where it was heard.
  expect(played.at(-1)!.startedAt).toBeGreaterThanOrEqual(resumedAt - 1);
});

it('the end of an answer that has been handed over is played in a pause', async () => {
  const { output, given, say, flush, finished } = anOutput();
  await say(2);
  flush();
  output.pause();
  expect(await finished).toEqual({ playbackPosition: expect.closeTo(0.2), interrupted: false });
  expect(given).toHaveLength(2);
});
