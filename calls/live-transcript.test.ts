import { expect, it } from 'vitest';

import { followTranscript, TRANSCRIPT_TOPIC, type SpokenLine, type TextStream } from './live-transcript.ts';

const userIdentity = 'user-call_1';

function room() {
  const lines: SpokenLine[] = [];
  let handle: ((stream: TextStream, from: { readonly identity: string }) => void) | undefined;
  followTranscript(
    { registerTextStreamHandler: (topic, handler) => (expect(topic).toBe(TRANSCRIPT_TOPIC), (handle = handler)) },
    { userIdentity, onLine: (line) => lines.push(line) },
  );
  const say = async (identity: string, attributes: Record<string, string>, chunks: readonly string[], broken = false): Promise<void> => {
    async function* text() {
      yield* chunks;
      if (broken) throw new Error('gone');
    }
    handle?.({ info: { attributes }, [Symbol.asyncIterator]: text }, { identity });
    await new Promise(setImmediate);
  };
  return { lines, say };
}

it('a line of the agent grows, and is final at the end of its stream', async () => {
  const { lines, say } = room();
  await say('agent-1', { 'lk.segment_id': 'a', 'lk.transcription_final': 'false' }, ['Good', ' morning.']);
  expect(lines).toEqual([
    { id: 'a', role: 'agent', text: 'Good', final: false },
    { id: 'a', role: 'agent', text: 'Good morning.', final: false },
    { id: 'a', role: 'agent', text: 'Good morning.', final: true },
  ]);
});

it('a guess of what the user says is replaced until the last one', async () => {
  const { lines, say } = room();
  await say(userIdentity, { 'lk.segment_id': 'u', 'lk.transcription_final': 'false' }, ['I won']);
  await say(userIdentity, { 'lk.segment_id': 'u', 'lk.transcription_final': 'true' }, ['I want a table.']);
  expect(lines.map(({ text, final }) => [text, final])).toEqual([
    ['I won', false],
    ['I want a table.', false],
    ['I want a table.', true],
  ]);
  expect(lines.every(({ id, role }) => id === 'u' && role === 'user')).toBe(true);
});

it('what breaks off stands as far as it came; nothing is said of silence', async () => {
  const { lines, say } = room();
  await say('agent-1', { 'lk.segment_id': 'a' }, ['Good'], true);
  await say('agent-1', { 'lk.segment_id': 'b' }, [' ']);
  await say('agent-1', {}, []);
  expect(lines).toHaveLength(2);
  expect(lines.at(-1)).toEqual({ id: 'a', role: 'agent', text: 'Good', final: true });
});
