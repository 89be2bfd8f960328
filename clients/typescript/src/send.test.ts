import { describe, expect, it } from 'vitest';

import { ParleyError } from './error.ts';
import { sender, type SendEffects } from './send.ts';

const options = { retries: 2, maxWaitMs: 10_000, timeoutMs: 60_000 };
const json = { 'content-type': 'application/json' };
const post = (body: NonNullable<RequestInit['body']>, headers: Record<string, string> = json): Request =>
  new Request('https://parley.example.com/v1/calls', { method: 'POST', body, headers });

/** Answers with these outcomes, one after the other; an error is thrown. */
function scripted(...outcomes: readonly (Response | Error)[]): {
  readonly effects: SendEffects;
  readonly sent: { key: string | null; body: string }[];
  readonly waits: number[];
} {
  const sent: { key: string | null; body: string }[] = [];
  const waits: number[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    const outcome = outcomes[sent.length];
    sent.push({ key: request.headers.get('idempotency-key'), body: await request.text() });
    if (outcome === undefined || outcome instanceof Error) throw outcome ?? new Error('nothing more is scripted');
    return outcome;
  };
  return { effects: { fetch, random: () => 1, wait: async (ms) => void waits.push(ms) }, sent, waits };
}

describe('sending', () => {
  it('repeats a POST with the same key and body until it is answered', async () => {
    const { effects, sent, waits } = scripted(
      new Error('reset'),
      Response.json({}, { status: 503, headers: { 'retry-after': '2' } }),
      Response.json({ made: 1 }, { status: 201 }),
    );
    const response = await sender(options, effects)(post('{"a":1}'));
    expect([response.status, await response.json()]).toEqual([201, { made: 1 }]);
    expect(waits).toEqual([500, 2_000]);
    expect(sent.map(({ body }) => body)).toEqual(['{"a":1}', '{"a":1}', '{"a":1}']);
    expect(new Set(sent.map(({ key }) => key)).size).toBe(1);
    expect(sent[0]?.key).toMatch(/^[\da-f-]{36}$/);
  });

  it('repeats an answer that breaks off in the middle', async () => {
    const cut = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error('cut off')) });
    const { effects, sent } = scripted(new Response(cut, { headers: json }), Response.json({ whole: true }));
    expect(await (await sender(options, effects)(post('{}'))).json()).toEqual({ whole: true });
    expect(sent).toHaveLength(2);
  });

  it('takes the key that it is given', async () => {
    const { effects, sent } = scripted(Response.json({}));
    await sender(options, effects)(post('{}', { ...json, 'idempotency-key': 'order-4711' }));
    expect(sent.map(({ key }) => key)).toEqual(['order-4711']);
  });

  it('neither repeats an upload nor gives it a key', async () => {
    const form = new FormData();
    form.append('file', new Blob(['x']), 'x.txt');
    const { effects, sent } = scripted(new Error('reset'), Response.json({}));
    await expect(sender(options, effects)(post(form, {}))).rejects.toMatchObject({ code: 'no_answer' });
    expect(sent.map(({ key }) => key)).toEqual([null]);
  });

  it('says what to do where nothing answers', async () => {
    const { effects, sent } = scripted(new Error('refused'));
    const failed = sender(options, effects)(new Request('https://parley.example.com/v2/ai-agents?page_size=1'));
    await expect(failed).rejects.toThrow(
      'GET /v2/ai-agents: no answer from https://parley.example.com: check the url of the client, and that the API can be reached from here',
    );
    await expect(failed).rejects.toBeInstanceOf(ParleyError);
    expect(sent).toHaveLength(3);
  });

  it('ends an attempt that takes too long, and repeats it', async () => {
    let attempts = 0;
    const fetch = (_: Request, { signal }: RequestInit): Promise<Response> =>
      new Promise((_resolve, reject) => {
        attempts += 1;
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
      });
    const failed = sender({ ...options, timeoutMs: 1 }, { fetch, random: () => 0, wait: async () => undefined })(post('{}'));
    await expect(failed).rejects.toMatchObject({ code: 'timeout', cure: 'try again later, or raise timeoutMs' });
    expect(attempts).toBe(3);
  });

  it('ends at once when its caller does, also while it waits', async () => {
    const controller = new AbortController();
    const { effects } = scripted(Response.json({}, { status: 503 }));
    const wait = async (_ms: number, signal: AbortSignal): Promise<void> => {
      controller.abort(new Error('no longer needed'));
      signal.throwIfAborted();
    };
    const request = new Request('https://parley.example.com/x', { signal: controller.signal });
    await expect(sender(options, { ...effects, wait })(request)).rejects.toThrow('no longer needed');
  });
});
