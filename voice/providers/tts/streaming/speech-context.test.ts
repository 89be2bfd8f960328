/**
 * Tests when a sentence ends that no message ends, and where late sound goes; the providers' protocols are in
 * test/integration/speech-apis/speaking.
 */
import { expect, it } from 'vitest';

import { FakeClock, settle } from '../../../../test/support/fake-clock.ts';
import type { TtsStreamEvent } from './protocol.ts';
import { SpeechContext } from './speech-context.ts';

const IDLE_MS = 5_000;

function contextOf({ mayBeSaid = false, confirmsClose = true } = {}) {
  const clock = new FakeClock();
  const sent: string[] = [];
  const silences: string[] = [];
  let closed = 0;
  const context = new SpeechContext({
    provider: 'acme',
    protocol: {
      say: (text) => [text],
      end: () => ['end'],
      cancel: () => ['cancel'],
      read: (event) => [event as TtsStreamEvent],
      mayBeSaid: () => mayBeSaid,
    },
    idleMs: IDLE_MS,
    confirmsClose,
    send: (messages) => void sent.push(...messages),
    onSilence: (failure) => void silences.push(failure.message),
    onClose: () => (closed += 1),
    clock,
  });
  const sound = (value: number): void => context.receive({ type: 'sound', pcm: Uint8Array.of(value) });
  const say = (text: string) => {
    const heard: number[] = [];
    const read = async (): Promise<number[]> => {
      for await (const chunk of context.say(text) as unknown as AsyncIterable<Uint8Array>) heard.push(...chunk);
      return heard;
    };
    return read();
  };
  return { clock, context, sent, silences, sound, say, closed: () => closed };
}

it('ends a sentence at a pause only where it may be said, and plays what was late with the next', async () => {
  const { clock, context, silences, sound, say } = contextOf({ mayBeSaid: true });
  const first = say('one');
  sound(1);
  clock.tick(699);
  sound(2);
  await settle();
  clock.tick(700);
  expect(await first).toEqual([1, 2]);
  sound(3);
  const second = say('two');
  sound(4);
  context.receive({ type: 'said' });
  expect([await second, silences]).toEqual([[3, 4], []]);

  const strict = contextOf();
  void strict.say('one').catch(() => undefined);
  strict.sound(1);
  strict.clock.tick(9_999);
  expect(strict.silences).toEqual([]);
  strict.clock.tick(1);
  expect(strict.silences).toEqual(['acme (text to speech) broke off in the middle of an answer (nothing more came for 10000 ms)']);
});

it('takes another sentence for as long as the provider keeps it', async () => {
  const { clock, context, say } = contextOf();
  const first = say('one');
  clock.tick(IDLE_MS);
  context.receive({ type: 'said' });
  await first;
  clock.tick(IDLE_MS - 1);
  expect(context.open).toBe(true);
  clock.tick(1);
  expect(context.open).toBe(false);
});

it('is cancelled also where its end was announced, and closes when the provider says so', async () => {
  const { context, sent, say, closed } = contextOf();
  const first = say('one');
  context.end();
  context.abandon(new Error('interrupted'));
  await expect(first).rejects.toThrow('interrupted');
  expect([sent, closed()]).toEqual([['one', 'end', 'cancel'], 0]);
  context.receive({ type: 'closed' });
  context.abandon(new Error('again'));
  expect([sent.length, closed()]).toEqual([3, 1]);
});

it('closes by itself where the provider does not say so, once the last sentence is said', async () => {
  const { context, sent, say, closed } = contextOf({ confirmsClose: false });
  const first = say('one');
  context.end();
  expect(closed()).toBe(0);
  context.receive({ type: 'said' });
  await first;
  expect([sent, closed(), context.open]).toEqual([['one', 'end'], 1, false]);
});
