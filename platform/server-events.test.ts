import { expect, it } from 'vitest';

import { serverEventsOf } from './server-events.ts';

async function eventsIn(...parts: readonly string[]): Promise<readonly unknown[]> {
  async function* body(): AsyncGenerator<Uint8Array> {
    for (const part of parts) yield Buffer.from(part);
  }
  const events: unknown[] = [];
  for await (const event of serverEventsOf(body())) events.push(event);
  return events;
}

it('reads events wherever they are cut, without comments, and without one that broke off', async () => {
  const whole =
    'retry: 2000\n\n: still here\n\nevent: message\nid: 7\ndata: {"text":"a: b"}\n\nevent: words\ndata: [1]\n\nevent: end\ndata: {';
  const expected = [
    { event: 'message', id: '7', data: { text: 'a: b' } },
    { event: 'words', id: undefined, data: [1] },
  ];
  for (let at = 0; at < whole.length; at += 1) expect(await eventsIn(whole.slice(0, at), whole.slice(at))).toEqual(expected);
});
