import { expect, it } from 'vitest';

import { FakeClock } from '../../test/support/fake-clock.ts';
import { OcrError, type PageReader } from '../ocr/page-reader.ts';
import type { Block, PagePicture, ParsedBlock, ParsedDocument } from '../parsing/index.ts';
import { recognisePages } from './recognise-pages.ts';

const picture = (page: number, reason: PagePicture['reason'] = 'empty'): PagePicture => ({
  kind: 'picture',
  page,
  reason,
  png: Buffer.from(`page ${page}`).toString('base64'),
  total: 9,
  headingPath: ['Rules'],
});
const written = (text: string): Block => ({ kind: 'paragraph', text, headingPath: [] });

async function* parsed(...parts: readonly (readonly ParsedBlock[])[]): AsyncGenerator<readonly ParsedBlock[], ParsedDocument> {
  yield* parts;
  return { pages: 9, warnings: ['left out: hidden text'] };
}

interface Reading {
  readonly read?: PageReader['read'];
  readonly concurrency?: number;
  readonly clock?: FakeClock;
  readonly onPage?: (progress: { readonly done: number; readonly total: number }) => Promise<void>;
}

/** Collects the result of a document: its texts with their pages, and its warnings. */
async function outcome(parts: AsyncGenerator<readonly ParsedBlock[], ParsedDocument>, reading: Reading = {}) {
  const { read = async (png) => ({ markdown: `text of ${png.toString()}` }), concurrency = 2, clock = new FakeClock() } = reading;
  const pages = recognisePages(parts, {
    reader: { maxPages: 50, concurrency, documentTimeoutMs: 60_000, read },
    readMarkdown: async (text) => [written(text)],
    signal: new AbortController().signal,
    clock,
    onPage: reading.onPage,
  });
  const blocks: Block[] = [];
  for (;;) {
    const next = await pages.next();
    if (next.done === true) return { blocks, warnings: next.value.warnings };
    blocks.push(...next.value);
  }
}

it('puts the text of pictures into their places, whichever is read first', async () => {
  const waiting: (() => void)[] = [];
  const read: PageReader['read'] = async (png) => {
    const text = png.toString();
    if (text === 'page 2') await new Promise<void>((resolve) => waiting.push(resolve));
    else for (const go of waiting.splice(0)) go();
    return { markdown: text };
  };
  const { blocks, warnings } = await outcome(parsed([written('one')], [picture(2)], [picture(3)], [written('four')]), { read });
  expect(blocks).toEqual([
    written('one'),
    { kind: 'paragraph', text: 'page 2', page: 2, headingPath: ['Rules'] },
    { kind: 'paragraph', text: 'page 3', page: 3, headingPath: ['Rules'] },
    written('four'),
  ]);
  expect(warnings).toEqual([
    'left out: hidden text',
    'text of pages 2-3 was recognised from pictures (OCR): check names and numbers that matter',
  ]);
});

it('reads as many pages at the same time as it may', async () => {
  let running = 0;
  let most = 0;
  const read: PageReader['read'] = async (png) => {
    most = Math.max(most, (running += 1));
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    running -= 1;
    return { blocks: [written(png.toString())] };
  };
  expect((await outcome(parsed(Array.from({ length: 9 }, (_, at) => picture(at + 1))), { read, concurrency: 3 })).blocks).toHaveLength(9);
  expect(most).toBe(3);
});

it('leaves a page that fails as it would be without, and names it with the reason', async () => {
  const read: PageReader['read'] = async (png) => {
    if (png.toString() === 'page 2') throw new OcrError('timeout', 'the server did not answer within 60000 ms');
    return { blocks: [written(png.toString())] };
  };
  const { blocks, warnings } = await outcome(parsed([written('one'), picture(2, 'illegible'), picture(3)]), { read });
  expect(blocks).toHaveLength(2);
  expect(warnings.slice(1)).toEqual([
    'text of pages 3 was recognised from pictures (OCR): check names and numbers that matter',
    'left out: pages whose fonts do not say which characters they show: 2; export it with another program, or have their text recognised (OCR)',
    'failed to recognise the text of pages 2: the server did not answer within 60000 ms',
  ]);
});

it.each([
  ['three pages in a row fail', 'unavailable', 3],
  ['the key is refused', 'unauthorized', 1],
] as const)('tries no further page once %s', async (_, why, asked) => {
  let count = 0;
  const read: PageReader['read'] = async () => {
    count += 1;
    throw new OcrError(why, 'no');
  };
  const pictures = Array.from({ length: 9 }, (__, at) => picture(at + 1));
  const { warnings } = await outcome(parsed([written('text')], pictures), { read, concurrency: 1 });
  expect(count).toBe(asked);
  expect(warnings.at(-1)).toBe('failed to recognise the text of pages 1-9: no');
});

it('begins no page after the time of a document', async () => {
  const clock = new FakeClock();
  const read: PageReader['read'] = async (png) => {
    await clock.advance(45_000);
    return { blocks: [written(png.toString())] };
  };
  const { blocks, warnings } = await outcome(parsed([1, 2, 3, 4].map((page) => picture(page))), { read, clock, concurrency: 1 });
  expect(blocks.map(({ page }) => page)).toEqual([1, 2]);
  expect(warnings.at(-1)).toBe('failed to recognise the text of pages 3-4: it took too long');
});

it('fails a document without any text, as it would be without, and says what recognition came to', async () => {
  const failing: PageReader['read'] = async () => {
    throw new OcrError('unavailable', 'the server answers 503');
  };
  await expect(outcome(parsed([picture(1)]), { read: failing })).rejects.toMatchObject({
    code: 'no_text_layer',
    message: expect.stringContaining('Here, failed to recognise the text of pages 1: the server answers 503.'),
  });
  await expect(outcome(parsed([picture(1)]), { read: async () => ({ markdown: ' \n' }) })).rejects.toMatchObject({
    code: 'no_text_layer',
    message: expect.stringContaining('found no text'),
  });
});

it('says how many pages are done, and ends with what that throws', async () => {
  const done: number[] = [];
  await outcome(parsed([picture(1), picture(2)]), { onPage: async (progress) => void done.push(progress.done / progress.total) });
  expect(done).toEqual([1 / 9, 2 / 9]);
  const gone = new Error('the document is deleted');
  await expect(outcome(parsed([picture(1), picture(2)]), { onPage: () => Promise.reject(gone) })).rejects.toBe(gone);
});
