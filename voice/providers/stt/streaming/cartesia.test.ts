import { expect, it } from 'vitest';

import type { SttStreamSession } from './protocol.ts';
import { cartesiaStreaming } from './cartesia.ts';

const session = (): SttStreamSession => {
  const endpoint = { part: 'stt', provider: 'cartesia', protocol: 'own', guarded: false, apiKey: 'k' } as const;
  return cartesiaStreaming({ endpoint, language: 'en-US' }).session();
};
const transcript = (text: string, final: boolean) => ({ type: 'transcript', is_final: final, text, request_id: 'r' });
const interim = (text: string) => ({ type: 'interim', text });

it('joins the final pieces of a flush without separators', () => {
  const one = session();
  expect(one.read(transcript('Inter', false))).toEqual([interim('Inter')]);
  expect(one.read(transcript('Inter', true))).toEqual([interim('Inter')]);
  expect(one.read(transcript('est', false))).toEqual([interim('Interest')]);
  expect(one.read(transcript('esting.', true))).toEqual([interim('Interesting.')]);
  expect(one.read({ type: 'flush_done', request_id: 'r' })).toEqual([{ type: 'final', text: 'Interesting.' }, { type: 'flushed' }]);
  expect(one.read({ type: 'flush_done', request_id: 'r' })).toEqual([{ type: 'final', text: '' }, { type: 'flushed' }]);
});

it.each([
  [{ status_code: 400, title: 'Invalid model' }, 'refused', /answers 400: check its model/],
  [{ status_code: 401 }, 'refused', /answers 401: check its key/],
  [{ status_code: 429 }, 'runtime', /answers 429: its limit is reached/],
  [{ status_code: 500 }, 'runtime', /answers 500/],
  [{ error: 'of an old version' }, 'runtime', /reports an error/],
])("reports the error %j without the server's text", (error, kind, message) => {
  const [failed] = session().read({ type: 'error', message: 'of: my secret words', ...error });
  expect(failed).toEqual({ type: 'failed', kind, message: expect.stringMatching(message) as string });
  expect(JSON.stringify(failed)).not.toContain('secret');
});

it.each([{ type: 'done' }, { type: 'connected' }, 'no JSON', null, []])('ignores %j', (message) => {
  expect(session().read(message)).toEqual([]);
});
