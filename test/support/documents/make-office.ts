import { makeZip, type ZipEntry } from './make-zip.ts';

const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packageRelations = 'http://schemas.openxmlformats.org/package/2006/relationships';
export const wordNamespace = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';

function contentTypes(overrides: Readonly<Record<string, string>>): ZipEntry {
  const parts = Object.entries(overrides).map(([name, type]) => `<Override PartName="/${name}" ContentType="${type}"/>`);
  return {
    name: '[Content_Types].xml',
    content: `${xml}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${parts.join('')}</Types>`,
  };
}

function rootRelation(target: string): ZipEntry {
  return {
    name: '_rels/.rels',
    content: `${xml}<Relationships xmlns="${packageRelations}"><Relationship Id="rId1" Type="${relations}/officeDocument" Target="${target}"/></Relationships>`,
  };
}

/** Makes a Word document with this body (WordprocessingML), or with this entry as its main part. */
export function makeDocx(options: { readonly body?: string; readonly main?: ZipEntry; readonly parts?: readonly ZipEntry[] }): Buffer {
  const main = options.main ?? {
    name: 'word/document.xml',
    content: `${xml}<w:document ${wordNamespace} xmlns:r="${relations}"><w:body>${options.body ?? ''}</w:body></w:document>`,
  };
  return makeZip([
    contentTypes({ 'word/document.xml': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml' }),
    rootRelation('word/document.xml'),
    main,
    ...(options.parts ?? []),
  ]);
}

export function wordParagraph(text: string, style?: string): string {
  return `<w:p>${style === undefined ? '' : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`}<w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;
}

export function wordTable(rows: readonly (readonly string[])[]): string {
  const cells = (row: readonly string[]): string => row.map((cell) => `<w:tc>${wordParagraph(cell)}</w:tc>`).join('');
  return `<w:tbl>${rows.map((row) => `<w:tr>${cells(row)}</w:tr>`).join('')}</w:tbl>`;
}

/** Maps `Heading1` to `Heading3` to Word's own names of these styles. */
export const wordStyles: ZipEntry = {
  name: 'word/styles.xml',
  content: `${xml}<w:styles ${wordNamespace}>${[1, 2, 3].map((level) => `<w:style w:type="paragraph" w:styleId="Heading${level}"><w:name w:val="heading ${level}"/></w:style>`).join('')}</w:styles>`,
};

export function wordRelations(
  list: readonly { readonly id: string; readonly type: string; readonly target: string; readonly external?: boolean }[],
): ZipEntry {
  const tags = list.map(
    ({ id, type, target, external }) =>
      `<Relationship Id="${id}" Type="${relations}/${type}" Target="${target}"${external === true ? ' TargetMode="External"' : ''}/>`,
  );
  return {
    name: 'word/_rels/document.xml.rels',
    content: `${xml}<Relationships xmlns="${packageRelations}">${tags.join('')}</Relationships>`,
  };
}

/** Makes a workbook with one sheet, which is given as its entry, and shared strings; style `n` of its cells has format `formats[n]`. */
export function makeXlsx(options: {
  readonly sheet: Omit<ZipEntry, 'name'>;
  readonly sharedStrings?: string;
  readonly formats?: readonly number[];
  readonly uses1904?: boolean;
  readonly parts?: readonly ZipEntry[];
}): Buffer {
  const main = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
  return makeZip([
    contentTypes({
      'xl/workbook.xml': `${main}.sheet.main+xml`,
      'xl/worksheets/sheet1.xml': `${main}.worksheet+xml`,
      'xl/sharedStrings.xml': `${main}.sharedStrings+xml`,
      'xl/styles.xml': `${main}.styles+xml`,
    }),
    rootRelation('xl/workbook.xml'),
    {
      name: 'xl/workbook.xml',
      content: `${xml}<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="${relations}"><workbookPr date1904="${options.uses1904 === true}"/><sheets><sheet name="One" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: `${xml}<Relationships xmlns="${packageRelations}"><Relationship Id="rId1" Type="${relations}/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Type="${relations}/sharedStrings" Target="sharedStrings.xml"/><Relationship Id="rId3" Type="${relations}/styles" Target="styles.xml"/></Relationships>`,
    },
    {
      name: 'xl/styles.xml',
      content: `${xml}<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><cellXfs>${(options.formats ?? [0]).map((id) => `<xf numFmtId="${id}" applyNumberFormat="1"/>`).join('')}</cellXfs></styleSheet>`,
    },
    {
      name: 'xl/sharedStrings.xml',
      content: `${xml}<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">${options.sharedStrings ?? ''}</sst>`,
    },
    { name: 'xl/worksheets/sheet1.xml', ...options.sheet },
    ...(options.parts ?? []),
  ]);
}

export function sheetXml(rows: string, dimension = 'A1'): string {
  return `${xml}<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><dimension ref="${dimension}"/><sheetData>${rows}</sheetData></worksheet>`;
}
