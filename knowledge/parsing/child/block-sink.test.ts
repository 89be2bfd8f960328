import { expect, it } from 'vitest';

import { BlockSink } from './block-sink.ts';

it('keeps warnings that quote a file as one line that Postgres takes', () => {
  const sink = new BlockSink({ limits: { textBytes: 1, blocks: 1, cells: 1 } as never, send: () => undefined });
  sink.warn(`sheet "${'a\0b\nc😀'.slice(0, 6)}" is hidden`);
  expect(sink.warnings).toEqual(['sheet "ab c\ufffd" is hidden']);
});
