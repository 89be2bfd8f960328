import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Block, TableBlock, TextBlock } from '../parsing/block.ts';
import { chunkBlocks, type ChunkOptions } from './chunk-blocks.ts';
import type { Chunk } from './chunk.ts';
import { LONGEST_GRAPHEME } from './graphemes.ts';
import { countTokens } from './tokens.ts';

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

async function chunksOf(blocks: readonly Block[], options: ChunkOptions = {}): Promise<readonly Chunk[]> {
  return all(chunkBlocks(blocks, options));
}

async function all(chunks: AsyncIterable<Chunk>): Promise<readonly Chunk[]> {
  const found: Chunk[] = [];
  for await (const chunk of chunks) found.push(chunk);
  return found;
}

function paragraph(text: string, headingPath: readonly string[] = [], place: Partial<TextBlock> = {}): TextBlock {
  return { kind: 'paragraph', text, headingPath, ...place };
}

function heading(text: string, above: readonly string[] = [], place: Partial<TextBlock> = {}): TextBlock {
  return { kind: 'heading', text, headingPath: [...above, text], ...place };
}

function solid(text: string): string {
  return text.replaceAll(/\s+/g, '');
}

/** Texts with Bangla conjuncts, joined emoji, flags, marks on letters and on spaces, scripts without spaces, and an endless word. */
const writing = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom('word', 'Sentence ends here.', 'কী?', 'ক্ষমতা', 'স্ত্রী', 'বাংলাদেশের।', '我想退货。', 'ขอคืนเงิน', '\n'),
  },
  { weight: 2, arbitrary: fc.constantFrom('👨‍👩‍👧‍👦', '🇧🇩', '🇧🇩🇧🇩', '👍🏽', 'e\u0301\u0323', ' \u0301', 'x\u200d', '각', '<|endoftext|>') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 12 }) },
  { weight: 1, arbitrary: fc.constantFrom('ab'.repeat(400), 'স্ত্রী'.repeat(60), '🇧🇩'.repeat(50), '-'.repeat(300)) },
);
const prose = fc
  .tuple(fc.array(writing, { minLength: 1, maxLength: 40 }), fc.constantFrom(' ', '', ' '))
  .map(([parts, separator]) =>
    parts
      .join(separator)
      .normalize('NFC')
      .replaceAll(/[\p{Cc}--[\n\t]]/gv, '')
      .trim(),
  )
  .filter((text) => text !== '' && !/^\p{M}/u.test(text));
const sections = fc.array(fc.tuple(fc.constantFrom('A', 'B', 'A/1', 'A/2'), fc.array(prose, { maxLength: 4 })), {
  minLength: 1,
  maxLength: 5,
});

function toBlocks(parts: readonly (readonly [string, readonly string[]])[]): readonly TextBlock[] {
  return parts.flatMap(([path, texts]) => {
    const headingPath = path.split('/');
    return [heading(headingPath.at(-1) ?? '', headingPath.slice(0, -1)), ...texts.map((text) => paragraph(text, headingPath))];
  });
}

describe('any document', () => {
  it('is in its chunks, all of it, once and in order, none of them longer than allowed', async () => {
    await fc.assert(
      fc.asyncProperty(sections, fc.constantFrom(30, 80, 400), async (parts, maxTokens) => {
        const blocks = toBlocks(parts);
        const chunks = await chunksOf(blocks, { maxTokens, overlapTokens: 0 });
        expect(solid(chunks.map(({ text }) => text).join(''))).toBe(solid(blocks.map(({ text }) => text).join('')));
        expect(chunks.map(({ ordinal }) => ordinal)).toEqual(chunks.map((_, index) => index));
        for (const { tokens, text } of chunks) {
          expect(tokens).toBe(countTokens(text));
          expect(tokens <= maxTokens || [...graphemes.segment(text)].length === 1, `${tokens} tokens: ${text}`).toBe(true);
          expect(text).not.toBe('');
        }
      }),
      { numRuns: 150 },
    );
  });

  it('is no longer than allowed either where a sentence has more tokens without the space before it', async () => {
    const sentence = ' স্ত্রী \u{40000}\u{10000}\u{10000}\u{10000}\u{10000}ⅴ 🇧🇩 Sentence ends here.';
    expect([countTokens(sentence), countTokens(sentence.trim())]).toEqual([30, 31]);
    const chunks = await chunksOf([paragraph(`👨‍👩‍👧‍👦 \n${sentence}\nMore words follow.`)], { maxTokens: 30, overlapTokens: 0 });
    expect(chunks.map(({ text, tokens }) => [text, tokens <= 30])).toEqual([
      ['👨‍👩‍👧‍👦', true],
      [sentence.trim().slice(0, -1), true],
      ['.\nMore words follow.', true],
    ]);
  });

  it('is never cut inside a grapheme, with overlap or without', async () => {
    await fc.assert(
      fc.asyncProperty(prose, fc.constantFrom(0, 10), async (text, overlapTokens) => {
        const chunks = await chunksOf([paragraph(text)], { maxTokens: 30, overlapTokens });
        const starts = new Set([...graphemes.segment(text)].map(({ index }) => index)).add(text.length);
        let from = 0;
        for (const chunk of chunks) {
          const start = startOf(chunk.text, text, starts, from);
          expect(start, JSON.stringify({ chunk: chunk.text, text })).toBeGreaterThanOrEqual(0);
          from = overlapTokens === 0 ? start + chunk.text.length : start + 1;
        }
      }),
      { numRuns: 300 },
    );
  });

  it('gives the same chunks each time, from a stream as well', async () => {
    await fc.assert(
      fc.asyncProperty(sections, async (parts) => {
        const blocks = toBlocks(parts);
        const chunks = await chunksOf(blocks, { maxTokens: 60, title: 'Manual' });
        async function* stream(): AsyncGenerator<Block> {
          for (const block of blocks) yield await Promise.resolve(block);
        }
        expect(await all(chunkBlocks(stream(), { maxTokens: 60, title: 'Manual' }))).toEqual(chunks);
      }),
      { numRuns: 50 },
    );
  });
});

/** Returns the first place of a chunk in its text, from a position on, at which both of its ends are grapheme breaks; -1 for none. */
function startOf(chunk: string, text: string, breaks: ReadonlySet<number>, from: number): number {
  for (let start = text.indexOf(chunk, from); start >= 0; start = text.indexOf(chunk, start + 1)) {
    if (breaks.has(start) && breaks.has(start + chunk.length)) return start;
  }
  return -1;
}

describe('sections', () => {
  it('stay apart, each chunk with the path of its own', async () => {
    const chunks = await chunksOf(
      [
        heading('Returns'),
        paragraph('Within seven days.', ['Returns'], { page: 1 }),
        heading('Exceptions', ['Returns']),
        paragraph('Not for food.', ['Returns', 'Exceptions'], { page: 2 }),
        paragraph('Nor for books.', ['Returns', 'Exceptions'], { page: 3 }),
        heading('Delivery'),
        paragraph('In two days.', ['Delivery']),
      ],
      { title: 'Shop rules' },
    );
    expect(chunks.map(({ text, headingPath }) => [text, headingPath.join('/')])).toEqual([
      ['Returns\nWithin seven days.', 'Returns'],
      ['Exceptions\nNot for food.\n\nNor for books.', 'Returns/Exceptions'],
      ['Delivery\nIn two days.', 'Delivery'],
    ]);
    expect(chunks.map((chunk) => chunk.indexedText.split('\n')[0])).toEqual(['Shop rules', 'Shop rules > Returns', 'Shop rules']);
    expect(chunks[1]?.page).toBe(2);
  });

  it('takes headings without text to the section that they lead to, and only there', async () => {
    const chunks = await chunksOf([
      heading('Part I'),
      heading('Empty', ['Part I']),
      heading('Part II'),
      heading('Chapter', ['Part II']),
      paragraph('Text.', ['Part II', 'Chapter']),
      heading('Last'),
    ]);
    expect(chunks.map(({ text, headingPath }) => [text, headingPath.join('/')])).toEqual([
      ['Part I\nEmpty', 'Part I'],
      ['Part II\nChapter\nText.', 'Part II/Chapter'],
      ['Last', 'Last'],
    ]);
  });

  it('puts the path before every chunk of a long section', async () => {
    const text = Array.from({ length: 60 }, (_, index) => `Sentence number ${index} says something of its own.`).join(' ');
    const chunks = await chunksOf([heading('Rules'), paragraph(text, ['Rules'])], { maxTokens: 100, title: 'Book' });
    expect(chunks.length).toBeGreaterThan(5);
    expect(chunks.slice(1).every(({ indexedText }) => indexedText.startsWith('Book > Rules\n'))).toBe(true);
    expect(chunks[0]?.indexedText.startsWith('Book\nRules\nSentence number 0')).toBe(true);
  });

  it('keeps two pages of a website apart that have the same headings', async () => {
    const chunks = await chunksOf([
      paragraph('One.', [], { url: 'https://a.example/1' }),
      paragraph('Two.', [], { url: 'https://a.example/2' }),
    ]);
    expect(chunks.map(({ url }) => url)).toEqual(['https://a.example/1', 'https://a.example/2']);
  });
});

describe('long paragraphs', () => {
  it('are cut between sentences, each piece starting with the end of the one before', async () => {
    const sentences = Array.from({ length: 100 }, (_, index) => `এটি ${index} নম্বর বাক্য যা আলাদা।`);
    const chunks = await chunksOf([paragraph(sentences.join(' '))], { maxTokens: 120, overlapTokens: 40, language: 'bn' });
    expect(chunks.length).toBeGreaterThan(5);
    for (const [index, { text }] of chunks.entries()) {
      expect(text.endsWith('।')).toBe(true);
      const before = chunks[index - 1];
      if (before === undefined) continue;
      const [first = ''] = text.split('।');
      expect(before.text).toContain(first.trim());
    }
  });

  it('overlap by words where a sentence is longer than the overlap', async () => {
    const text = Array.from({ length: 900 }, (_, index) => `word${index}`).join(' ');
    const chunks = await chunksOf([paragraph(text)], { maxTokens: 100, overlapTokens: 20 });
    for (const [index, chunk] of chunks.entries()) {
      const last = chunks[index - 1]?.text.split(' ').at(-1);
      if (last !== undefined) expect(chunk.text.split(' ')).toContain(last);
      expect(chunk.text).toMatch(/^(word\d+ )*word\d+$/);
    }
  });

  it('keep code whole where it fits, and cut it between lines where not', async () => {
    const code = (lines: number): string =>
      Array.from({ length: lines }, (_, index) => `  const value${index} = compute(${index});`).join('\n');
    const chunks = await chunksOf([paragraph('Some words. '.repeat(60)), { kind: 'code', text: code(20), headingPath: [] }], {
      maxTokens: 300,
    });
    expect(chunks.some(({ text }) => text === code(20) || text.endsWith(`\n\n${code(20)}`))).toBe(true);
    const cut = await chunksOf([{ kind: 'code', text: code(200), headingPath: [] }], { maxTokens: 300 });
    expect(cut.length).toBeGreaterThan(3);
    expect(cut.flatMap(({ text }) => text.split('\n').map((line) => line.trim()))).toEqual(
      code(200)
        .split('\n')
        .map((line) => line.trim()),
    );
  });

  it('take a megabyte without a space, and a grapheme of a megabyte', async () => {
    for (const text of ['ab1'.repeat(350_000), 'ক্ষ'.repeat(100_000), `e${'\u0301'.repeat(300_000)}`]) {
      const chunks = await chunksOf([paragraph(text)], { overlapTokens: 0 });
      expect(solid(chunks.map((chunk) => chunk.text).join(''))).toBe(text);
      expect(Math.max(...chunks.map((chunk) => chunk.text.length))).toBeLessThanOrEqual(Math.max(4_000, LONGEST_GRAPHEME * 2));
    }
  });
});

const cell = fc.oneof(
  fc.constantFrom('', '12', 'Bolt M6', 'বাংলা লেখা', '3,50 €', 'a\nb'),
  fc.constantFrom('long '.repeat(120).trim(), 'x'.repeat(2_500)),
);
const table = fc
  .record({
    columns: fc.integer({ min: 1, max: 6 }),
    rows: fc.array(fc.array(cell, { maxLength: 6 }), { maxLength: 25 }),
    firstRow: fc.integer({ min: 1, max: 20_000 }),
  })
  .map(({ columns, rows, firstRow }): TableBlock => ({
    kind: 'table',
    header: Array.from({ length: columns }, (_, index) => `Column ${'ABCDEF'[index] ?? ''}`),
    rows: rows.map((row) => row.slice(0, columns)),
    firstRow,
    headingPath: [],
  }));

describe('tables', () => {
  it('have their header in every chunk, every value in order and the right numbers of rows', async () => {
    await fc.assert(
      fc.asyncProperty(table, async (block) => {
        const chunks = await chunksOf([block], { maxTokens: 80, overlapTokens: 0 });
        expect(chunks.every(({ text }) => text.startsWith(block.header.join(' | ')))).toBe(true);
        expect(chunks.every(({ tokens }) => tokens <= 80)).toBe(true);
        const values = chunks
          .flatMap(({ text }) => text.split('\n').slice(1))
          .join('')
          .replaceAll(/[|\s]/g, '');
        expect(values).toBe(solid(block.rows.flat().join('')));
        let last = block.firstRow - 1;
        for (const { rows } of chunks) {
          if (rows === undefined) continue;
          expect(rows.first).toBeGreaterThanOrEqual(last);
          expect(rows.last).toBeGreaterThanOrEqual(rows.first);
          last = rows.last;
        }
        expect(last).toBeLessThanOrEqual(block.firstRow + block.rows.length - 1);
      }),
      { numRuns: 100 },
    );
  });

  it('stay with the paragraph that announces them where they fit', async () => {
    const chunks = await chunksOf([
      paragraph('Prices are:'),
      {
        kind: 'table',
        header: ['Item', 'Price'],
        rows: [
          ['Bolt', '2'],
          ['Nut', '1'],
        ],
        firstRow: 1,
        headingPath: [],
      },
    ]);
    expect(chunks.map(({ text, rows }) => ({ text, rows }))).toEqual([
      { text: 'Prices are:\n\nItem | Price\nBolt | 2\nNut | 1', rows: { first: 1, last: 2 } },
    ]);
  });

  it('show a header that fills a chunk once, and rows without a header as they are', async () => {
    const header = Array.from({ length: 100 }, (_, index) => `Measured quantity number ${index}`);
    const chunks = await chunksOf([{ kind: 'table', header, rows: [['1'], ['2']], firstRow: 1, headingPath: [] }], {
      maxTokens: 100,
      overlapTokens: 0,
    });
    expect(solid(chunks.map(({ text }) => text).join(''))).toBe(solid(`${header.join(' | ')} 1 2`));
    const [bare] = await chunksOf([{ kind: 'table', header: [], rows: [['1', '2']], firstRow: 1, headingPath: [] }]);
    expect(bare?.text).toBe('1 | 2');
  });
});

describe('sheets', () => {
  it('name the column of every value and the rows that they come from', async () => {
    const rows = Array.from({ length: 2_000 }, (_, index) => [`SKU-${index}`, '', String(index * 3)]);
    const blocks = Array.from({ length: 4 }, (_, part): TableBlock => ({
      kind: 'table',
      header: ['Code', 'Note', 'Price'],
      rows: rows.slice(part * 500, (part + 1) * 500),
      firstRow: 2 + part * 500,
      headingPath: [],
      sheet: 'Prices 2026',
    }));
    const chunks = await chunksOf(blocks);
    expect(chunks[0]?.text).toMatch(/^Sheet Prices 2026, rows 2-\d+\nColumns: Code \| Note \| Price\nCode: SKU-0; Price: 0\n/);
    expect(chunks.filter(({ text }) => text.includes('Columns:'))).toHaveLength(1);
    let next = 2;
    for (const chunk of chunks) {
      const { first = 0, last = 0 } = chunk.rows ?? {};
      expect(first).toBe(next);
      next = last + 1;
      const lines = chunk.text.split('\n').filter((line) => line.startsWith('Code:'));
      expect(lines).toEqual(rows.slice(first - 2, last - 1).map(([code, , price]) => `Code: ${code}; Price: ${price}`));
      expect(chunk.text.startsWith(`Sheet Prices 2026, rows ${first}-${last}\n`)).toBe(true);
      expect(chunk.tokens).toBeLessThanOrEqual(400);
      expect(chunk.sheet).toBe('Prices 2026');
    }
    expect(next).toBe(2_002);
  });

  it('have a row and a cell cut that are longer than a chunk, the column named in every piece', async () => {
    const story = Array.from({ length: 300 }, (_, index) => `Sentence ${index} of the story.`).join(' ');
    const chunks = await chunksOf(
      [
        {
          kind: 'table',
          header: ['Id', 'Story'],
          rows: [
            ['7', story],
            ['8', 'short'],
          ],
          firstRow: 5,
          headingPath: [],
          sheet: 'S',
        },
      ],
      { maxTokens: 120, overlapTokens: 0 },
    );
    expect(chunks.every(({ tokens }) => tokens <= 120)).toBe(true);
    const pieces = chunks.filter(({ text }) => text.includes('Story: Sentence'));
    expect(pieces.length).toBeGreaterThan(10);
    expect(pieces.every(({ rows }) => rows?.first === 5)).toBe(true);
    const texts = pieces.flatMap(({ text }) =>
      text
        .split('\n')
        .filter((line) => line.startsWith('Story: '))
        .map((line) => line.slice('Story: '.length)),
    );
    expect(texts.join(' ')).toContain(story.slice(0, 200));
    expect(solid(texts.join(''))).toContain(solid(story));
    expect(chunks.at(-1)?.text).toContain('Id: 8; Story: short');
  });

  it('show the columns of a sheet without rows', async () => {
    const [chunk] = await chunksOf([{ kind: 'table', header: ['A', 'B'], rows: [], firstRow: 2, headingPath: [], sheet: 'Empty' }]);
    expect(chunk?.text).toBe('Columns: A | B');
    expect(chunk?.rows).toBeUndefined();
  });
});

it('puts a dash in front of list items that have no mark of their own', async () => {
  const items = [
    'Milk',
    '3. Press reset',
    '§ 4 Fees',
    '4.2 A late payment',
    '(a) for the first',
    '☑ Tea',
    '• Bread',
    '2 eggs',
    '１．２ 電線',
    '（２）卵',
    '③茶',
  ];
  const chunks = await chunksOf(items.map((text) => ({ kind: 'listItem' as const, text, headingPath: [] })));
  expect(chunks.map(({ text }) => text)).toEqual([
    '- Milk\n3. Press reset\n§ 4 Fees\n4.2 A late payment\n(a) for the first\n☑ Tea\n• Bread\n- 2 eggs\n１．２ 電線\n（２）卵\n③茶',
  ]);
});
