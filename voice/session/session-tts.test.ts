import { initializeLogger } from '@livekit/agents';
import { beforeAll, expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { synthesizerOf } from '../../test/support/speech-synthesis.ts';
import { failureOf } from '../calls/provider-access/index.ts';
import { providerFailureOf } from '../providers/index.ts';
import type { SpeechSource } from '../providers/tts/speech-source.ts';
import { TextNormalizer } from '../text-normalization/index.ts';
import { SessionTts, sentenceOf } from './session-tts.ts';

beforeAll(() => initializeLogger({ pretty: false, level: 'silent' }));

/** A voice whose sentences last ten milliseconds. */
function voice({ soundOf }: Partial<Pick<SpeechSource, 'soundOf'>> = {}) {
  const asked: string[] = [];
  const clock = new FakeClock();
  const source: SpeechSource = {
    model: 'm',
    atOnce: 2,
    connect: () => undefined,
    close: () => undefined,
    async *soundOf({ text, before }) {
      asked.push(before + text);
      yield new Uint8Array(480);
    },
    ...(soundOf && { soundOf }),
  };
  const normalizer = new TextNormalizer({ language: 'en', replacements: [{ written: 'Parley', spoken: 'par lay' }] });
  const tts = new SessionTts({ inner: synthesizerOf([{ provider: 'p', source }], { clock }), normalizer, clock });
  const stream = tts.stream();
  const marks = async (): Promise<readonly string[]> => {
    const written: string[] = [];
    for await (const audio of stream) {
      const sentence = typeof audio === 'symbol' ? undefined : sentenceOf(audio.frame);
      if (sentence !== undefined) written.push(sentence.written);
    }
    return written;
  };
  return { asked, clock, tts, stream, marks };
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

it('reports what fails, once, with its name', async () => {
  const refusal = failureOf({ part: 'tts', provider: 'p' }, 'refused', 'answers 401', { status: 401 });
  const { tts, stream, marks } = voice({
    // eslint-disable-next-line require-yield
    async *soundOf() {
      throw refusal;
    },
  });
  const failures: unknown[] = [];
  tts.on('error', (event) => void failures.push([providerFailureOf(event, 'tts'), event.recoverable]));
  stream.pushText('Hello to you.');
  stream.endInput();
  expect(await marks()).toEqual([]);
  expect(failures).toEqual([[refusal, false]]);
});
