import { expect, it } from 'vitest';

import type { SttStreamSession } from './protocol.ts';
import { elevenLabsStreaming } from './elevenlabs.ts';

const session = (): SttStreamSession => {
  const endpoint = { part: 'stt', provider: 'elevenlabs', protocol: 'own', guarded: false, apiKey: 'k' } as const;
  return elevenLabsStreaming({ endpoint, language: 'en-US' })!.session();
};
const partial = (text: string) => ({ message_type: 'partial_transcript', text });
const committed = (text: string) => ({ message_type: 'committed_transcript', text });
const interim = (text: string) => ({ type: 'interim', text });

it('ignores partial transcripts that the server repeats', () => {
  const one = session();
  const events = ['', 'one', 'one', 'one two'].flatMap((text) => one.read(partial(text)));
  expect(events).toEqual([interim('one'), interim('one two')]);
  expect(one.read(committed('One, two.'))).toEqual([{ type: 'final', text: 'One, two.' }, { type: 'flushed' }]);
  expect(['one two', 'One, two.', 'three'].flatMap((text) => one.read(partial(text)))).toEqual([interim('three')]);
});

it('fills up a commit with silence to the least that the API accepts', () => {
  const one = session();
  const sent = (): readonly { readonly commit: boolean; readonly bytes: number }[] =>
    one.flush!().map((message) => {
      const { commit, audio_base_64: base64 } = JSON.parse(message as string) as { commit: boolean; audio_base_64: string };
      return { commit, bytes: Buffer.from(base64, 'base64').length };
    });
  const commit = { commit: true, bytes: 0 };
  one.audio(new Uint8Array(32_000));
  expect(sent()).toEqual([commit]);
  one.audio(new Uint8Array(240));
  expect(sent()).toEqual([{ commit: false, bytes: 10_000 }, commit]);
  expect(sent()).toEqual([{ commit: false, bytes: 10_240 }, commit]);
});

it('treats the refusal to commit too little audio as the answer', () => {
  expect(session().read({ message_type: 'commit_throttled', error: 'only 0.01s of uncommitted audio' })).toEqual([{ type: 'flushed' }]);
});

it.each([
  ['auth_error', 'refused', /refuses the key/],
  ['quota_exceeded', 'refused', /quota/],
  ['unaccepted_terms', 'refused', /terms/],
  ['input_error', 'refused', /check its model and settings/],
  ['rate_limited', 'runtime', /limit is reached/],
  ['resource_exhausted', 'runtime', /no capacity/],
  ['session_time_limit_exceeded', 'runtime', /time limit/],
  ['transcriber_error', 'runtime', /reports an error/],
  ['something_new', 'runtime', /reports an error/],
])("reports the error %s without the server's text", (type, kind, message) => {
  const [failed] = session().read({ message_type: type, error: 'of: my secret words' });
  expect(failed).toEqual({ type: 'failed', kind, message: expect.stringMatching(message) as string });
  expect(JSON.stringify(failed)).not.toContain('secret');
});

it.each([{ message_type: 'session_started', session_id: 's' }, { message_type: 'warning', warning: 'w' }, 'no JSON', null, ['x']])(
  'ignores %j',
  (message) => {
    expect(session().read(message)).toEqual([]);
  },
);
