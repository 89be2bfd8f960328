import { isRightToLeft } from './bidi.ts';
import { formValues, type FormValue } from './form-values.ts';
import { drawnAreas, isWhite, withoutHidden } from './hidden-text.ts';
import { Placing, type ActualText, type Character, type Font, type Glyph, type Point, type TextObject } from './glyph.ts';
import type { GlyphCount } from './legibility.ts';
import type { Address, Pdfium } from './pdfium.ts';

export interface PageGlyphs {
  readonly height: number;
  /** Glyphs in the direction that most of the page's text has. */
  readonly upright: readonly Glyph[];
  /** Glyphs in other directions: watermarks, labels of axes. */
  readonly turned: readonly Glyph[];
  readonly values: readonly FormValue[];
  readonly count: GlyphCount;
  /** Share of the page that its largest picture covers. */
  readonly pictureShare: number;
  /** Number of characters that the author hid, which are left out. */
  readonly hidden: number;
}

export interface OpenDocument {
  readonly document: Address;
  readonly form: Address;
}

/** @see fpdf_edit.h */
const TYPE_TEXT = 1;
const TYPE_FORM = 5;
const INVISIBLE = 3;
const FORM_DEPTH = 12;
/** A character that PDFium made of a hyphen at the end of a line. */
const LINE_END_HYPHEN = '\u0002';
const UTF16_MARK = Buffer.from('feff', 'hex');
const UTF8_MARK = Buffer.from('efbbbf', 'hex');
/** Ligatures and forms of letters that Unicode has for old fonts: nobody searches for them. */
const PRESENTATION_FORMS = /[\ufb00-\ufdff\ufe70-\ufefc]/gu;

/**
 * Reads what one page draws, in the order in which PDFium reads it.
 * @throws Error when the page is damaged
 */
export function readGlyphs(pdfium: Pdfium, { document, form }: OpenDocument, index: number): PageGlyphs {
  const { api } = pdfium;
  const page = api.FPDF_LoadPage(document, index);
  if (page === 0) throw new Error(`PDFium can't load page ${index + 1}`);
  try {
    const spans = takeActualTexts(pdfium, page);
    const text = api.FPDFText_LoadPage(page);
    if (text === 0) throw new Error(`PDFium can't read page ${index + 1}`);
    try {
      const place = new Placing(pdfium, page);
      const all = characters(pdfium, text, spans, place);
      const size = { width: api.FPDF_GetPageWidthF(page), height: api.FPDF_GetPageHeightF(page) };
      const areas = drawnAreas(pdfium, page, place, size);
      const shown = withoutHidden(all, areas, size);
      return {
        height: size.height,
        pictureShare: areas.pictureShare,
        values: formValues(pdfium, form, page, place),
        count: countOf(shown),
        hidden: all.length - shown.length,
        ...arranged(shown),
      };
    } finally {
      api.FPDFText_ClosePage(text);
    }
  } finally {
    api.FPDF_ClosePage(page);
  }
}

/** Reads the spans by text object, and removes their marks: PDFium itself writes some of them twice, and others in pieces. */
function takeActualTexts(pdfium: Pdfium, page: Address): ReadonlyMap<Address, ActualText> {
  const { api } = pdfium;
  const spans = new Map<Address, ActualText>();
  const byMark = new Map<Address, ActualText | undefined>();
  const marked: [object: Address, mark: Address][] = [];
  for (const object of textObjects(pdfium, page)) {
    for (let at = pdfium.exports.FPDFPageObj_CountMarks(object) - 1; at >= 0; at -= 1) {
      const mark = api.FPDFPageObj_GetMark(object, at);
      if (!byMark.has(mark)) byMark.set(mark, actualText(pdfium, mark));
      const span = byMark.get(mark);
      if (span === undefined) continue;
      // The outermost span counts.
      spans.set(object, span);
      marked.push([object, mark]);
    }
  }
  for (const [object, mark] of marked) api.FPDFPageObj_RemoveMark(object, mark);
  return spans;
}

/** Reads the parameter as bytes: PDFium gives the parameters of marks as text only where they are UTF-8. */
function actualText(pdfium: Pdfium, mark: Address): ActualText | undefined {
  const bytes = pdfium.bytes((buffer, size) =>
    pdfium.api.FPDFPageObjMark_GetParamBlobValue(mark, 'ActualText', buffer, size, pdfium.counter),
  );
  return bytes === undefined ? undefined : { text: textString(bytes) };
}

/** Decodes a text string of a PDF. @see ISO 32000-2, 7.9.2.2 */
function textString(bytes: Buffer): string {
  if (bytes.subarray(0, 2).equals(UTF16_MARK))
    return bytes
      .subarray(2, 2 + 2 * Math.floor((bytes.length - 2) / 2))
      .swap16()
      .toString('utf16le');
  return bytes.subarray(0, 3).equals(UTF8_MARK) ? bytes.subarray(3).toString() : bytes.toString('latin1');
}

function* textObjects({ api, exports: ask }: Pdfium, page: Address): Generator<Address> {
  const inForm = function* (form: Address, depth: number): Generator<Address> {
    const count = api.FPDFFormObj_CountObjects(form);
    for (let at = 0; at < count; at += 1) yield* visit(api.FPDFFormObj_GetObject(form, at), depth);
  };
  const visit = function* (object: Address, depth: number): Generator<Address> {
    const type = ask.FPDFPageObj_GetType(object);
    if (type === TYPE_TEXT) yield object;
    else if (type === TYPE_FORM && depth < FORM_DEPTH) yield* inForm(object, depth + 1);
  };
  const count = ask.FPDFPage_CountObjects(page);
  for (let at = 0; at < count; at += 1) {
    const object = ask.FPDFPage_GetObject(page, at);
    // A generator for each of them would take as long as the rest of the page.
    if (ask.FPDFPageObj_GetType(object) === TYPE_TEXT) yield object;
    else yield* visit(object, 0);
  }
}

function characters(pdfium: Pdfium, page: Address, spans: ReadonlyMap<Address, ActualText>, place: Placing): readonly Character[] {
  const { api, exports: ask, scratch } = pdfium;
  const { a, b, c, d, e, f } = place;
  const box = scratch / 4;
  const origin = scratch / 8;
  const objects = new Map<Address, TextObject>();
  const fonts = new Map<Address, Font>();
  const result: Character[] = [];
  const count = api.FPDFText_CountChars(page);
  for (let at = 0; at < count; at += 1) {
    const unicode = ask.FPDFText_GetUnicode(page, at);
    const isPlain = isLetterOrDigit(unicode);
    const isHyphen = !isPlain && ask.FPDFText_IsHyphen(page, at) === 1;
    if (!isPlain && !isHyphen && ask.FPDFText_IsGenerated(page, at) === 1) continue;
    const address = ask.FPDFText_GetTextObject(page, at);
    let object = objects.get(address);
    if (object === undefined)
      objects.set(address, (object = describeObject(pdfium, { page, at, address, span: spans.get(address) }, { place, fonts })));
    ask.FPDFText_GetLooseCharBox(page, at, scratch);
    // The numbers are read in place, because this runs for each character.
    const { HEAPF32: floats } = api.pdfium;
    const left = floats[box] ?? 0;
    const top = floats[box + 1] ?? 0;
    const right = floats[box + 2] ?? 0;
    const bottom = floats[box + 3] ?? 0;
    ask.FPDFText_GetCharOrigin(page, at, scratch, scratch + 8);
    const { HEAPF64: doubles } = api.pdfium;
    const x = doubles[origin] ?? 0;
    const y = doubles[origin + 1] ?? 0;
    // For a character that the font doesn't map to Unicode, PDFium gives the number of its glyph. Fonts that are drawings use those of
    // ASCII.
    const isUnmapped = ask.FPDFText_HasUnicodeMapError(page, at) === 1 && !(object.isDrawnFont && unicode >= 0x20 && unicode < 0x7f);
    const text = isHyphen ? '-' : isUnmapped ? '' : characterText(unicode);
    result.push({
      text,
      object,
      x: a * x + b * y + c,
      y: d * x + e * y + f,
      left: a * left + b * bottom + c,
      fromY: d * left + e * bottom + f,
      right: a * right + b * top + c,
      toY: d * right + e * top + f,
      size: object.size,
      isBold: object.isBold,
    });
  }
  return result;
}

/** @param drawn the object, and one of the page's characters that it draws */
function describeObject(
  pdfium: Pdfium,
  drawn: { readonly page: Address; readonly at: number; readonly address: Address; readonly span: ActualText | undefined },
  { place, fonts }: { readonly place: Placing; readonly fonts: Map<Address, Font> },
): TextObject {
  const { exports: ask } = pdfium;
  const { page, at, address, span } = drawn;
  ask.FPDFText_GetMatrix(page, at, pdfium.scratch);
  const [a, b, c, d] = pdfium.floats();
  const size = ask.FPDFText_GetFontSize(page, at) * Math.hypot(c, d);
  const fontAddress = ask.FPDFTextObj_GetFont(address);
  let font = fonts.get(fontAddress);
  if (font === undefined) fonts.set(fontAddress, (font = describeFont(pdfium, fontAddress)));
  return {
    ...font,
    size,
    turn: quarter(place.direction(a, b)),
    span,
    isInvisible: ask.FPDFTextObj_GetTextRenderMode(address) === INVISIBLE,
    isWhite: isWhite(pdfium, address),
  };
}

function describeFont(pdfium: Pdfium, font: Address): Font {
  const name = pdfium.name((buffer, bytes) => pdfium.api.FPDFFont_GetBaseFontName(font, buffer, bytes));
  return { isBold: isBoldFont(name), isDrawnFont: name === '' || !hasProgram(pdfium, font) };
}

/** Tells whether the font has a program: all but those of type 3 have one, at least that of the font which stands in for them. */
function hasProgram({ api, counter }: Pdfium, font: Address): boolean {
  return api.FPDFFont_GetFontData(font, 0, 0, counter) && api.pdfium.HEAPU32[counter / 4] !== 0;
}

/** Decides by the font's name, behind the tag of a part of a font: `ABCDEF+Calibri-Bold`; TeX's bold fonts are called CMBX10. */
function isBoldFont(name: string): boolean {
  return /bold|black|heavy|demi|(?:^|\+)(?:cm|sf|ec)bx/iu.test(name);
}

/** Only ASCII matters here: PDFium makes spaces, ends of lines and hyphens, and no others. */
function isLetterOrDigit(unicode: number): boolean {
  return (unicode >= 0x61 && unicode <= 0x7a) || (unicode >= 0x41 && unicode <= 0x5a) || (unicode >= 0x30 && unicode <= 0x39);
}

function characterText(unicode: number): string {
  if (unicode > 0x20 && unicode < 0x7f) return String.fromCharCode(unicode);
  const text = unicode > 0xffff ? String.fromCodePoint(Math.min(unicode, 0x10_ffff)) : String.fromCharCode(unicode);
  return text === LINE_END_HYPHEN ? '-' : /^\s$/u.test(text) ? ' ' : text.replace(PRESENTATION_FORMS, (form) => form.normalize('NFKC'));
}

function countOf(all: readonly Character[]): GlyphCount {
  let [glyphs, unmapped] = [0, 0];
  for (const { text } of all) {
    if (text !== ' ') glyphs += 1;
    if (text === '') unmapped += 1;
  }
  return { glyphs, unmapped };
}

function arranged(all: readonly Character[]): { readonly upright: Glyph[]; readonly turned: Glyph[] } {
  const glyphs = joinGlyphs(all);
  const common = commonTurn(glyphs);
  const upright: Glyph[] = [];
  const turned: Glyph[] = [];
  for (const glyph of glyphs) (glyph.object.turn === common ? upright : turned).push(turnedBy(glyph, common));
  return { upright, turned };
}

/** Joins the characters of one ligature, and of one span of ActualText. PDFium turns a ligature round with its line. */
function joinGlyphs(all: readonly Character[]): readonly Character[] {
  const result: Character[] = [];
  const spans = new Map<ActualText, Character>();
  for (const character of all) {
    const { span } = character.object;
    const written = span === undefined ? undefined : spans.get(span);
    if (written !== undefined) widen(written, character);
    if (written !== undefined) continue;
    if (span !== undefined) {
      const whole = { ...character, text: span.text };
      spans.set(span, whole);
      result.push(whole);
      continue;
    }
    const last = result.at(-1);
    const isLigature = last !== undefined && last.object === character.object && last.x === character.x && last.y === character.y;
    if (isLigature && character.text.trim() !== '')
      last.text = isRightToLeft(character.text) ? character.text + last.text : last.text + character.text;
    else result.push(character);
  }
  return result;
}

/** Widens a glyph only on its own line: a span may go on on the next one. */
function widen(glyph: Character, next: Character): void {
  if (Math.hypot(next.x - glyph.right, next.y - glyph.y) > 3 * glyph.size + Math.abs(glyph.right - glyph.left)) return;
  glyph.left = Math.min(glyph.left, next.left);
  glyph.fromY = Math.min(glyph.fromY, next.fromY);
  glyph.right = Math.max(glyph.right, next.right);
  glyph.toY = Math.max(glyph.toY, next.toY);
}

/** Turns a character so that the page's common direction runs to the right. */
function turnedBy(character: Character, turn: number): Glyph {
  // On most pages there is nothing to turn or copy.
  if (turn < 1 && character.left < character.right) return character;
  const { text, x, y, left, fromY, right, toY, size, isBold } = character;
  // This makes no list or function for each of them.
  let from = left;
  let to = right;
  let baseline = y;
  if (turn === 1) [from, to, baseline] = [fromY, toY, -x];
  else if (turn === 2) [from, to, baseline] = [-left, -right, -y];
  else if (turn === 3) [from, to, baseline] = [-fromY, -toY, x];
  return from < to
    ? { text, left: from, right: to, y: baseline, size, isBold }
    : { text, left: to, right: from, y: baseline, size, isBold };
}

function quarter([x, y]: Point): number {
  const turns = Math.atan2(y, x) / (Math.PI / 2);
  const nearest = Math.round(turns);
  return Math.abs(turns - nearest) > 0.1 ? -1 : (nearest + 4) % 4;
}

/** Returns the rotation that most characters have. */
function commonTurn(all: readonly Character[]): number {
  const counts = [0, 0, 0, 0];
  let between = 0;
  for (const { text, object } of all) {
    if (text.trim() === '') continue;
    if (object.turn === -1) between += 1;
    else counts[object.turn] = (counts[object.turn] ?? 0) + 1;
  }
  const most = Math.max(...counts);
  return between > most ? -1 : counts.indexOf(most);
}
