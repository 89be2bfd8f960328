import { deflateSync } from 'node:zlib';

/** Text at a place: points from the lower left corner of an A4 page. */
export interface PdfText {
  readonly text: string;
  readonly x?: number;
  readonly y: number;
  readonly size?: number;
  readonly isBold?: boolean;
}

export interface PdfStream {
  /** Entries of the dictionary in addition to the length. */
  readonly entries: string;
  readonly content: Buffer;
}

/** Makes a PDF of these objects, numbered from 1; the first is the catalogue. */
export function makePdfOf(objects: readonly (string | PdfStream)[], trailer = ''): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n%\u00e2\u00e3\n', 'latin1')];
  const offsets: number[] = [];
  let at = parts[0]?.length ?? 0;
  const push = (part: Buffer | string): void => {
    const bytes = Buffer.from(part as string, 'latin1');
    parts.push(bytes);
    at += bytes.length;
  };
  objects.forEach((object, index) => {
    offsets.push(at);
    push(`${index + 1} 0 obj\n`);
    if (typeof object === 'string') push(object);
    else {
      push(`<< ${object.entries} /Length ${object.content.length} >>\nstream\n`);
      push(object.content);
      push('\nendstream');
    }
    push('\nendobj\n');
  });
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const start = at;
  push(
    `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${table}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`,
  );
  return Buffer.concat(parts);
}

/** Makes a PDF with these pages, in Helvetica and Helvetica-Bold. */
export function makePdf(pages: readonly (readonly PdfText[])[], options: { readonly title?: string } = {}): Buffer {
  const first = 5;
  const objects: (string | PdfStream)[] = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, at) => `${first + 2 * at} 0 R`).join(' ')}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>',
  ];
  pages.forEach((texts, at) => {
    const content = texts
      .map(
        ({ text, x = 72, y, size = 11, isBold = false }) =>
          `BT /F${isBold ? 2 : 1} ${size} Tf 1 0 0 1 ${x} ${y} Tm (${escaped(text)}) Tj ET`,
      )
      .join('\n');
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> /Contents ${first + 2 * at + 1} 0 R >>`,
      { entries: '/Filter /FlateDecode', content: deflateSync(Buffer.from(content, 'latin1')) },
    );
  });
  if (options.title === undefined) return makePdfOf(objects);
  objects.push(`<< /Title (${escaped(options.title)}) >>`);
  return makePdfOf(objects, `/Info ${objects.length} 0 R`);
}

function escaped(text: string): string {
  return text.replace(/[\\()]/gu, '\\$&');
}

/** Glyphs at a place, from left to right, each 0.6 of the font's height wide. */
export interface PdfGlyphs {
  /** Text of each glyph; a conjunct is one glyph for several characters. */
  readonly glyphs: readonly string[];
  readonly x: number;
  readonly y: number;
  readonly isBold?: boolean;
}

/** Makes a PDF as programs write scripts without an encoding of their own: glyph numbers, and a table that takes each to Unicode. */
export function makeSubsetFontPdf(runs: readonly PdfGlyphs[]): Buffer {
  const unique = [...new Set(runs.flatMap(({ glyphs }) => glyphs))];
  const code = (at: number): string => (at + 1).toString(16).padStart(4, '0');
  const map = unique.map((glyph, at) => `<${code(at)}> <${Buffer.from(glyph, 'utf16le').swap16().toString('hex')}>`);
  const toUnicode = `/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def
1 begincodespacerange <0000> <ffff> endcodespacerange
${unique.length} beginbfchar\n${map.join('\n')}\nendbfchar
endcmap CMapName currentdict /CMap defineresource pop end end`;
  const shown = runs.map(
    ({ glyphs, x, y, isBold }) =>
      `BT /F${isBold === true ? 2 : 1} 12 Tf 1 0 0 1 ${x} ${y} Tm <${glyphs.map((glyph) => code(unique.indexOf(glyph))).join('')}> Tj ET`,
  );
  const font = (name: string, at: number): readonly string[] => [
    `<< /Type /Font /Subtype /Type0 /BaseFont /${name} /Encoding /Identity-H /DescendantFonts [${at + 1} 0 R] /ToUnicode 5 0 R >>`,
    `<< /Type /Font /Subtype /CIDFontType2 /BaseFont /${name} /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /DW 600 /FontDescriptor ${at + 2} 0 R >>`,
    `<< /Type /FontDescriptor /FontName /${name} /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>`,
  ];
  return makePdfOf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 6 0 R /F2 9 0 R >> >> /Contents 4 0 R >>',
    { entries: '', content: Buffer.from(shown.join('\n')) },
    { entries: '', content: Buffer.from(toUnicode) },
    ...font('ABCDEF+Bangla', 6),
    ...font('ABCDEF+Bangla-Bold', 9),
  ]);
}
