import { isRightToLeft } from './bidi.ts';
import { formValues } from './form-values.ts';
import { drawnAreas, isWhite, withoutHidden } from './hidden-text.ts';
import type { GlyphCount } from './legibility.ts';
import type { LinePiece } from './page-lines.ts';
import type { Address, Pdfium } from './pdfium.ts';

/** What is drawn at one place: a letter, a ligature, or what the file says in its stead. In points from the page's upper left corner. */
export interface Glyph {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  /** Of the baseline. */
  readonly y: number;
  /** Height of the font. */
  readonly size: number;
  readonly isBold: boolean;
}

export interface PageGlyphs {
  readonly height: number;
  /** In the direction that most of the page's text has. */
  readonly upright: readonly Glyph[];
  /** Watermarks, labels of axes. */
  readonly turned: readonly Glyph[];
  /** What people filled in. */
  readonly values: readonly LinePiece[];
  readonly count: GlyphCount;
  /** Characters that the author hid, which are left out. */
  readonly hidden: number;
}

export interface OpenDocument {
  readonly document: Address;
  /** PDFium's view of its form. */
  readonly form: Address;
}

/** What all characters that one instruction draws have in common. */
export interface TextObject {
  readonly address: Address;
  readonly size: number;
  /** How many quarter turns the text is rotated by; between two, -1. */
  readonly turn: number;
  readonly isBold: boolean;
  /** Of type 3, which has no name. */
  readonly isDrawnFont: boolean;
  readonly span: ActualText | undefined;
  /** Drawn without ink: an OCR program's text over the picture of a page is. */
  readonly isInvisible: boolean;
  /** Drawn in white. */
  readonly isWhite: boolean;
}

/** `/ActualText`: what a span of marked content says, whatever its glyphs are. */
interface ActualText {
  readonly text: string;
}

export interface Character {
  text: string;
  readonly object: TextObject;
  readonly at: Point;
  /** Two corners of its box. */
  from: Point;
  to: Point;
}

export type Point = readonly [x: number, y: number];

/** @see fpdf_edit.h */
const TYPE_TEXT = 1;
const TYPE_FORM = 5;
const INVISIBLE = 3;
/** Forms inside forms. */
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
      const place = placing(pdfium, page);
      const all = characters(pdfium, text, spans, place);
      const size = { width: api.FPDF_GetPageWidthF(page), height: api.FPDF_GetPageHeightF(page) };
      const shown = withoutHidden(all, drawnAreas(pdfium, page, place), size);
      const glyphs = shown.filter((character) => character.text !== ' ');
      return {
        height: size.height,
        values: formValues(pdfium, form, page, place),
        count: { glyphs: glyphs.length, unmapped: glyphs.filter((character) => character.text === '').length },
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

/** Reads the spans by text object, and takes their marks away: PDFium itself writes some of them twice, and others in pieces. */
function takeActualTexts(pdfium: Pdfium, page: Address): ReadonlyMap<Address, ActualText> {
  const { api } = pdfium;
  const spans = new Map<Address, ActualText>();
  const byMark = new Map<Address, ActualText | undefined>();
  const marked: [object: Address, mark: Address][] = [];
  for (const object of textObjects(pdfium, page)) {
    for (let at = api.FPDFPageObj_CountMarks(object) - 1; at >= 0; at -= 1) {
      const mark = api.FPDFPageObj_GetMark(object, at);
      if (!byMark.has(mark)) byMark.set(mark, actualText(pdfium, mark));
      const span = byMark.get(mark);
      if (span === undefined) continue;
      // The outermost one counts.
      spans.set(object, span);
      marked.push([object, mark]);
    }
  }
  for (const [object, mark] of marked) api.FPDFPageObj_RemoveMark(object, mark);
  return spans;
}

/** As bytes: PDFium gives the parameters of marks as text only where they are UTF-8. */
function actualText(pdfium: Pdfium, mark: Address): ActualText | undefined {
  const bytes = pdfium.bytes((buffer, size) =>
    pdfium.api.FPDFPageObjMark_GetParamBlobValue(mark, 'ActualText', buffer, size, pdfium.counter),
  );
  return bytes === undefined ? undefined : { text: textString(bytes) };
}

/** A text string of a PDF. @see ISO 32000-2, 7.9.2.2 */
function textString(bytes: Buffer): string {
  if (bytes.subarray(0, 2).equals(UTF16_MARK))
    return bytes
      .subarray(2, 2 + 2 * Math.floor((bytes.length - 2) / 2))
      .swap16()
      .toString('utf16le');
  return bytes.subarray(0, 3).equals(UTF8_MARK) ? bytes.subarray(3).toString() : bytes.toString('latin1');
}

function* textObjects({ api }: Pdfium, page: Address): Generator<Address> {
  const inForm = function* (form: Address, depth: number): Generator<Address> {
    const count = api.FPDFFormObj_CountObjects(form);
    for (let at = 0; at < count; at += 1) yield* visit(api.FPDFFormObj_GetObject(form, at), depth);
  };
  const visit = function* (object: Address, depth: number): Generator<Address> {
    const type = api.FPDFPageObj_GetType(object);
    if (type === TYPE_TEXT) yield object;
    else if (type === TYPE_FORM && depth < FORM_DEPTH) yield* inForm(object, depth + 1);
  };
  const count = api.FPDFPage_CountObjects(page);
  for (let at = 0; at < count; at += 1) yield* visit(api.FPDFPage_GetObject(page, at), 0);
}

/** Takes the page's own coordinates to the upper left corner, with the page's rotation; of a direction, without the shift. */
export type PlacePoint = (x: number, y: number, isDirection?: boolean) => Point;

function placing(pdfium: Pdfium, page: Address): PlacePoint {
  pdfium.api.FPDF_GetPageBoundingBox(page, pdfium.scratch);
  const [left = 0, top = 0, right = 0, bottom = 0] = pdfium.floats(4);
  const rotation = pdfium.api.FPDFPage_GetRotation(page);
  return (x, y, isDirection = false) => {
    const [l, t, r, b] = isDirection ? [0, 0, 0, 0] : [left, top, right, bottom];
    if (rotation === 1) return [y - b, x - l];
    if (rotation === 2) return [r - x, y - b];
    if (rotation === 3) return [t - y, r - x];
    return [x - l, t - y];
  };
}

function characters(pdfium: Pdfium, page: Address, spans: ReadonlyMap<Address, ActualText>, place: PlacePoint): readonly Character[] {
  const { api, characters: ask, scratch } = pdfium;
  const objects = new Map<Address, TextObject>();
  const result: Character[] = [];
  const count = api.FPDFText_CountChars(page);
  for (let at = 0; at < count; at += 1) {
    const isHyphen = ask.FPDFText_IsHyphen(page, at) === 1;
    if (ask.FPDFText_IsGenerated(page, at) === 1 && !isHyphen) continue;
    const address = ask.FPDFText_GetTextObject(page, at);
    const object = objects.get(address) ?? describeObject(pdfium, page, at, spans.get(address), place);
    objects.set(address, object);
    ask.FPDFText_GetLooseCharBox(page, at, scratch);
    // Read in place: this is done for each character.
    const { HEAPF32: floats } = api.pdfium;
    const box = scratch / 4;
    const [left, top, right, bottom] = [floats[box] ?? 0, floats[box + 1] ?? 0, floats[box + 2] ?? 0, floats[box + 3] ?? 0];
    ask.FPDFText_GetCharOrigin(page, at, scratch, scratch + 8);
    const { HEAPF64: doubles } = api.pdfium;
    const [x, y] = [doubles[scratch / 8] ?? 0, doubles[scratch / 8 + 1] ?? 0];
    const unicode = ask.FPDFText_GetUnicode(page, at);
    // What the font doesn't map to Unicode, PDFium gives as the number of its glyph. Fonts that are drawings use those of ASCII.
    const isUnmapped = ask.FPDFText_HasUnicodeMapError(page, at) === 1 && !(object.isDrawnFont && unicode > 0x20 && unicode < 0x7f);
    const text = isHyphen ? '-' : isUnmapped ? '' : characterText(unicode);
    result.push({ text, object, at: place(x, y), from: place(left, bottom), to: place(right, top) });
  }
  return result;
}

function describeObject(pdfium: Pdfium, page: Address, at: number, span: ActualText | undefined, place: PlacePoint): TextObject {
  const { api } = pdfium;
  const address = api.FPDFText_GetTextObject(page, at);
  api.FPDFText_GetMatrix(page, at, pdfium.scratch);
  const [a = 1, b = 0, c = 0, d = 1] = pdfium.floats(4);
  const size = api.FPDFText_GetFontSize(page, at) * Math.hypot(c, d);
  const font = api.FPDFTextObj_GetFont(address);
  const name = pdfium.name((buffer, bytes) => api.FPDFFont_GetBaseFontName(font, buffer, bytes));
  return {
    address,
    size,
    turn: quarter(place(a, b, true)),
    isBold: isBoldFont(name),
    isDrawnFont: name === '',
    span,
    isInvisible: api.FPDFTextObj_GetTextRenderMode(address) === INVISIBLE,
    isWhite: isWhite(pdfium, address),
  };
}

/** By its name, behind the tag of a part of a font: `ABCDEF+Calibri-Bold`; TeX's bold fonts are called CMBX10. */
function isBoldFont(name: string): boolean {
  return /bold|black|heavy|demi|(?:^|\+)(?:cm|sf|ec)bx/iu.test(name);
}

function characterText(unicode: number): string {
  if (unicode > 0x20 && unicode < 0x7f) return String.fromCharCode(unicode);
  const text = unicode > 0xffff ? String.fromCodePoint(Math.min(unicode, 0x10_ffff)) : String.fromCharCode(unicode);
  return text === LINE_END_HYPHEN ? '-' : /^\s$/u.test(text) ? ' ' : text.replace(PRESENTATION_FORMS, (form) => form.normalize('NFKC'));
}

function arranged(all: readonly Character[]): { readonly upright: Glyph[]; readonly turned: Glyph[] } {
  const glyphs = joinGlyphs(all);
  const common = commonest(glyphs.filter(({ text }) => text.trim() !== '').map(({ object }) => object.turn));
  const upright: Glyph[] = [];
  const turned: Glyph[] = [];
  for (const glyph of glyphs) (glyph.object.turn === common ? upright : turned).push(turnedBy(glyph, common));
  return { upright, turned };
}

/** Characters of one ligature, and of one span of ActualText, become one. PDFium turns a ligature round with its line. */
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
    const isLigature =
      last !== undefined && last.object === character.object && last.at[0] === character.at[0] && last.at[1] === character.at[1];
    if (isLigature && character.text.trim() !== '')
      last.text = isRightToLeft(character.text) ? character.text + last.text : last.text + character.text;
    else result.push(character);
  }
  return result;
}

/** Only on its own line: a span may go on on the next one. */
function widen(glyph: Character, next: Character): void {
  if (Math.hypot(next.at[0] - glyph.to[0], next.at[1] - glyph.at[1]) > 3 * glyph.object.size + Math.abs(glyph.to[0] - glyph.from[0]))
    return;
  glyph.from = [Math.min(glyph.from[0], next.from[0]), Math.min(glyph.from[1], next.from[1])];
  glyph.to = [Math.max(glyph.to[0], next.to[0]), Math.max(glyph.to[1], next.to[1])];
}

/** Turned so that the page's common direction runs to the right. */
function turnedBy({ text, object, at, from, to }: Character, turn: number): Glyph {
  const turned = ([x, y]: Point): Point => (turn === 1 ? [y, -x] : turn === 2 ? [-x, -y] : turn === 3 ? [-y, x] : [x, y]);
  const xs = [turned(from)[0], turned(to)[0]];
  return { text, left: Math.min(...xs), right: Math.max(...xs), y: turned(at)[1], size: object.size, isBold: object.isBold };
}

function quarter([x, y]: Point): number {
  const turns = Math.atan2(y, x) / (Math.PI / 2);
  const nearest = Math.round(turns);
  return Math.abs(turns - nearest) > 0.1 ? -1 : (nearest + 4) % 4;
}

function commonest(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1])[0]?.[0] ?? 0;
}
