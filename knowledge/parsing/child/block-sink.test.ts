import { expect, it } from 'vitest';

import { BlockSink } from './block-sink.ts';

it('keeps warnings that quote a file as one line that Postgres takes', () => {
  const sink = new BlockSink({ limits: { textBytes: 1, blocks: 1, cells: 1 } as never, send: () => undefined });
  sink.warn(`sheet "${'a\0b\nc😀'.slice(0, 6)}" is hidden`);
  expect(sink.warnings).toEqual(['sheet "ab c\ufffd" is hidden']);
});

it('takes a paragraph of characters without width for empty', () => {
  const sink = new BlockSink({ limits: { textBytes: 10, blocks: 1, cells: 1 } as never, send: () => undefined });
  const paragraph = { kind: 'paragraph', headingPath: [] } as const;
  sink.add({ ...paragraph, text: '\u200b \u2060\u200e\n\u200b' });
  expect(sink.isEmpty).toBe(true);
  sink.add({ ...paragraph, text: '\u200bx' });
  expect(sink.isEmpty).toBe(false);
});
