import { AudioFrame } from '@livekit/rtc-node';
import { describe, expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { SomeSink } from '../../test/support/some-sink.ts';
import type { VoiceEvent } from '../conversation/ports.ts';
import { TextNormalizer } from '../text-normalization/index.ts';
import { Playout, PLAYOUT_SAMPLE_RATE } from './playout.ts';
import { SpokenVoice, type SpokenVoiceOptions } from './spoken-voice.ts';

/** Time that a voice takes for a character, in milliseconds: it says ten in a second. */
const MS_PER_CHARACTER = 100;

/** Builds a voice. @param fails at the sentence that has this @param until when sound comes */
function aVoice({ fails, atOnce = 2, until }: { readonly fails?: string; readonly atOnce?: number; readonly until?: Promise<void> } = {}) {
  const clock = new FakeClock();
  const events: VoiceEvent[] = [];
  const failures: unknown[] = [];
  const asked: { readonly text: string; readonly before: string; readonly signal: AbortSignal; readonly complete: AbortSignal }[] = [];
  const subtitles: string[] = [];
  const synthesizer: SpokenVoiceOptions['synthesizer'] = {
    sentencesAtOnce: atOnce,
    async request({ text, before, answer, signal }) {
      asked.push({ text, before, signal, complete: answer.complete });
      if (fails !== undefined && text.includes(fails)) throw new Error('no sound');
      await until;
      return framesOf(text);
    },
  };
  const playout: Playout[] = [];
  const voice = new SpokenVoice({
    synthesizer,
    normalizer: new TextNormalizer({ language: 'en' }),
    playout: (heard) => {
      playout.push(new Playout({ ...heard, sink: new SomeSink(clock), clock }));
      playout[0]!.open();
      return playout[0]!;
    },
    clock,
    report: (event) => void events.push(event),
    fail: (error) => void failures.push(error),
    onHeard: (speech, text, final) => void subtitles.push(`${speech}: ${text}${final ? '.' : ''}`),
  });
  const heard = (speech: number): number =>
    events.reduce((most, event) => (event.type === 'heard' && event.speech === speech ? event.characters : most), -1);
  const silent = (): readonly number[] => events.flatMap((event) => (event.type === 'silent' ? [event.speech] : []));
  const wait = (ms: number): Promise<void> => clock.advance(ms);
  return { voice, events, failures, asked, subtitles, heard, silent, wait };
}

async function* framesOf(text: string): AsyncGenerator<AudioFrame> {
  for (let left = text.length * MS_PER_CHARACTER; left > 0; left -= 100) {
    const samples = new Int16Array((Math.min(100, left) * PLAYOUT_SAMPLE_RATE) / 1_000).fill(1);
    yield new AudioFrame(samples, PLAYOUT_SAMPLE_RATE, 1, samples.length);
  }
}

const story = 'Once upon a time there was a telephone. It rang and rang.';

describe('a voice', () => {
  it('says sentence by sentence, and reports word by word what is heard', async () => {
    const { voice, asked, heard, silent, wait } = aVoice();
    voice.say(1, story);
    voice.sayNoMore(1);
    await wait(0);
    expect(asked.map(({ text, before }) => [before, text])).toEqual([
      ['', 'Once upon a time there was a telephone.'],
      ['Once upon a time there was a telephone. ', 'It rang and rang.'],
    ]);
    await wait(1_000);
    expect(story.slice(0, heard(1)).trim()).toBe('Once upon');
    expect(silent()).toEqual([]);
    await wait(6_000);
    expect(heard(1)).toBe(story.length);
    expect(silent()).toEqual([1]);
    expect(asked.every(({ complete }) => complete.aborted)).toBe(true);
  });

  it('is being heard before its first word is over', async () => {
    const { voice, events, wait } = aVoice();
    voice.say(1, story);
    await wait(100);
    expect(events[0]).toEqual({ type: 'heard', speech: 1, characters: 0 });
  });

  it('stops at once, and says how far it was heard', async () => {
    const { voice, asked, events, heard, wait } = aVoice();
    voice.say(1, story);
    voice.sayNoMore(1);
    await wait(1_800);
    voice.cancel(1);
    expect(story.slice(0, heard(1)).trim()).toBe('Once upon a time');
    expect(events.at(-1)).toEqual({ type: 'silent', speech: 1 });
    expect(asked.every(({ signal }) => signal.aborted)).toBe(true);
    const reported = events.length;
    await wait(10_000);
    expect(events).toHaveLength(reported);
  });

  it('goes on after a pause where it was', async () => {
    const { voice, heard, silent, wait } = aVoice();
    voice.say(1, 'Ten to one.');
    voice.sayNoMore(1);
    await wait(500);
    voice.pause();
    await wait(5_000);
    expect('Ten to one.'.slice(0, heard(1)).trim()).toBe('Ten');
    voice.resume();
    await wait(600);
    expect([heard(1), silent()]).toEqual([11, [1]]);
  });

  it('says the beginning of a long sentence without waiting for its end', async () => {
    const { voice, asked, wait } = aVoice();
    voice.say(1, 'once upon a time there was a small white ');
    await wait(600);
    expect(asked).toEqual([]);
    await wait(200);
    expect(asked.map(({ text }) => text)).toEqual(['once upon a time there was a small']);
  });

  it('asks for the next sentence when the sound of the one before is there, where the provider takes one at a time', async () => {
    const slow = Promise.withResolvers<void>();
    const { voice, asked, wait } = aVoice({ atOnce: 1, until: slow.promise });
    voice.say(1, story);
    voice.sayNoMore(1);
    await wait(3_000);
    expect(asked).toHaveLength(1);
    slow.resolve();
    await wait(0);
    expect(asked).toHaveLength(2);
  });

  it('hears what has nothing to say with what was said before it', async () => {
    const { voice, heard, silent, wait } = aVoice();
    voice.say(1, 'Welcome! 🎉');
    voice.sayNoMore(1);
    await wait(2_000);
    expect([heard(1), silent()]).toEqual(['Welcome! 🎉'.length, [1]]);
  });

  it('fails, and says what it had until then', async () => {
    const { voice, failures, heard, silent, wait } = aVoice({ fails: 'rang' });
    voice.say(1, story);
    voice.sayNoMore(1);
    await wait(10_000);
    expect(failures).toEqual([new Error('no sound')]);
    expect(silent()).toEqual([1]);
    expect(story.slice(0, heard(1)).trim()).toBe('Once upon a time there was a telephone.');
  });

  it('tells somebody something that is not part of the conversation', async () => {
    const { voice, events, subtitles, wait } = aVoice();
    const over = new AbortController();
    let told = false;
    void voice.tell('A caller is on the line.', over.signal).then(() => (told = true));
    await wait(2_000);
    expect(told).toBe(false);
    await wait(1_000);
    expect(told).toBe(true);
    void voice.tell('A caller is on the line.', over.signal).then(() => (told = false));
    await wait(500);
    over.abort();
    await wait(0);
    expect(told).toBe(false);
    expect([events, subtitles]).toEqual([[], []]);
  });

  it('shows who reads along what is heard', async () => {
    const { voice, subtitles, wait } = aVoice();
    voice.say(1, 'Ten to one.');
    voice.sayNoMore(1);
    await wait(2_000);
    expect([...new Set(subtitles.map((text) => text.trim()))]).toEqual([
      '1:',
      '1: Ten',
      '1: Ten to',
      '1: Ten to one',
      '1: Ten to one.',
      '1: Ten to one..',
    ]);
  });
});
