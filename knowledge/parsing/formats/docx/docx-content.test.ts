import { afterAll, describe, expect, it } from 'vitest';

import { ParserPool } from '../../parser-pool.ts';
import { HIDDEN_TEXT_LEFT_OUT, PLACEHOLDERS_LEFT_OUT, STRUCK_LEFT_OUT, WHITE_TEXT_LEFT_OUT } from '../../left-out.ts';
import { makeDocx, wordNamespace, wordParagraph, wordStyles } from '../../../../test/support/documents/make-office.ts';
import type { ZipEntry } from '../../../../test/support/documents/make-zip.ts';
import { read, texts } from '../../../../test/support/documents/read.ts';

const pool = new ParserPool({ size: 1 });
afterAll(() => pool.close());

const NAMESPACES =
  'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" xmlns:w14="http://schemas.microsoft.com/office/word/2010/wordml" xmlns:v="urn:schemas-microsoft-com:vml"';

const run = (text: string, format = ''): string => `<w:r><w:rPr>${format}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
const paragraph = (runs: string, properties = ''): string => `<w:p ${NAMESPACES}><w:pPr>${properties}</w:pPr>${runs}</w:p>`;
const numbered = (text: string, level: number, format = ''): string =>
  paragraph(run(text, format), `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="1"/></w:numPr>`);

const numbering: ZipEntry = {
  name: 'word/numbering.xml',
  content: `<w:numbering ${wordNamespace}><w:abstractNum w:abstractNumId="7">${['§ %1', '%1.%2', '(%3)']
    .map(
      (text, level) =>
        `<w:lvl w:ilvl="${level}"><w:start w:val="1"/><w:numFmt w:val="${level === 2 ? 'lowerLetter' : 'decimal'}"/><w:lvlText w:val="${text}"/></w:lvl>`,
    )
    .join('')}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num></w:numbering>`,
};

const readBody = (body: string, ...parts: readonly ZipEntry[]) => read(pool, { content: makeDocx({ body, parts }), extension: 'docx' });

describe('the numbers of a contract', () => {
  it('stand in front of its headings, clauses and points', async () => {
    const heading = paragraph(run('Fees'), '<w:pStyle w:val="Heading1"/><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>');
    const body = numbered('Rent.', 0) + heading + numbered('A late payment costs 25 euros.', 1) + numbered('for the first reminder', 2);
    expect((await readBody(body, wordStyles, numbering)).blocks).toEqual([
      { kind: 'listItem', text: '§ 1 Rent.', headingPath: [] },
      { kind: 'heading', text: '§ 2 Fees', headingPath: ['§ 2 Fees'] },
      { kind: 'listItem', text: '2.1 A late payment costs 25 euros.', headingPath: ['§ 2 Fees'] },
      { kind: 'listItem', text: '(a) for the first reminder', headingPath: ['§ 2 Fees'] },
    ]);
  });

  it('are those of a style, where the style has them', async () => {
    const styles: ZipEntry = {
      name: 'word/styles.xml',
      content: `<w:styles ${wordNamespace}><w:style w:styleId="Base"><w:name w:val="Clause"/><w:pPr><w:outlineLvl w:val="1"/><w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr></w:pPr></w:style><w:style w:styleId="Own"><w:name w:val="Own clause"/><w:basedOn w:val="Base"/></w:style></w:styles>`,
    };
    const plain = paragraph(run('No number.'), '<w:pStyle w:val="Own"/><w:outlineLvl w:val="9"/><w:numPr><w:numId w:val="0"/></w:numPr>');
    expect((await readBody(wordParagraph('Deposit', 'Own') + plain, styles, numbering)).blocks).toEqual([
      { kind: 'heading', text: '1.1 Deposit', headingPath: ['1.1 Deposit'] },
      { kind: 'paragraph', text: 'No number.', headingPath: ['1.1 Deposit'] },
    ]);
  });

  it.each([
    ['a bold line with a number', numbered('Term', 0, '<w:b/>') + numbered('Twelve months.', 1), '§ 1 Term'],
    [
      'a bold line that someone numbered by hand',
      paragraph(run('§ 3 Mietzeit', '<w:b/>')) + wordParagraph('Zwölf Monate.'),
      '§ 3 Mietzeit',
    ],
    [
      'a line with a number between texts',
      numbered('Term', 0) + wordParagraph('It runs for twelve months.') + numbered('Use', 0) + wordParagraph('Only as a home.'),
      '§ 1 Term',
    ],
  ])('make a title of %s', async (_, body, title) => {
    expect((await readBody(body, numbering)).blocks.slice(0, 2)).toMatchObject([
      { kind: 'heading', text: title },
      { headingPath: [title] },
    ]);
  });

  it.each([
    ['one item alone', numbered('Term', 0) + wordParagraph('It runs for twelve months.')],
    ['items of a list', numbered('Milk', 0) + numbered('Bread', 0) + wordParagraph('Everything is fresh every day.')],
    ['a bold sentence', paragraph(run('1. Call us.', '<w:b/>')) + wordParagraph('We are open.')],
    ['a bold line without a number', paragraph(run('Dear guest', '<w:b/>')) + wordParagraph('We are open.')],
  ])('make no title of %s', async (_, body) => {
    expect((await readBody(body, numbering)).blocks.filter(({ kind }) => kind === 'heading')).toEqual([]);
  });

  it('leave out a table of contents', async () => {
    const styles = {
      ...wordStyles,
      content: String(wordStyles.content).replace('</w:styles>', '<w:style w:styleId="TOC1"><w:name w:val="toc 1"/></w:style></w:styles>'),
    };
    expect(
      texts((await readBody(wordParagraph('Fees 3', 'TOC1') + wordParagraph('Fees', 'Heading1') + wordParagraph('None.'), styles)).blocks),
    ).toEqual(['Fees', 'None.']);
  });
});

describe('marks that carry meaning', () => {
  it('keep numbers apart from what is raised, and leave out what is struck through', async () => {
    const raised = '<w:vertAlign w:val="superscript"/>';
    const body =
      paragraph(
        run('The tour costs ') + run('120 ', '<w:strike/>') + run('euros ', '<w:dstrike/>') + run('99 euros.', '<w:strike w:val="0"/>'),
      ) +
      paragraph(
        run('10') +
          run('3', raised) +
          run(' litres, 12') +
          run('9', raised) +
          run('9', raised) +
          run(' €, H') +
          run('2', '<w:vertAlign w:val="subscript"/>') +
          run('O.'),
      );
    const { blocks, document } = await readBody(body);
    expect(texts(blocks)).toEqual(['The tour costs 99 euros.', '10³ litres, 12.99 €, H2O.']);
    expect(document.warnings).toEqual([STRUCK_LEFT_OUT]);
  });

  it('say which boxes are checked, whatever program made them', async () => {
    const control = (isChecked: number): string =>
      `<w:sdt><w:sdtPr><w14:checkbox><w14:checked w14:val="${isChecked}"/></w14:checkbox></w:sdtPr><w:sdtContent>${run('\u2612')}</w:sdtContent></w:sdt>`;
    const field = (checked: string): string =>
      `<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:default w:val="0"/>${checked}</w:checkBox></w:ffData></w:fldChar></w:r>`;
    const sign = (char: string): string => `<w:r><w:sym w:font="Wingdings" w:char="${char}"/></w:r>`;
    const body = [
      control(1) + run('Tea'),
      control(0) + run('Milk'),
      field('<w:checked/>') + run('Egg'),
      field('') + run('Ham'),
      sign('F0FE') + run('Jam'),
      sign('F0A8') + run('Rice'),
    ];
    expect(texts((await readBody(body.map((runs) => paragraph(runs)).join(''))).blocks)).toEqual([
      '☑ Tea',
      '☐ Milk',
      '☑ Egg',
      '☐ Ham',
      '☑ Jam',
      '☐ Rice',
    ]);
  });
});

describe('what an author hid', () => {
  it('is left out with a warning: in runs, in styles and in headers', async () => {
    const styles = {
      ...wordStyles,
      content: String(wordStyles.content).replace(
        '</w:styles>',
        '<w:style w:styleId="Internal"><w:name w:val="Internal"/><w:rPr><w:vanish/></w:rPr></w:style></w:styles>',
      ),
    };
    const header = {
      name: 'word/header1.xml',
      content: `<w:hdr ${wordNamespace}>${paragraph(run('Acme') + run(' Secret', '<w:vanish/>'))}</w:hdr>`,
    };
    const body =
      paragraph(run('internal: margin 40 %', '<w:vanish/>')) +
      wordParagraph('buy at 10', 'Internal') +
      paragraph(run('note', '<w:rStyle w:val="Internal"/>')) +
      wordParagraph('The hall costs 300 euros.');
    const { blocks, document } = await readBody(body, styles, header);
    expect(texts(blocks)).toEqual(['The hall costs 300 euros.', 'Acme']);
    expect(document.warnings).toEqual([HIDDEN_TEXT_LEFT_OUT]);
  });

  const white = run('margin 40 %', '<w:color w:val="FFFFFF" w:themeColor="background1"/>');
  const dark = '<w:shd w:val="clear" w:color="auto" w:fill="1F3864"/>';
  const cell = (properties: string): string => `<w:tc><w:tcPr>${properties}</w:tcPr>${paragraph(white)}</w:tc>`;
  const table = (properties: string, cells: string): string => `<w:tbl><w:tblPr>${properties}</w:tblPr><w:tr>${cells}</w:tr></w:tbl>`;

  it.each([
    ['a paragraph', paragraph(white)],
    ['a cell', table('', cell(''))],
    ['a cell beside a coloured one', table('', `${cell('')}<w:tc><w:tcPr>${dark}</w:tcPr>${wordParagraph('')}</w:tc>`)],
    ['on a white fill', paragraph(run('margin 40 %', '<w:color w:val="FEFEFE"/><w:shd w:val="clear" w:fill="FFFFFF"/>'))],
  ])('is left out where it is white on white: %s', async (_, hidden) => {
    const { blocks, document } = await readBody(`${hidden}${wordParagraph('The hall costs 300 euros.')}`);
    expect(texts(blocks).filter((text) => text !== '')).toEqual(['The hall costs 300 euros.']);
    expect(document.warnings).toEqual([WHITE_TEXT_LEFT_OUT]);
  });

  it.each([
    ['a run', paragraph(run('margin 40 %', `<w:color w:val="FFFFFF"/>${dark}`))],
    ['a highlighted run', paragraph(run('margin 40 %', '<w:color w:val="FFFFFF"/><w:highlight w:val="darkBlue"/>'))],
    ['a paragraph', paragraph(white, dark)],
    ['a cell', table('', cell(dark))],
    ['a table', table(dark, cell(''))],
    ['a page', `<w:p><w:r><w:drawing><wp:anchor behindDoc="1"/></w:drawing></w:r></w:p>${paragraph(white)}`],
  ])('is no white text on the colour of %s', async (_, body) => {
    const { blocks, document } = await readBody(body);
    expect(texts(blocks)).toEqual(['margin 40 %']);
    expect(document.warnings).toEqual([]);
  });

  it('is no white text in a table whose style colours it', async () => {
    const styles = {
      ...wordStyles,
      content: String(wordStyles.content).replace(
        '</w:styles>',
        `<w:style w:type="table" w:styleId="Grid"><w:name w:val="Grid"/><w:tblStylePr w:type="firstRow"><w:tcPr>${dark}</w:tcPr></w:tblStylePr></w:style></w:styles>`,
      ),
    };
    const { blocks } = await readBody(table('<w:tblStyle w:val="Grid"/>', cell('')), styles);
    expect(texts(blocks)).toEqual(['margin 40 %']);
  });

  it('is left out where a field is not filled in', async () => {
    const control = (properties: string, text: string): string =>
      `<w:sdt><w:sdtPr><w:rPr><w:b/></w:rPr>${properties}</w:sdtPr><w:sdtContent>${run(text)}</w:sdtContent></w:sdt>`;
    const body =
      paragraph(run('Guest: ') + control('<w:showingPlcHdr/>', 'Click or tap here to enter text.')) +
      paragraph(run('Room: ') + control('', '12'));
    const { blocks, document } = await readBody(body);
    expect(texts(blocks)).toEqual(['Guest:', 'Room: 12']);
    expect(document.warnings).toEqual([PLACEHOLDERS_LEFT_OUT]);
  });
});

describe('text boxes', () => {
  const content = `<w:txbxContent>${wordParagraph('Emergency number is 4711.')}</w:txbxContent>`;
  const drawing = `<w:drawing><wps:wsp><wps:txbx>${content}</wps:txbx></wps:wsp></w:drawing>`;
  const picture = `<w:pict><v:rect><v:textbox>${content}</v:textbox></v:rect></w:pict>`;
  const alternatives = (choice: string, fallback: string): string =>
    `<mc:AlternateContent><mc:Choice Requires="wps">${choice}</mc:Choice>${fallback}</mc:AlternateContent>`;

  it.each([
    ['alone', drawing],
    ['of old programs', picture],
    ['without another form', alternatives(drawing, '')],
    ['with a picture as the other form', alternatives(drawing, '<mc:Fallback><w:pict><v:rect/></w:pict></mc:Fallback>')],
    ['with the same text as the other form', alternatives(drawing, `<mc:Fallback>${picture}</mc:Fallback>`)],
    ['of which only the other form has text', alternatives('<w:drawing/>', `<mc:Fallback>${picture}</mc:Fallback>`)],
  ])('are read once, behind the paragraph that they hang on: %s', async (_, box) => {
    const body = paragraph(`${run('See the ')}<w:r>${box}</w:r>${run('box.')}`) + wordParagraph('Keep calm.');
    expect(texts((await readBody(body)).blocks)).toEqual(['See the box.', 'Emergency number is 4711.', 'Keep calm.']);
  });

  it('may stand in a cell, and have a table', async () => {
    const table = (cell: string): string => `<w:tbl><w:tr><w:tc>${cell}</w:tc><w:tc>${wordParagraph('right')}</w:tc></w:tr></w:tbl>`;
    const inner = `<w:txbxContent>${table(wordParagraph('inner'))}</w:txbxContent>`;
    const body = table(paragraph(`${run('left')}<w:r><w:drawing><wps:txbx>${inner}</wps:txbx></w:drawing></w:r>`));
    expect(texts((await readBody(body)).blocks)).toEqual(['inner | right', 'left | right']);
  });
});

it('repeats merged cells, and names columns by both rows of a header', async () => {
  const cell = (text: string, properties = ''): string => `<w:tc><w:tcPr>${properties}</w:tcPr>${wordParagraph(text)}</w:tc>`;
  const row = (cells: string, properties = ''): string => `<w:tr><w:trPr>${properties}</w:trPr>${cells}</w:tr>`;
  const [wide, first, next] = ['<w:gridSpan w:val="2"/>', '<w:vMerge w:val="restart"/>', '<w:vMerge/>'];
  const header = '<w:tblHeader/>';
  const table = `<w:tbl>${[
    row(cell('Season', first) + cell('Room', first) + cell('2024', wide) + cell('2025', wide), header),
    row(cell('', next) + cell('', next) + cell('Q1') + cell('Q2') + cell('Q1') + cell('Q2'), header),
    row(cell('Summer', first) + cell('Single') + cell('11') + cell('12') + cell('closed', wide)),
    row(cell('', next) + cell('Double') + cell('21') + cell('22') + cell('23') + cell('24')),
  ].join('')}</w:tbl>`;
  expect((await readBody(table)).blocks).toEqual([
    {
      kind: 'table',
      header: ['Season', 'Room', '2024 Q1', '2024 Q2', '2025 Q1', '2025 Q2'],
      rows: [
        ['Summer', 'Single', '11', '12', 'closed', 'closed'],
        ['Summer', 'Double', '21', '22', '23', '24'],
      ],
      firstRow: 1,
      headingPath: [],
    },
  ]);
});
