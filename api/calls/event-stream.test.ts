import { describe, expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { EventStream } from './event-stream.ts';

const words = (text: string) => ({ event: 'words', data: { line: 'user-1', role: 'user', text, final: false } }) as const;

async function textOf(stream: EventStream): Promise<string> {
  let text = '';
  for await (const part of stream.body as AsyncIterable<Buffer>) text += part.toString();
  return text;
}

describe('a stream of events', () => {
  it('has each event as its name, its id and its data', async () => {
    const stream = new EventStream({ clock: new FakeClock() });
    stream.send(words('a\nb'));
    stream.beat();
    stream.end({
      event: 'end',
      id: '7-end',
      data: { call_status: 'ended', call_finish_reason: 'user_ended_call', call_duration_seconds: 1 },
    });
    stream.send(words('late'));
    expect((await textOf(stream)).split('\n\n')).toEqual([
      'retry: 2000',
      'event: words\ndata: {"line":"user-1","role":"user","text":"a\\nb","final":false}',
      ': still here',
      'event: end\nid: 7-end\ndata: {"call_status":"ended","call_finish_reason":"user_ended_call","call_duration_seconds":1}',
      '',
    ]);
    expect(stream.signal.aborted).toBe(true);
  });

  it('gives a client that takes nothing a last event that says so, and lets go of it', async () => {
    const clock = new FakeClock();
    const stream = new EventStream({ clock });
    const text = 'a'.repeat(1_000);
    let sent = 0;
    for (; !stream.signal.aborted; sent += 1) stream.send(words(text));
    // Its buffer is bounded.
    expect(sent).toBeLessThan(300);
    expect(stream.body.destroyed).toBe(false);
    await clock.advance(5_000);
    expect(stream.body.destroyed).toBe(true);
    const reading = new EventStream({ clock });
    while (!reading.signal.aborted) reading.send(words(text));
    expect((await textOf(reading)).trimEnd().split('\n\n').at(-1)).toMatch(/^event: closed\ndata: \{"reason":"too_slow",/);
  });

  it('is over when the client leaves', () => {
    const stream = new EventStream({ clock: new FakeClock() });
    stream.body.destroy();
    return expect.poll(() => stream.signal.aborted).toBe(true);
  });
});
