import type { PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import type { TextItem, TextMarkedContent } from 'pdfjs-dist/types/src/display/api.js';

/** Pages that are read twice to learn of their fonts. Documents name theirs on the first ones. */
const mostPages = 12;

/** Which of a document's fonts are bold. pdf.js tells only of those whose page was laid out to be drawn. */
export class BoldFonts {
  readonly #known = new Map<string, boolean>();
  #pages = 0;

  isBold(font: string): boolean {
    return this.#known.get(font) === true;
  }

  /** Looks at the fonts of a page, if any is new. Never fails: a page that can't be drawn may well be read. */
  async learn(page: PDFPageProxy, items: readonly (TextItem | TextMarkedContent)[]): Promise<void> {
    const fonts = new Set(items.flatMap((item) => ('str' in item && item.str.trim() !== '' ? [item.fontName] : [])));
    const unknown = [...fonts].filter((font) => !this.#known.has(font));
    if (unknown.length === 0 || this.#pages === mostPages) return;
    this.#pages += 1;
    for (const font of unknown) this.#known.set(font, false);
    try {
      await page.getOperatorList();
      for (const font of unknown) if (page.commonObjs.has(font)) this.#known.set(font, isBoldFont(page.commonObjs.get(font)));
    } catch {
      // As if none was bold.
    }
  }
}

/** By its name, behind the tag of a part of a font: `ABCDEF+Calibri-Bold`; TeX's bold fonts are called CMBX10. */
function isBoldFont(font: unknown): boolean {
  const name = typeof font === 'object' && font !== null && 'name' in font ? font.name : undefined;
  return typeof name === 'string' && /bold|black|heavy|demi|(?:^|\+)(?:cm|sf|ec)bx/iu.test(name);
}
