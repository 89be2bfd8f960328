import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';

import { describe, expect, it } from 'vitest';

import { MAX_ANSWER_LENGTH, MAX_ANSWER_BYTES, readAnswer } from './answer.ts';
import { Redaction } from './redaction.ts';

const none = new Redaction([]);

function received(body: string | Buffer, headers: Record<string, string> = {}, truncated = false) {
  return { body: Buffer.from(body), headers, truncated };
}

const json = { 'content-type': 'application/json; charset=utf-8' };

describe('readAnswer', () => {
  it('reads JSON, also where the server calls it something else', async () => {
    expect(await readAnswer(received('{"a": [1, null, "ü"]}', json), none)).toEqual({ kind: 'json', value: { a: [1, null, 'ü'] } });
    expect(await readAnswer(received(' [1]', { 'content-type': 'text/plain' }), none)).toEqual({ kind: 'json', value: [1] });
    expect(await readAnswer(received('"x"', { 'content-type': 'application/problem+json' }), none)).toEqual({ kind: 'json', value: 'x' });
  });

  it('keeps every digit of long numbers', async () => {
    const answer = await readAnswer(received('{"id": 12345678901234567890, "n": 1234567890123456, "f": 0.125}', json), none);
    expect(answer).toEqual({ kind: 'json', value: { id: '12345678901234567890', n: 1234567890123456, f: 0.125 } });
  });

  it('says when JSON is broken, and when it never claimed to be some', async () => {
    expect(await readAnswer(received('{"a": ', json), none)).toEqual({ kind: 'text', text: '{"a": ', cut: false, broken: true });
    expect(await readAnswer(received('{"a": ', { 'content-type': 'text/html' }), none)).toMatchObject({ kind: 'text', broken: false });
  });

  it('hands on what is nested without end as text', async () => {
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    expect(await readAnswer(received(deep, json), none)).toEqual({ kind: 'text', text: deep, cut: false, broken: false });
  });

  it('knows nothing from what it cannot read', async () => {
    expect(await readAnswer(received(''), none)).toEqual({ kind: 'none' });
    expect(await readAnswer(received('x', { 'content-type': 'image/png' }), none)).toMatchObject({
      kind: 'unreadable',
      why: expect.stringContaining('image/png'),
    });
    expect(await readAnswer(received('a\0b'), none)).toMatchObject({ kind: 'unreadable' });
    expect(await readAnswer(received('x', { 'content-encoding': 'zstd' }), none)).toMatchObject({ kind: 'unreadable' });
    expect(await readAnswer(received('no gzip at all', { 'content-encoding': 'gzip' }), none)).toMatchObject({ kind: 'unreadable' });
    expect(await readAnswer(received('x', { 'content-type': 'text/plain; charset=nonsense' }), none)).toMatchObject({ kind: 'unreadable' });
  });

  it('reads other charsets', async () => {
    expect(
      await readAnswer(received(Buffer.from([0x67, 0x72, 0xfc, 0xdf]), { 'content-type': 'text/plain; charset="latin1"' }), none),
    ).toMatchObject({
      text: 'grüß',
    });
  });

  it.each([
    ['gzip', gzipSync],
    ['br', brotliCompressSync],
    ['deflate', deflateSync],
    ['deflate', deflateRawSync],
  ] as const)('undoes %s, as far as it reaches', async (coding, compress) => {
    const whole = await readAnswer(received(compress(Buffer.from('{"a":1}')), { ...json, 'content-encoding': coding }), none);
    expect(whole).toEqual({ kind: 'json', value: { a: 1 } });
    const bomb = await readAnswer(
      received(compress(Buffer.alloc(50_000_000, 'x')), { 'content-type': 'text/plain', 'content-encoding': coding }),
      none,
    );
    expect(bomb).toMatchObject({ kind: 'text', cut: true });
    expect((bomb as { text: string }).text.length).toBeLessThanOrEqual(MAX_ANSWER_LENGTH);
  });

  it('reads the beginning of a compressed answer that was cut off on the way', async () => {
    const noise = Array.from({ length: 40_000 }, (_, n) => Math.sin(n).toString(36)).join('');
    const beginning = gzipSync(noise).subarray(0, MAX_ANSWER_BYTES);
    const answer = await readAnswer(received(beginning, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }, true), none);
    expect(answer).toMatchObject({ kind: 'text', cut: true });
    expect(noise.startsWith((answer as { text: string }).text)).toBe(true);
    expect((answer as { text: string }).text.length).toBe(MAX_ANSWER_LENGTH);
  });

  it('counts what the model gets, with all that JSON adds to it', async () => {
    for (const answer of [
      await readAnswer(received('"'.repeat(60_000), { 'content-type': 'text/plain' }), none),
      await readAnswer(received(`{"a":"${'\\"'.repeat(50_000)}"}`, json), none),
      await readAnswer(received('😀'.repeat(30_000), { 'content-type': 'text/plain' }), none),
    ]) {
      expect(answer).toMatchObject({ kind: 'text', cut: true });
      const told = JSON.stringify((answer as { text: string }).text);
      expect(Buffer.byteLength(told)).toBeLessThanOrEqual(MAX_ANSWER_LENGTH + 2);
      expect(Buffer.byteLength(told)).toBeGreaterThan(MAX_ANSWER_LENGTH - 8);
      expect(told).not.toMatch(/\\ud8/);
    }
    const longer = `[${'1e20,'.repeat(10_000)}1]`;
    expect(await readAnswer(received(longer, json), none)).toEqual({ kind: 'text', text: longer, cut: false, broken: false });
  });

  it('cuts between characters, and never in the middle of a secret', async () => {
    const umlauts = await readAnswer(received('ü'.repeat(40_000), { 'content-type': 'text/plain' }), none);
    expect(umlauts).toEqual({ kind: 'text', text: 'ü'.repeat(MAX_ANSWER_LENGTH / 2), cut: true, broken: false });
    const secret = 'sk-0123456789abcdef';
    const redaction = new Redaction([secret]);
    for (let before = MAX_ANSWER_LENGTH - 30; before <= MAX_ANSWER_LENGTH + 10; before += 1) {
      const text = 'x'.repeat(before) + secret.repeat(3);
      for (const truncatedAt of [text.length, before + 5, before + secret.length - 1]) {
        const cut = truncatedAt < text.length;
        const answer = await readAnswer(received(text.slice(0, truncatedAt), { 'content-type': 'text/plain' }, cut), redaction);
        expect((answer as { text: string }).text).not.toContain('sk-0');
      }
    }
  });
});
