import { initializeLogger } from '@livekit/agents';
import { beforeAll, expect, it } from 'vitest';

import { FakeClock } from '../../../test/support/fake-clock.ts';
import { TextNormalizer } from '../../text-normalization/index.ts';
import { TtsAdapter } from './tts-adapter.ts';
import { sentenceOf } from './tts-stream.ts';

beforeAll(() => initializeLogger({ pretty: false, level: 'silent' }));

/** A voice whose sentences last ten milliseconds. */
function voice() {
  const asked: string[] = [];
  const clock = new FakeClock();
  const adapter = new TtsAdapter({
    provider: 'p',
    normalizer: new TextNormalizer({ language: 'en', replacements: [{ written: 'Parley', spoken: 'par lay' }] }),
    clock,
    source: {
      model: 'm',
      atOnce: 2,
      connect: () => undefined,
      close: () => undefined,
      async *soundOf({ text, before }) {
        asked.push(before + text);
        yield new Uint8Array(480);
      },
    },
  });
  const stream = adapter.stream();
  const marks = async (): Promise<readonly string[]> => {
    const written: string[] = [];
    for await (const audio of stream) {
      const sentence = typeof audio === 'symbol' ? undefined : sentenceOf(audio.frame);
      if (sentence !== undefined) written.push(sentence.written);
    }
    return written;
  };
  return { asked, clock, stream, marks };
}

it('asks for what is spoken, and marks the sound with what was written', async () => {
  const { asked, clock, stream, marks } = voice();
  for (const piece of ['**Parley** ', 'costs $5. 👍', ' It opens at 9am in the morning. ', '🎉']) stream.pushText(piece);
  stream.endInput();
  expect(await marks()).toEqual(['**Parley** costs $5. ', '👍 It opens at 9am in the morning. ', '🎉']);
  expect(asked).toEqual(['par lay costs 5 dollars.', 'par lay costs 5 dollars. It opens at 9 AM in the morning.']);
  expect(clock.timers).toBe(0);
});

it.each(['...', '👍', '---\n', ' '])('asks for nothing where there is nothing to say: %j', async (text) => {
  const { asked, stream, marks } = voice();
  stream.pushText(text);
  stream.endInput();
  expect(await marks()).toEqual([]);
  expect(asked).toEqual([]);
});

it('asks between two words when the first sentence takes longer than 700 ms, and only for the first', async () => {
  const { asked, clock, stream, marks } = voice();
  const ended = marks();
  stream.pushText('I have just now looked');
  await expect.poll(() => clock.nextIn).toBe(700);
  expect(asked).toEqual([]);
  clock.tick(700);
  await expect.poll(() => asked).toEqual(['I have just now']);
  stream.pushText(' it up for you');
  stream.endInput();
  expect(await ended).toEqual(['I have just now ', 'looked it up for you']);
  expect(clock.timers).toBe(0);
});
