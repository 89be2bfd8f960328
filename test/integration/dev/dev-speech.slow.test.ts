/** Runs dev-speech as `parley dev` does: a process that speaks, understands what it has spoken, and answers. */
import { once } from 'node:events';

import { beforeAll, describe, expect, it } from 'vitest';

import { readWav } from '../../../platform/wav.ts';
import { eventually } from '../../support/eventually.ts';
import { bytesOf } from '../../support/tones.ts';
import { devSpeechProcesses, hear, say, type DevSpeech } from './dev-speech-process.ts';

const start = devSpeechProcesses();

describe('with its voice and its ear', () => {
  let speech: DevSpeech;
  /** This server has spoken nothing. */
  let listener: DevSpeech;
  beforeAll(async () => {
    [speech, listener] = await Promise.all([start(process.env), start(process.env)]);
  });

  it('says plainly what it is', async () => {
    await eventually(() => expect(speech.log()).toContain('no speech service and no language model'));
  });

  it.each(['Where is my order 4711?', 'I would like to rent a tandem next weekend.', 'What can you do?', 'Thank you, good bye.'])(
    'understands what it says: %s',
    async (text) => {
      const file = await say(speech, text);
      const { samples, sampleRate } = readWav(file);
      expect(sampleRate).toBe(24_000);
      expect(samples.length).toBeGreaterThan(sampleRate / 2);
      expect(await hear(speech, file)).toEqual({ text, doubtful: false });
    },
  );

  it('hears a phrase word by word while it streams, and all of it once it is committed', async () => {
    const text = 'I would like to rent a tandem next weekend.';
    const { samples } = readWav(await say(speech, text));
    const socket = new WebSocket(`${speech.url.replace('http', 'ws')}/v1/realtime?intent=transcription`);
    const events: { readonly type: string; readonly delta?: string; readonly transcript?: string; readonly error?: { code: string } }[] =
      [];
    socket.addEventListener('message', ({ data }) => events.push(JSON.parse(String(data)) as (typeof events)[number]));
    await once(socket, 'open');
    const send = (event: object): void => socket.send(JSON.stringify(event));
    const deltas = (): string => events.map(({ delta = '' }) => delta).join('');
    send({ type: 'input_audio_buffer.commit' });
    socket.send('no JSON');
    await eventually(() => expect(events.map(({ error }) => error?.code)).toContain('invalid_json'));
    expect(events.map(({ error }) => error?.code)).toContain('input_audio_buffer_commit_empty');
    const append = (piece: Int16Array): void => send({ type: 'input_audio_buffer.append', audio: bytesOf(piece).toString('base64') });
    for (let at = 0; at < samples.length; at += 2_400) append(samples.slice(at, at + 2_400));
    // The server looks again once more has come, and a word is said when two looks agree: a microphone goes on, too.
    await eventually(() => {
      append(new Int16Array(12_000));
      expect(deltas()).toMatch(/^i would like to rent a tandem/);
    }, 1_000);
    expect(events.map(({ type }) => type)).not.toContain('conversation.item.input_audio_transcription.completed');
    send({ type: 'input_audio_buffer.commit' });
    await eventually(() => expect(events.at(-1)).toMatchObject({ transcript: text }));
    socket.close();
  });

  it('understands usual phrases that it has not spoken, in another voice than its first', async () => {
    expect((await hear(listener, await say(speech, 'Is my bicycle ready?', { voice: 'nova' }))).text).toBe('is my bicycle ready');
  });

  it('marks what it does not understand', async () => {
    expect(await hear(listener, await say(speech, 'My grandmother has painted eleven purple elephants on the ceiling.'))).toMatchObject({
      doubtful: true,
    });
  });

  it('hears nothing in silence', async () => {
    const silence = await say(speech, 'Hello.');
    expect(await hear(speech, Buffer.concat([silence.subarray(0, 44), Buffer.alloc(silence.length - 44)]))).toEqual({
      text: '',
      doubtful: false,
    });
  });

  it('speaks the language of the agent', async () => {
    const [german, english] = await Promise.all([
      say(speech, 'Guten Tag', { language: 'de-DE' }),
      say(speech, 'Guten Tag', { language: 'en-US' }),
    ]);
    expect(german.equals(english)).toBe(false);
  });
});
