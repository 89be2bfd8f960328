import { afterAll, describe, expect, it } from 'vitest';

import { ParserPool } from '../../parser-pool.ts';
import {
  makeDocx,
  wordNamespace,
  wordParagraph,
  wordRelations,
  wordStyles,
  wordTable,
} from '../../../../test/support/documents/make-office.ts';
import { failureCode, read, texts } from '../../../../test/support/documents/read.ts';

const pool = new ParserPool({ size: 1 });
afterAll(() => pool.close());

const header = (text: string): string => `<w:hdr ${wordNamespace}>${wordParagraph(text)}</w:hdr>`;

describe('Word documents', () => {
  it('keeps headings, paragraphs and tables with their places, and says headers and footers once', async () => {
    const content = makeDocx({
      body: [
        wordParagraph('Leave', 'Heading1'),
        wordParagraph('Thirty days a year.'),
        wordParagraph('Sick leave', 'Heading2'),
        wordParagraph('ক্ষুদ্র ঋণ ও স্ত্রী শিক্ষা'),
        wordTable([
          ['Grade', 'Days'],
          ['A', '30'],
          ['B', '25'],
        ]),
        wordParagraph('Doctor', 'Heading3'),
        wordParagraph('A note from the third day on.'),
      ].join(''),
      parts: [
        wordStyles,
        { name: 'word/header1.xml', content: header('ACME Ltd. handbook') },
        { name: 'word/header2.xml', content: header('ACME Ltd. handbook') },
        { name: 'word/footer1.xml', content: header('7') },
        {
          name: 'docProps/core.xml',
          content: '<cp:coreProperties xmlns:cp="c" xmlns:dc="d"><dc:title>Leave &amp; more</dc:title></cp:coreProperties>',
        },
      ],
    });
    const { blocks, document } = await read(pool, { content, extension: 'docx' });
    expect(document).toEqual({ title: 'Leave & more', warnings: [] });
    expect(blocks).toEqual([
      { kind: 'heading', text: 'Leave', headingPath: ['Leave'] },
      { kind: 'paragraph', text: 'Thirty days a year.', headingPath: ['Leave'] },
      { kind: 'heading', text: 'Sick leave', headingPath: ['Leave', 'Sick leave'] },
      { kind: 'paragraph', text: 'ক্ষুদ্র ঋণ ও স্ত্রী শিক্ষা'.normalize('NFC'), headingPath: ['Leave', 'Sick leave'] },
      {
        kind: 'table',
        header: ['Grade', 'Days'],
        rows: [
          ['A', '30'],
          ['B', '25'],
        ],
        firstRow: 1,
        headingPath: ['Leave', 'Sick leave'],
      },
      { kind: 'heading', text: 'Doctor', headingPath: ['Leave', 'Sick leave', 'Doctor'] },
      { kind: 'paragraph', text: 'A note from the third day on.', headingPath: ['Leave', 'Sick leave', 'Doctor'] },
      { kind: 'paragraph', text: 'ACME Ltd. handbook', headingPath: [] },
    ]);
  });

  it('never opens what is linked', async () => {
    const link = (id: string): string =>
      `<w:p><w:r><w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><a:graphicData><pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:blipFill><a:blip r:link="${id}"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`;
    const content = makeDocx({
      body: wordParagraph('Hello') + link('rId8') + link('rId9'),
      parts: [
        wordRelations([
          { id: 'rId8', type: 'image', target: 'file:///etc/hostname', external: true },
          { id: 'rId9', type: 'image', target: 'http://127.0.0.1:9/x.png', external: true },
        ]),
      ],
    });
    const { blocks, document } = await read(pool, { content, extension: 'docx' });
    expect(texts(blocks)).toEqual(['Hello']);
    expect(document.warnings).toEqual([expect.stringContaining('linked')]);
  });

  it('warns of fonts with an encoding of their own', async () => {
    const run = '<w:p><w:r><w:rPr><w:rFonts w:ascii="SutonnyMJ" w:hAnsi="SutonnyMJ"/></w:rPr><w:t>evsjv</w:t></w:r></w:p>';
    expect((await read(pool, { content: makeDocx({ body: run }), extension: 'docx' })).document.warnings).toEqual([
      expect.stringMatching(/^legacy_font_encoding/u),
    ]);
  });

  it('takes a line break in a heading for a space', async () => {
    const heading = '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Sick</w:t><w:br/><w:t>leave</w:t></w:r></w:p>';
    const content = makeDocx({ body: heading + wordParagraph('Thirty days.'), parts: [wordStyles] });
    expect((await read(pool, { content, extension: 'docx' })).blocks).toEqual([
      { kind: 'heading', text: 'Sick leave', headingPath: ['Sick leave'] },
      { kind: 'paragraph', text: 'Thirty days.', headingPath: ['Sick leave'] },
    ]);
  });

  it('puts notes behind the text, each with the number of its mark', async () => {
    const content = makeDocx({
      body: '<w:p><w:r><w:t>Ouch.</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>',
      parts: [
        wordRelations([{ id: 'rId3', type: 'footnotes', target: 'footnotes.xml' }]),
        {
          name: 'word/footnotes.xml',
          content: `<w:footnotes ${wordNamespace}><w:footnote w:id="2">${wordParagraph('It hurt.')}</w:footnote></w:footnotes>`,
        },
      ],
    });
    expect(texts((await read(pool, { content, extension: 'docx' })).blocks)).toEqual(['Ouch.[1]', '[1] It hurt.']);
  });

  it('reads the text of ruby, simple fields and runs with a direction, in the body and in notes', async () => {
    const run = (text: string): string => `<w:r><w:t xml:space="preserve">${text}</w:t></w:r>`;
    const ruby = `<w:r><w:ruby><w:rubyPr/><w:rt>${run('とうきょう')}</w:rt><w:rubyBase>${run('東京')}</w:rubyBase></w:ruby></w:r>`;
    const caption = `${run('Table ')}<w:fldSimple w:instr=" SEQ Table ">${run('7')}</w:fldSimple>${run(': prices')}`;
    const directed = `<w:bdo w:val="rtl">${run('שלום')}</w:bdo>${run(' ')}<w:dir w:val="rtl">${run('עולם')}</w:dir>`;
    const content = makeDocx({
      body: [`${run('受付は')}${ruby}${run('本社です。')}`, caption, `${directed}<w:r><w:footnoteReference w:id="2"/></w:r>`]
        .map((paragraph) => `<w:p>${paragraph}</w:p>`)
        .join(''),
      parts: [
        wordRelations([{ id: 'rId3', type: 'footnotes', target: 'footnotes.xml' }]),
        {
          name: 'word/footnotes.xml',
          content: `<w:footnotes ${wordNamespace}><w:footnote w:id="2"><w:p>${run('See ')}${ruby}${run('.')}</w:p></w:footnote></w:footnotes>`,
        },
      ],
    });
    const { blocks, document } = await read(pool, { content, extension: 'docx' });
    expect(texts(blocks)).toEqual(['受付は東京本社です。', 'Table 7: prices', 'שלום עולם[1]', '[1] See 東京.']);
    expect(document.warnings).toEqual([]);
  });

  it('warns of equations and embedded documents, and of nothing that holds no text', async () => {
    const math = '<m:oMath xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"><m:r><m:t>mc2</m:t></m:r></m:oMath>';
    const body = `<w:p><w:permStart w:id="1"/><w:r><w:t>Energy</w:t></w:r>${math}</w:p>`;
    const warnings = async (xml: string): Promise<readonly string[]> =>
      (await read(pool, { content: makeDocx({ body: xml }), extension: 'docx' })).document.warnings;
    expect(await warnings(body)).toEqual(['left out: equations']);
    expect(await warnings(`${body}<w:altChunk r:id="rId7"/>`)).toEqual([
      'left out: equations',
      'left out: embedded documents; open the document in Word and save it to have them read',
    ]);
  });

  it('is empty when nothing is written in it', async () => {
    expect(await failureCode(pool, { content: makeDocx({ body: wordParagraph(' ').repeat(20) }), extension: 'docx' })).toBe(
      'empty_document',
    );
  });
});
