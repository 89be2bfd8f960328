import { afterAll, describe, expect, it } from 'vitest';

import { ParserPool } from '../../parser-pool.ts';
import { makePdf, makePdfOf, makeSubsetFontPdf, type PdfGlyphs, type PdfText } from '../../../../test/support/documents/make-pdf.ts';
import { failureCode, read, texts } from '../../../../test/support/documents/read.ts';

const pool = new ParserPool({ size: 1 });
afterAll(() => pool.close());

/** Places lines of text, one under the other. */
function lines(
  texts_: readonly string[],
  options: { readonly x?: number; readonly from?: number; readonly size?: number } = {},
): readonly PdfText[] {
  const { x = 72, from = 760, size = 11 } = options;
  return texts_.map((text, at) => ({ text, x, y: from - at * size * 1.25, size }));
}

/** Places cells of one row, 120 points apart; an empty one is not drawn. */
function row(y: number, cells: readonly string[]): readonly PdfText[] {
  return cells.flatMap((text, at) => (text === '' ? [] : [{ text, x: 72 + 120 * at, y }]));
}

const words = (count: number, seed: number): string =>
  Array.from({ length: count }, (_, at) => `word${(seed * 31 + at * 7) % 97}`).join(' ');

/** Places words and spaces of a line, from the left; the words have two fonts in turn, so that each is drawn by itself. */
function placed(line: readonly string[]): readonly (PdfGlyphs & { readonly word: string })[] {
  let x = 72;
  const runs: (PdfGlyphs & { readonly word: string })[] = [];
  for (const word of line) {
    const letters = word.split('');
    const glyphs = /[\p{Script=Hebrew}\p{Script=Arabic}]/u.test(word) ? letters.toReversed() : letters;
    if (word.trim() !== '') runs.push({ word, glyphs, x, y: 700, isBold: runs.length % 2 === 1 });
    x += 7.2 * glyphs.length;
  }
  return runs;
}

describe('PDFs', () => {
  it('says on which page a phrase stands, under which headings', async () => {
    const pages = Array.from({ length: 9 }, (_, at) => [
      { text: 'ACME handbook', y: 810, size: 14 },
      ...lines([`Chapter ${at + 1}`], { from: 760, size: 18 }),
      ...lines([`${words(9, at)} and an agree-`, `ment on zebra${at + 1} that follows, with ${words(5, at)}`, `${words(9, at + 1)}.`], {
        from: 720,
      }),
      ...lines([`Section of ${at + 1}`], { from: 650, size: 14 }),
      ...lines([words(9, at), `the secret of page ${at + 1}.`], { from: 620 }),
      { text: `Page ${at + 1} of 9`, y: 30, size: 13 },
    ]);
    const { blocks, document } = await read(pool, { content: makePdf(pages, { title: 'The handbook' }), extension: 'pdf' });
    expect(document).toEqual({ title: 'The handbook', pages: 9, warnings: [] });
    expect(blocks.filter(({ page }) => page === 7)).toEqual([
      { kind: 'heading', text: 'Chapter 7', page: 7, headingPath: ['Chapter 7'] },
      { kind: 'paragraph', text: expect.stringContaining('and an agreement on zebra7 that follows'), page: 7, headingPath: ['Chapter 7'] },
      { kind: 'heading', text: 'Section of 7', page: 7, headingPath: ['Chapter 7', 'Section of 7'] },
      { kind: 'paragraph', text: expect.stringContaining('the secret of page 7.'), page: 7, headingPath: ['Chapter 7', 'Section of 7'] },
    ]);
    expect(texts(blocks).filter((text) => text.includes('ACME'))).toEqual(['ACME handbook']);
    expect(texts(blocks).filter((text) => /of 9/u.test(text) && text.startsWith('Page'))).toEqual([]);
  });

  it('reads two columns one after the other, under a title that spans both', async () => {
    const left = Array.from({ length: 20 }, (_, at) => `left ${at} has some words to fill`);
    const right = Array.from({ length: 20 }, (_, at) => `right ${at} has some words to fill`);
    const title = { text: 'A title that goes over both of the columns of this page', y: 800, size: 16 };
    const rows = left.flatMap((_, at) => [
      ...lines([left[at] ?? ''], { from: 760 - at * 14 }),
      ...lines([right[at] ?? ''], { x: 320, from: 760 - at * 14 }),
    ]);
    const { blocks } = await read(pool, { content: makePdf([[title, ...rows]]), extension: 'pdf' });
    const all = texts(blocks).join(' ');
    expect(all.startsWith('A title')).toBe(true);
    expect([...all.matchAll(/(left|right) (\d+) has/gu)].map((match) => match[0])).toEqual(
      [...left, ...right].map((line) => line.replace(/ has.*/u, ' has')),
    );
  });

  it('takes short bold lines of the size of the text for headings, and bold words for text', async () => {
    const section = (at: number, y: number): readonly PdfText[] => [
      { text: `${at}.1 Scope of part ${at}`, y, isBold: true },
      ...lines([`${words(12, at)} and more`, `the penguin ${at} stands here, ${words(6, at)}.`], { from: y - 14 }),
      ...lines([`${words(9, at)} and`], { from: y - 60 }),
      { text: 'never open the valve under pressure, whatever anybody says to you.', y: y - 74, isBold: true },
      ...lines([`${words(8, at)} to the end.`], { from: y - 88 }),
    ];
    const { blocks } = await read(pool, {
      content: makePdf([
        [{ text: 'Part one', y: 790, size: 18 }, ...section(1, 750), ...section(2, 600)],
        [{ text: 'Part two', y: 790, size: 18 }, ...section(3, 750)],
      ]),
      extension: 'pdf',
    });
    expect(blocks.filter(({ kind }) => kind === 'heading').map(({ headingPath }) => headingPath)).toEqual([
      ['Part one'],
      ['Part one', '1.1 Scope of part 1'],
      ['Part one', '2.1 Scope of part 2'],
      ['Part two'],
      ['Part two', '3.1 Scope of part 3'],
    ]);
    expect(blocks.find(({ kind, page }) => kind === 'paragraph' && page === 2)).toMatchObject({
      text: expect.stringContaining('the penguin 3'),
      headingPath: ['Part two', '3.1 Scope of part 3'],
    });
    expect(texts(blocks).filter((text) => text.includes('never open the valve'))).toHaveLength(3);
  });

  it('makes no headings of a text that is bold throughout', async () => {
    const content = makePdf([Array.from({ length: 8 }, (_, at) => ({ text: `bold words ${at}`, y: 700 - at * 40, isBold: true }))]);
    expect((await read(pool, { content, extension: 'pdf' })).blocks.every(({ kind }) => kind === 'paragraph')).toBe(true);
  });

  it('reads what stands in columns as rows, without a header where the first row is like the others', async () => {
    const rows = Array.from({ length: 12 }, (_, at) => row(700 - at * 14, [`Item ${at}`, `${at * 3} pieces`])).flat();
    expect((await read(pool, { content: makePdf([rows]), extension: 'pdf' })).blocks).toMatchObject([
      { kind: 'table', header: [], rows: Array.from({ length: 12 }, (_, at) => [`Item ${at}`, `${at * 3} pieces`]) },
    ]);
  });

  it('keeps empty cells of a table empty, joins cells of several lines, and names the columns on the next page', async () => {
    const header = ['Article', 'Retail', 'Trade', 'Stock'];
    const page = (from: number, titles: readonly PdfText[]): readonly PdfText[] => [
      ...titles,
      ...[header, ...Array.from({ length: 20 }, (_, at) => [`Hinge ${from + at}`, '11.50', at % 2 === 0 ? '9.20' : '', '3'])].flatMap(
        (cells, at) => row(720 - at * 16, cells),
      ),
    ];
    const second = page(20, []).filter(({ text }) => !header.includes(text));
    const { blocks } = await read(pool, {
      content: makePdf([page(0, [{ text: 'Hinges of all kinds', y: 760, size: 18 }]), second, page(40, []), page(60, [])]),
      extension: 'pdf',
    });
    const tables = blocks.filter((block) => block.kind === 'table');
    expect(tables.map((table) => [table.page, table.header, table.rows.length])).toEqual(
      [1, 2, 3, 4].map((number) => [number, header, 20]),
    );
    expect(tables[1]?.rows[1]).toEqual(['Hinge 21', '11.50', '', '3']);
    expect(blocks.filter(({ kind }) => kind !== 'table').map((block) => texts([block])[0])).toEqual(['Hinges of all kinds']);
  });

  it('joins the lines of a cell', async () => {
    const content = makePdf([
      [
        ...row(700, ['Service', '', '', 'Price']),
        ...row(670, ['Haircut for women including']),
        ...row(656, ['washing and a glass of wine', '', '', '45 EUR']),
        ...row(626, ['Haircut for men', '', '', '25 EUR']),
        ...row(596, ['Colouring of long hair with a']),
        ...row(582, ['product that lasts for weeks', '', '', '90 EUR']),
      ],
    ]);
    expect((await read(pool, { content, extension: 'pdf' })).blocks).toMatchObject([
      {
        kind: 'table',
        header: ['Service', 'Price'],
        rows: [
          ['Haircut for women including washing and a glass of wine', '45 EUR'],
          ['Haircut for men', '25 EUR'],
          ['Colouring of long hair with a product that lasts for weeks', '90 EUR'],
        ],
      },
    ]);
  });

  it('joins the last line of a table to its row, but not the text below', async () => {
    const content = makePdf([
      [
        ...row(700, ['Shops', 'Where points are given']),
        ...row(680, ['Supermarkets', 'all of them']),
        ...row(660, ['Petrol', 'stations of Acme,']),
        ...row(646, ['', 'Shell and Total']),
        ...lines(['Points are valid for five years from the day of purchase.'], { from: 610 }),
      ],
    ]);
    expect(texts((await read(pool, { content, extension: 'pdf' })).blocks)).toEqual([
      'Shops | Where points are given',
      'Supermarkets | all of them',
      'Petrol | stations of Acme, Shell and Total',
      'Points are valid for five years from the day of purchase.',
    ]);
  });

  it('takes numbers in front of what hangs beside them for a list, not for a column', async () => {
    const items = ['Call to order', 'Comments of the public', 'Closed session'];
    const content = makePdf([
      items.flatMap((text, at) => [...lines([`${at + 1}.`], { from: 700 - 40 * at }), ...lines([text], { x: 110, from: 700 - 40 * at })]),
    ]);
    expect((await read(pool, { content, extension: 'pdf' })).blocks).toMatchObject(
      items.map((text, at) => ({ kind: 'listItem', text: `${at + 1}. ${text}` })),
    );
  });

  it('reads a heading of two lines as one, though its lines are further apart than those of the text', async () => {
    const heading = ['Insurance terms for bicycles, e-bikes', 'and trailers of private customers'];
    const content = makePdf([
      [...lines(heading, { from: 760, size: 18 }), ...lines([`${words(12, 1)} and`, `${words(12, 2)}.`], { from: 700 })],
    ]);
    expect(texts((await read(pool, { content, extension: 'pdf' })).blocks)[0]).toBe(heading.join(' '));
  });

  it('keeps marks of footnotes and exponents apart from the number before them', async () => {
    const content = makePdf([
      [
        { text: 'Deposit: 320', y: 700 },
        { text: '1', x: 135, y: 704, size: 7 },
        { text: ' is due for 20 m', x: 140, y: 700 },
        { text: '2', x: 216.5, y: 704, size: 7 },
      ],
    ]);
    expect(texts((await read(pool, { content, extension: 'pdf' })).blocks)[0]).toMatch(/^Deposit: 320¹ is due for 20 m²$/u);
  });

  it('says doubled bold text once, and no bullets twice', async () => {
    const content = makePdf([
      [
        { text: 'Total 1250', y: 700 },
        { text: 'Total 1250', x: 72.3, y: 700 },
        { text: '- with cheese', y: 640 },
      ],
    ]);
    expect((await read(pool, { content, extension: 'pdf' })).blocks).toMatchObject([
      { kind: 'paragraph', text: 'Total 1250' },
      { kind: 'listItem', text: 'with cheese' },
    ]);
  });

  it('takes the first heading for the title where the file names none', async () => {
    const content = makePdf([
      [{ text: 'Rules of the house', y: 760, size: 18 }, ...lines([`${words(12, 1)} and`, words(12, 2)], { from: 720 })],
    ]);
    expect((await read(pool, { content, extension: 'pdf' })).document.title).toBe('Rules of the house');
  });

  it('says headers and footers of many pieces once, whatever their height', async () => {
    const pieces = ['Acme GmbH', 'General Terms', 'Version 3.2', 'Main Street 7'];
    const pages = Array.from({ length: 6 }, (_, at) => [
      ...row(810, pieces.slice(0, 3)),
      ...lines([`${words(9, at)} and`, `clause ${at + 1} of the terms.`], { from: 720 }),
      ...row(40 + 4 * at, ['Bank 55', 'Phone 030', pieces[3] ?? '', 'info@acme.example']),
    ]);
    const all = texts((await read(pool, { content: makePdf(pages), extension: 'pdf' })).blocks);
    for (const piece of pieces) expect(all.filter((text) => text.includes(piece))).toHaveLength(1);
    expect(all.filter((text) => /clause \d of the terms/u.test(text))).toHaveLength(6);
  });

  it('keeps what each page says even where pages differ by their number alone', async () => {
    const pages = Array.from({ length: 12 }, (_, at) => lines([`Page ${at + 1}: the phrase is banana ${at + 1}`], { from: 720 }));
    expect(texts((await read(pool, { content: makePdf(pages), extension: 'pdf' })).blocks)).toHaveLength(12);
  });

  it('reads glyph numbers through their table to Unicode, composed', async () => {
    const glyphs = ['বা', 'ং', 'লা', ' ', 'ক্ষু', 'দ্র', ' ', 'ঋ', 'ণ'];
    expect(texts((await read(pool, { content: makeSubsetFontPdf([{ glyphs, x: 72, y: 700 }]), extension: 'pdf' })).blocks)).toEqual([
      glyphs.join(''),
    ]);
  });

  it.each([
    { line: ['שקלים ליום', ' ', '50', ' ', 'המחיר הוא'], expected: 'המחיר הוא 50 שקלים ליום' },
    { line: ['في اليوم', ' ', 'ريال', ' ', '50', ' ', 'السعر'], expected: 'السعر 50 ريال في اليوم' },
    { line: ['בכל שאלה', ' ', 'Acme', ' ', 'Support', ' ', 'פנו אל'], expected: 'פנו אל Acme Support בכל שאלה' },
    { line: ['12', ' ', 'עולם טוב', ' ', ',', 'שלום'], expected: 'שלום, עולם טוב 12' },
    { line: ['5', ' ', 'ת', 'י', 'ב'], expected: 'בית 5' },
    { line: ['שקל', '    ', '50', '    ', 'Acme', '    ', 'שם'], expected: 'שם Acme 50 שקל' },
    { line: ['Say', ' ', 'שלום', ',', ' ', 'and', ' ', 'wait.'], expected: 'Say שלום, and wait.' },
  ])('reads a line with both directions in order, whichever piece is drawn first: $expected', async ({ line, expected }) => {
    const fromTheLeft = placed(line);
    const asRead = [...fromTheLeft].sort((one, other) => expected.indexOf(one.word) - expected.indexOf(other.word));
    for (const drawn of [fromTheLeft, asRead])
      expect(texts((await read(pool, { content: makeSubsetFontPdf(drawn), extension: 'pdf' })).blocks)).toEqual([expected]);
  });

  /**
   * Builds one page with a content stream, further entries of page and catalogue, and further objects from number 6 on; font 1 is
   * Helvetica.
   */
  function onePage(content: string, page = '', catalogue = '', objects: readonly string[] = []): Buffer {
    return makePdfOf([
      `<< /Type /Catalog /Pages 2 0 R ${catalogue} >>`,
      '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 4 0 R >> >> /Contents 5 0 R ${page} >>`,
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
      { entries: '', content: Buffer.from(content) },
      ...objects,
    ]);
  }

  it('reads what spans of the page say in the stead of their glyphs, once for all of their pieces', async () => {
    const span = Buffer.from('ডেলিভারি', 'utf16le').swap16().toString('hex');
    const content = `BT /F1 12 Tf 72 700 Td (abc ) Tj /Span << /ActualText <feff${span}> >> BDC (x) Tj 30 3 Td (y) Tj EMC 12 -3 Td (end) Tj ET`;
    expect(texts((await read(pool, { content: onePage(content), extension: 'pdf' })).blocks)).toEqual(['abc ডেলিভারি end']);
  });

  it('reads the values of a filled form next to their labels, and notes on the page', async () => {
    const field = (type: string, y: number, more: string): string =>
      `<< /Type /Annot /Subtype /Widget /FT /${type} /T (f${y}) /Rect [200 ${y - 4} 300 ${y + 14}] ${more} >>`;
    const content = onePage(
      'BT /F1 11 Tf 72 700 Td (Price per night) Tj 0 -40 Td (Pets allowed) Tj 0 -40 Td (Smoking) Tj ET',
      '/Annots [6 0 R 7 0 R 8 0 R 9 0 R]',
      '/AcroForm << /Fields [6 0 R 7 0 R 8 0 R] >>',
      [
        field('Tx', 700, '/V (89 EUR) /TU (Fee of the season)'),
        field('Btn', 660, '/V /Yes /AS /Yes'),
        field('Btn', 620, '/V /Off /AS /Off'),
        '<< /Type /Annot /Subtype /FreeText /Rect [72 500 300 520] /Contents (closed on Mondays) /DA (/Helv 11 Tf) >>',
      ],
    );
    expect(texts((await read(pool, { content, extension: 'pdf' })).blocks)).toEqual([
      'Price per night | Fee of the season: 89 EUR',
      'Pets allowed | ☑',
      'Smoking | ☐',
      'closed on Mondays',
    ]);
  });

  it('leaves out what no reader sees, with a warning, but not white text on a colour', async () => {
    const content = onePage(`0 0 0.5 rg 60 590 300 30 re f 0 g BT /F1 11 Tf 1 0 0 1 72 700 Tm (The tour costs 99 euros.) Tj
1 g 1 0 0 1 72 680 Tm (margin 40 percent) Tj 1 0 0 1 72 600 Tm (Opening hours) Tj
0 g 1 0 0 1 -300 660 Tm (off the page) Tj 3 Tr 1 0 0 1 72 640 Tm (without ink) Tj ET`);
    const { blocks, document } = await read(pool, { content, extension: 'pdf' });
    expect(texts(blocks)).toEqual(['The tour costs 99 euros.', 'Opening hours']);
    expect(document.warnings).toEqual(['left out: text that no reader sees (white on white, off the page, without ink) on pages 1']);
  });

  it('fails a dynamic form, whose file only asks to wait', async () => {
    const content = onePage(
      'BT /F1 11 Tf 72 700 Td (Please wait... Upgrade to the latest Adobe Reader.) Tj ET',
      '',
      '/NeedsRendering true /AcroForm << /Fields [] /XFA 6 0 R >>',
      ['(<xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/"></xdp:xdp>)'],
    );
    await expect(read(pool, { content, extension: 'pdf' })).rejects.toThrow('dynamic form (XFA)');
  });

  it('fails a file whose fonts do not say which characters they show', async () => {
    const content = makeSubsetFontPdf([{ glyphs: Array.from('The workshop opens'), x: 72, y: 700 }]).toString('latin1');
    const unmapped = Buffer.from(content.replaceAll('/ToUnicode 5 0 R', '                '), 'latin1');
    await expect(read(pool, { content: unmapped, extension: 'pdf' })).rejects.toThrow('do not say which characters');
  });

  it('reads fonts of drawings by their codes, spaces included', async () => {
    const text = 'Open till 9';
    const codes = [...new Set(text)].sort();
    const glyph = { entries: '', content: Buffer.from('600 0 0 0 500 700 d1 0 0 500 700 re f') };
    const font = `<< /Type /Font /Subtype /Type3 /Name /Ubuntu /FontDescriptor << /Type /FontDescriptor /FontName /ABCDEF+Ubuntu /Flags 32 >>
      /FontBBox [0 0 600 700] /FontMatrix [0.001 0 0 0.001 0 0] /FirstChar 32 /LastChar 126 /Widths [${'600 '.repeat(95)}]
      /CharProcs << ${codes.map((_, at) => `/g${at} 5 0 R`).join(' ')} >>
      /Encoding << /Type /Encoding /Differences [${codes.map((code, at) => `${code.charCodeAt(0)} /g${at}`).join(' ')}] >> >>`;
    const content = makePdfOf([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 4 0 R >> >> /Contents 6 0 R >>',
      font,
      glyph,
      { entries: '', content: Buffer.from(`BT /F1 12 Tf 72 700 Td (${text}) Tj ET`) },
    ]);
    expect(texts((await read(pool, { content, extension: 'pdf' })).blocks)).toEqual([text]);
  });

  it('says which pages have no text', async () => {
    const { document } = await read(pool, { content: makePdf([lines(['some text']), [], [], lines(['more text'])]), extension: 'pdf' });
    expect(document.warnings).toEqual(['pages without text, perhaps scanned pictures: 2-3']);
    expect(document.pages).toBe(4);
  });

  it('names a page that has a stamp on a picture, and next to no text', async () => {
    const picture = {
      entries: '/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8',
      content: Buffer.from([200]),
    };
    const page = (contents: number): string =>
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 5 0 R >> /XObject << /I 6 0 R >> >> /Contents ${contents} 0 R >>`;
    const content = makePdfOf([
      '<< /Type /Catalog /Pages 2 0 R >>',
      '<< /Type /Pages /Count 2 /Kids [3 0 R 4 0 R] >>',
      page(7),
      page(8),
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
      picture,
      { entries: '', content: Buffer.from('q 595 0 0 842 0 0 cm /I Do Q BT /F1 11 Tf 400 20 Td (Copy 7) Tj ET') },
      { entries: '', content: Buffer.from(`q 595 0 0 842 0 0 cm /I Do Q BT /F1 11 Tf 72 700 Td (${words(12, 1)}) Tj ET`) },
    ]);
    const warning = 'pages with next to no text beside a picture, perhaps scanned: 1';
    expect((await read(pool, { content, extension: 'pdf' })).document.warnings).toEqual([warning]);
    const { pictures, document } = await read(pool, { content, extension: 'pdf', pictures: 5 });
    expect(pictures).toMatchObject([{ page: 1, reason: 'sparse', total: 1 }]);
    expect(document.warnings).toEqual([]);
  });

  describe('whose pages are wanted as pictures', () => {
    const box = '72 400 300 200 re f';
    /** Builds pages with these contents, and no text. */
    const drawn = (...contents: readonly string[]): Buffer =>
      makePdfOf([
        '<< /Type /Catalog /Pages 2 0 R >>',
        `<< /Type /Pages /Count ${contents.length} /Kids [${contents.map((_, at) => `${3 + 2 * at} 0 R`).join(' ')}] >>`,
        ...contents.flatMap((content, at) => [
          `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents ${4 + 2 * at} 0 R >>`,
          { entries: '', content: Buffer.from(content) },
        ]),
      ]);

    it('come as PNGs in their places, as many as are wanted; the others are named', async () => {
      const { blocks, pictures, document } = await read(pool, { content: drawn(box, box, box), extension: 'pdf', pictures: 2 });
      expect(blocks).toEqual([]);
      expect(pictures.map(({ page, reason, total }) => [page, reason, total])).toEqual([
        [1, 'empty', 2],
        [2, 'empty', 2],
      ]);
      expect(
        Buffer.from(pictures[0]?.png ?? '', 'base64')
          .subarray(1, 4)
          .toString(),
      ).toBe('PNG');
      expect(document.warnings).toEqual(['pages without text, perhaps scanned pictures: 3']);
    });

    it('come without the blank ones, and fail where all are blank', async () => {
      const { pictures, document } = await read(pool, { content: drawn('', box), extension: 'pdf', pictures: 5 });
      expect(pictures.map(({ page }) => page)).toEqual([2]);
      expect(document.warnings).toEqual([]);
      expect(await failureCode(pool, { content: drawn('', ''), extension: 'pdf', pictures: 5 })).toBe('no_text_layer');
    });
  });

  it('has no text layer when all pages are pictures', async () => {
    expect(await failureCode(pool, { content: makePdf([[], []]), extension: 'pdf' })).toBe('no_text_layer');
  });

  it.each([
    [
      'a tree of pages that is its own child',
      makePdfOf(['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Count 3 /Kids [2 0 R 2 0 R] >>']),
    ],
    ['one that is cut off', makePdf([lines(['some text'])]).subarray(0, 200)],
    ['one with nothing behind its header', Buffer.from(`%PDF-1.7\n${'x'.repeat(500)}`)],
  ])('is corrupt: %s', async (_, content) => {
    expect(await failureCode(pool, { content, extension: 'pdf' })).toBe('corrupt_file');
  });
});
