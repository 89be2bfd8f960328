import { afterAll, describe, expect, it } from 'vitest';

import { STRUCK_LEFT_OUT } from '../../left-out.ts';
import { ParserPool } from '../../parser-pool.ts';
import { read, texts } from '../../../../test/support/documents/read.ts';

const pool = new ParserPool({ size: 1 });
afterAll(() => pool.close());

describe('Markdown', () => {
  it('keeps headings, lists, quotes, code and tables with their places', async () => {
    const content = `---
title: The handbook
draft: true
---
# One

First *paragraph* with a [link](https://example.com) and \`code\`.\\
Next line.

## Two

- apples
- pears
  - conference

> said once

\`\`\`js
const a = 1;


# no heading
\`\`\`

### Three

| Name | Age |
| ---- | --: |
| Ann  | 5   |
| Bob \\| Bo | 6 |

## Four

বাংলা ক্ষুদ্র ঋণ<br>দ্বিতীয়
`;
    const { blocks, document } = await read(pool, { content, extension: 'md' });
    expect(document).toEqual({ title: 'The handbook', warnings: [] });
    expect(blocks).toEqual([
      { kind: 'heading', text: 'One', headingPath: ['One'] },
      { kind: 'paragraph', text: 'First paragraph with a link and code.\nNext line.', headingPath: ['One'] },
      { kind: 'heading', text: 'Two', headingPath: ['One', 'Two'] },
      { kind: 'listItem', text: 'apples', headingPath: ['One', 'Two'] },
      { kind: 'listItem', text: 'pears', headingPath: ['One', 'Two'] },
      { kind: 'listItem', text: 'conference', headingPath: ['One', 'Two'] },
      { kind: 'quote', text: 'said once', headingPath: ['One', 'Two'] },
      { kind: 'code', text: 'const a = 1;\n\n\n# no heading', headingPath: ['One', 'Two'] },
      { kind: 'heading', text: 'Three', headingPath: ['One', 'Two', 'Three'] },
      {
        kind: 'table',
        header: ['Name', 'Age'],
        rows: [
          ['Ann', '5'],
          ['Bob | Bo', '6'],
        ],
        firstRow: 1,
        headingPath: ['One', 'Two', 'Three'],
      },
      { kind: 'heading', text: 'Four', headingPath: ['One', 'Four'] },
      { kind: 'paragraph', text: 'বাংলা ক্ষুদ্র ঋণ দ্বিতীয়'.normalize('NFC'), headingPath: ['One', 'Four'] },
    ]);
  });

  it('reads long texts in pieces that lose nothing: headings, code and the numbers of rows go on', async () => {
    const rows = Array.from({ length: 3000 }, (_, at) => `| row ${at + 1} | ${at * 7} |`);
    const prose = Array.from({ length: 3000 }, (_, at) => `Paragraph ${at} says something of its own, and no other says it.`);
    const code = ['```', ...Array.from({ length: 3000 }, (_, at) => `line ${at};\n`), '```'];
    const content = [
      '# Top',
      ...prose,
      '## Table',
      '',
      `| name | value |\n|--|--|\n${rows.join('\n')}`,
      '## Code',
      code.join('\n'),
      'The end.',
    ].join('\n\n');
    const { blocks } = await read(pool, { content, extension: 'md' });
    const paragraphs = blocks.filter(({ kind }) => kind === 'paragraph');
    expect(paragraphs).toHaveLength(3001);
    expect(paragraphs[2999]).toMatchObject({ headingPath: ['Top'] });
    const tables = blocks.filter((block) => block.kind === 'table');
    expect(tables.flatMap((table) => table.rows.map((row, at) => `${table.firstRow + at}: ${row[0]}`))).toEqual(
      rows.map((_, at) => `${at + 1}: row ${at + 1}`),
    );
    expect(new Set(tables.map((table) => table.header.join()))).toEqual(new Set(['name,value']));
    const codeText = blocks.filter(({ kind }) => kind === 'code');
    expect(texts(codeText).join('\n')).toContain('line 2999;');
    expect(codeText.length).toBeLessThan(10);
    expect(blocks.at(-1)).toMatchObject({ text: 'The end.', headingPath: ['Top', 'Code'] });
  });

  it('warns of Bangla in an old font encoding', async () => {
    const bijoy = 'Avgvi †mvbvi evsjv, Avwg †Zvgvq fv‡jvevwm| wPiw`b †Zvgvi AvKvk, †Zvgvi evZvm, Avgvi cÖv‡Y evRvq evuwk|';
    expect((await read(pool, { content: bijoy, extension: 'txt' })).document.warnings).toEqual([
      expect.stringMatching(/^legacy_font_encoding/u),
    ]);
    expect((await read(pool, { content: 'Some English text† with a footnote‡ or two.', extension: 'txt' })).document.warnings).toEqual([]);
  });

  it('takes brackets that are nested without end for what they are, at once', async () => {
    const nested = `${'['.repeat(5000)}x${'](a)'.repeat(5000)}`;
    const { blocks } = await read(pool, {
      content: `# Links\n\nA [link with an ![image](b)](c).\n\n${nested}\n\nThe end.`,
      extension: 'md',
    });
    expect(texts(blocks).map((text) => text.slice(0, 30))).toEqual(['Links', 'A link with an image.', '['.repeat(30), 'The end.']);
    expect(texts(blocks)[2]).toBe(nested);
  });

  it.each([
    ['emphasis', '**a*'.repeat(5000)],
    ['stars on both sides', `${'*'.repeat(10_000)}a${'*'.repeat(10_000)}`],
    ['closing brackets', ']'.repeat(20_000)],
    ['lists in lists', `${'- '.repeat(10_000)}a`],
    ['lists in quotes', `${'> - '.repeat(5000)}a`],
  ])('takes a line full of marks for what it is: %s', async (_what, line) => {
    const { blocks } = await read(pool, { content: `# Marks\n\n- a **b**\n\n* * *\n\n${line}\n\nThe end.`, extension: 'md' });
    expect(texts(blocks).map((text) => text.slice(0, 9))).toEqual(['Marks', 'a b', line.slice(0, 9), 'The end.']);
  });

  it('has a title of one line that Postgres takes, cut between characters', async () => {
    const titled = async (title: string): Promise<unknown> =>
      (await read(pool, { content: `---\ntitle: "${title}"\n---\n\nHello`, extension: 'md' })).document;
    expect(await titled(String.raw`a\0b\n c`)).toEqual({ title: 'ab c', warnings: [] });
    expect(await titled(`${'x'.repeat(1023)}😀`)).toEqual({ title: `${'x'.repeat(1023)}\ufffd`, warnings: [] });
    expect(await titled(String.raw`\0`)).toEqual({ warnings: [] });
  });
});

describe('marks in Markdown that carry meaning', () => {
  const said = async (content: string): Promise<readonly string[]> => texts((await read(pool, { content, extension: 'md' })).blocks);

  it.each([
    [
      'days of a month',
      '24. Dezember: geschlossen\n\n31. Dezember: bis 14 Uhr\n\n2026. november 3. zárva',
      ['24. Dezember: geschlossen', '31. Dezember: bis 14 Uhr', '2026. november 3. zárva'],
    ],
    ['numbers of steps', '1. Plug in.\n2. Press.\n\n   Twice.\n3) Done.', ['1. Plug in.', '2. Press.', 'Twice.', '3) Done.']],
    ['numbers that Markdown counts', '1. One\n1. Two\n   1. Inner\n1. Three', ['1. One', '2. Two', '1. Inner', '3. Three']],
    ['ticks', '- [x] Breakfast\n- [ ] Parking\n- Bed', ['☑ Breakfast', '☐ Parking', 'Bed']],
    ['footnotes', 'The hall[^1] costs 300 euros.\n\n[^1]: Only in winter.', ['The hall[1] costs 300 euros.', '[1] Only in winter.']],
    [
      'words in angle brackets',
      'Dial <extension> and press #. Use git checkout <branch> too.',
      ['Dial <extension> and press #. Use git checkout <branch> too.'],
    ],
    ['words in angle brackets on a line of their own', '<serial-number>\n\nfollows.', ['<serial-number>', 'follows.']],
    [
      'links as they stand',
      'See https://example.com/a_b_c and <info@example.com>.',
      ['See https://example.com/a_b_c and info@example.com.'],
    ],
    ['raised text', '12<sup>99</sup> €, H<sub>2</sub>O, one<br>two', ['12.99 €, H2O, one two']],
    ['what opens by a click', '<details><summary>Do you rent?</summary>\n\nYes.\n\n</details>', ['Do you rent?', 'Yes.']],
  ])('are kept: %s', async (_, content, expected) => {
    expect(await said(content)).toEqual(expected);
  });

  it('take an angle bracket without an end for what it is, at once', async () => {
    const html = `<div>\n<${'a'.repeat(100_000)}\n</div>`;
    expect((await said(`${html}\n\nThe end.`)).at(-1)).toBe('The end.');
  });

  it('leave out what is struck through, and say so', async () => {
    const { blocks, document } = await read(pool, { content: 'Old price ~~120 euros~~ 99 euros, <s>3</s> 2 nights.', extension: 'md' });
    expect(texts(blocks)).toEqual(['Old price 99 euros, 2 nights.']);
    expect(document.warnings).toEqual([STRUCK_LEFT_OUT]);
  });

  it('read tables in HTML with their columns, also over empty lines', async () => {
    const table =
      '<table>\n<thead><tr><th>Name</th><th>Price</th></tr></thead>\n\n<tbody>\n\n<tr><td>Room 1</td><td>101 euros</td></tr>\n\n</tbody>\n</table>';
    expect((await read(pool, { content: `# Rooms\n\n${table}\n\nThe end.`, extension: 'md' })).blocks).toEqual([
      { kind: 'heading', text: 'Rooms', headingPath: ['Rooms'] },
      { kind: 'table', header: ['Name', 'Price'], rows: [['Room 1', '101 euros']], firstRow: 1, headingPath: ['Rooms'] },
      { kind: 'paragraph', text: 'The end.', headingPath: ['Rooms'] },
    ]);
  });
});
