import { Readable } from 'node:stream';

import fc from 'fast-check';
import { expect, it } from 'vitest';

import { countTurns } from '../../../test/support/count-turns.ts';
import type { BulkEntry } from './entry.ts';
import { toBulkEntry, lineEntries } from './line-entries.ts';

const line = (value: unknown) => ({ bytes: Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)) });

it('keeps every byte of a file, as text or in Base64', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.string({ unit: 'grapheme' }), (bytes, text) => {
      const ofBytes = toBulkEntry(line({ name: 'a.txt', content_base64: Buffer.from(bytes).toString('base64') }), 3);
      const ofText = toBulkEntry(line({ name: 'a.txt', content: text }), 4);
      expect(ofBytes).toMatchObject({ index: 3, name: 'a.txt', file: { filename: 'a.txt', extension: 'txt', metadata: {} } });
      expect('file' in ofBytes && Buffer.from(ofBytes.file.content as Buffer).equals(Buffer.from(bytes))).toBe(true);
      expect('file' in ofText && (ofText.file.content as Buffer).toString()).toBe(text);
    }),
  );
});

it('answers any line with an entry or a reason, and never throws', () => {
  const any = fc.oneof(
    fc.json(),
    fc.string(),
    fc.record({ name: fc.anything(), content: fc.anything(), metadata: fc.anything() }).map((value) => {
      try {
        return JSON.stringify(value) ?? '';
      } catch {
        return '';
      }
    }),
  );
  fc.assert(
    fc.property(any, (text) => {
      const entry = toBulkEntry({ bytes: Buffer.from(text) }, 0);
      if ('failure' in entry) expect(entry.failure.message).not.toBe('');
      else expect(entry.file.filename).not.toBe('');
    }),
    { numRuns: 500 },
  );
});

it('names the field that is wrong, and what nothing reads', () => {
  expect(toBulkEntry(line({ name: 5, content: 'a' }), 0)).toMatchObject({ failure: { message: expect.stringContaining('name') } });
  expect(toBulkEntry(line({ name: 'a.md', contents: 'a' }), 0)).toMatchObject({
    failure: { code: 'bad_request', message: expect.stringContaining('content') },
  });
  expect(toBulkEntry(line({ name: 'a.md', content: 'a', contents: 'a' }), 0)).toMatchObject({
    warnings: [expect.stringContaining('contents')],
  });
  expect(toBulkEntry(line({ name: 'a.md', content: '', idempotency_key: 'x'.repeat(201) }), 0)).toMatchObject({
    failure: { message: expect.stringContaining('idempotency_key') },
  });
  expect(toBulkEntry(line({ name: 'a.md', content: 'a', content_base64: null, metadata: null, idempotency_key: null }), 0)).toMatchObject({
    file: { metadata: {}, idempotencyKey: undefined },
  });
});

const entriesOf = (body: string): Promise<readonly BulkEntry[]> =>
  Readable.from(lineEntries([Buffer.from(body)] as unknown as AsyncIterable<Uint8Array>)).toArray();

it('are read in slices, empty lines too', async () => {
  const bodies = {
    bad: '{"title": "x"}\n'.repeat(90),
    pictures: '{"name": "x.png", "content": ""}\n'.repeat(1_000),
    empty: '\n'.repeat(1_000),
  };
  for (const [name, body] of Object.entries(bodies))
    expect(await countTurns(() => entriesOf(body)), name).toBeGreaterThanOrEqual(body.split('\n').length - 1);
});

it('are not read any more after a hundred that can not be used', async () => {
  const [bad, good, picture] = ['[]\n', '{"name": "a.md", "content": "a"}\n', '{"name": "a.png", "content": "a"}\n'];
  const entries = await entriesOf(bad.repeat(99) + good + bad.repeat(100) + good + good);
  expect(entries).toHaveLength(201);
  expect(entries[200]).toMatchObject({
    index: 200,
    failure: { code: 'bad_request', message: expect.stringContaining('100 lines before') },
  });
  expect(await entriesOf(bad.repeat(100))).toHaveLength(100);
  expect(await entriesOf(picture.repeat(300) + good)).toHaveLength(301);
});
