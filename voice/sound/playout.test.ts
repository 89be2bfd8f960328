import { AudioFrame } from '@livekit/rtc-node';
import { describe, expect, it } from 'vitest';

import { mulberry } from '../../platform/mulberry.ts';
import { FakeClock } from '../../test/support/fake-clock.ts';
import { PER_MS, SomeSink } from '../../test/support/some-sink.ts';
import { Playout, PLAYOUT_SAMPLE_RATE } from './playout.ts';

/** Makes a frame. @param value of each sample */
const frameOf = (ms: number, value: number): AudioFrame => {
  const samples = new Int16Array(ms * PER_MS).fill(value);
  return new AudioFrame(samples, PLAYOUT_SAMPLE_RATE, 1, samples.length);
};

function aPlayout() {
  const clock = new FakeClock();
  const sink = new SomeSink(clock);
  const heard = new Map<number, number>();
  const ended: number[] = [];
  const sounds: { readonly samples: readonly number[]; readonly at: number }[] = [];
  const playout = new Playout({
    sink,
    clock,
    onPlayed: (speech, ms) => void heard.set(speech, ms),
    onEnd: (speech) => void ended.push(speech),
    onSound: (samples, at) => void sounds.push({ samples: [...samples], at }),
  });
  const wait = (ms: number): void => {
    for (let passed = 0; passed < ms; passed += 5) clock.tick(5);
  };
  const say = (speech: number, ms: number, { open = false } = {}): void => {
    playout.begin(speech);
    playout.add(speech, frameOf(ms, speech));
    if (!open) playout.complete(speech);
  };
  return { clock, sink, playout, heard, ended, sounds, wait, say };
}

/** Returns how long each value was played, in milliseconds, in the order in which they were. */
function runsOf(samples: readonly number[]): readonly (readonly [number, number])[] {
  const runs: [number, number][] = [];
  for (const value of samples) {
    const last = runs.at(-1);
    if (last?.[0] === value) last[1] += 1 / PER_MS;
    else runs.push([value, 1 / PER_MS]);
  }
  return runs.map(([value, ms]) => [value, Math.round(ms)]);
}

describe('playout', () => {
  it('plays nothing before somebody listens, and then one speech after the other without a gap', () => {
    const { sink, playout, ended, wait, say } = aPlayout();
    say(1, 500);
    say(2, 200);
    wait(1_000);
    expect(sink.played).toEqual([]);
    playout.open();
    wait(1_000);
    expect(runsOf(sink.played)).toEqual([
      [1, 500],
      [2, 200],
    ]);
    expect(ended).toEqual([1, 2]);
  });

  it('waits for sound that is still to come, also before what comes after it', () => {
    const { sink, playout, ended, wait, say } = aPlayout();
    playout.open();
    say(1, 100, { open: true });
    say(2, 100);
    wait(500);
    expect(runsOf(sink.played)).toEqual([[1, 100]]);
    expect(ended).toEqual([]);
    playout.add(1, frameOf(50, 1));
    playout.complete(1);
    wait(500);
    expect(runsOf(sink.played)).toEqual([
      [1, 150],
      [2, 100],
    ]);
    expect(ended).toEqual([1, 2]);
  });

  it('is silent in a pause, and goes on to the sample', () => {
    const { sink, playout, heard, wait, say } = aPlayout();
    playout.open();
    say(1, 1_000);
    wait(400);
    playout.pause();
    expect(heard.get(1)).toBe(400);
    wait(3_000);
    expect(runsOf(sink.played)).toEqual([[1, 400]]);
    playout.resume();
    wait(300);
    playout.pause();
    expect(heard.get(1)).toBe(700);
    playout.resume();
    wait(1_000);
    expect(runsOf(sink.played)).toEqual([[1, 1_000]]);
  });

  it('takes back what is cancelled, and nothing else', () => {
    const { sink, playout, heard, ended, wait, say } = aPlayout();
    playout.open();
    say(1, 500);
    say(2, 100);
    say(3, 100);
    // The second is in the sink by now.
    wait(400);
    playout.cancel(1);
    expect([heard.get(1), ended]).toEqual([400, [1]]);
    playout.cancel(3);
    wait(1_000);
    expect(runsOf(sink.played)).toEqual([
      [1, 400],
      [2, 100],
    ]);
    expect(ended).toEqual([1, 3, 2]);
  });

  it('ends a speech without a sound when its turn comes', () => {
    const { playout, ended, wait, say } = aPlayout();
    playout.open();
    say(1, 200);
    say(2, 0);
    expect(ended).toEqual([]);
    wait(500);
    expect(ended).toEqual([1, 2]);
  });

  it('plays sound of another rate', () => {
    const { playout, heard, ended, wait } = aPlayout();
    playout.open();
    playout.begin(1);
    playout.add(1, new AudioFrame(new Int16Array(48_000).fill(100), 48_000, 1, 48_000));
    playout.complete(1);
    wait(1_500);
    expect(heard.get(1)).toBeCloseTo(1_000, -1);
    expect(ended).toEqual([1]);
  });

  it('hands on what was played with its time', () => {
    const { clock, playout, sounds, wait, say } = aPlayout();
    const from = clock.now();
    playout.open();
    say(1, 300);
    wait(100);
    playout.pause();
    wait(1_000);
    playout.resume();
    wait(1_000);
    const times = sounds.flatMap(({ samples, at }) => samples.map((_, index) => at + index / PER_MS - from));
    expect(times).toHaveLength(300 * PER_MS);
    expect(times[0]).toBeCloseTo(0);
    expect(times[100 * PER_MS - 1]).toBeCloseTo(100, 0);
    expect(times[100 * PER_MS]).toBeCloseTo(1_100, 0);
  });

  it('knows to the sample what was played, whatever happens', () => {
    for (let seed = 0; seed < 50; seed += 1) {
      const random = mulberry(seed);
      const { sink, playout, heard, ended, sounds, wait, say } = aPlayout();
      playout.open();
      let speeches = 0;
      for (let act = 0; act < 30; act += 1) {
        const kind = Math.floor(random() * 6);
        if (kind === 0) say((speeches += 1), Math.floor(random() * 400), { open: random() < 0.5 });
        else if (kind === 1) playout.add(speeches, frameOf(Math.floor(random() * 200), speeches));
        else if (kind === 2) playout.complete(Math.ceil(random() * speeches));
        else if (kind === 3) playout.cancel(Math.ceil(random() * speeches));
        else if (kind === 4) playout.pause();
        else playout.resume();
        wait(Math.floor(random() * 300));
      }
      playout.resume();
      for (let speech = 1; speech <= speeches; speech += 1) playout.complete(speech);
      wait(20_000);
      const played = runsOf(sink.played);
      expect(
        played.map(([speech]) => speech),
        `seed ${seed}`,
      ).toEqual([...new Set(played.map(([speech]) => speech))].toSorted((a, b) => a - b));
      for (const [speech, ms] of played) expect(heard.get(speech), `seed ${seed}, speech ${speech}`).toBeCloseTo(ms, 0);
      expect(sounds.flatMap(({ samples }) => samples).length, `seed ${seed}`).toBe(sink.played.length);
      expect(
        ended.toSorted((a, b) => a - b),
        `seed ${seed}`,
      ).toEqual(Array.from({ length: speeches }, (_, index) => index + 1));
    }
  });
});
