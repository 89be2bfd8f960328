import type { Character, Placing } from './glyph.ts';
import type { Address, Pdfium } from './pdfium.ts';

/** The areas that are drawn behind the text of a page. */
export interface Areas {
  readonly hasPicture: boolean;
  /** Share of the page that the largest picture or drawing covers. */
  readonly pictureShare: number;
  readonly coloured: readonly Area[];
}

interface PageSize {
  readonly width: number;
  readonly height: number;
}

interface Area {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** @see fpdf_edit.h */
const PATH = 2;
const IMAGE = 3;
const SHADING = 4;
const FORM = 5;
const DRAWN = new Set([PATH, IMAGE, SHADING, FORM]);
/** Least value of each colour, of 255, that counts as white. */
const WHITE = 250;
/** Most areas of a page: one with more is a drawing, whose text is taken as it is. */
const MOST_AREAS = 2000;

export function isWhite({ api, exports: ask, scratch }: Pick<Pdfium, 'api' | 'exports' | 'scratch'>, object: Address): boolean {
  if (ask.FPDFPageObj_GetFillColor(object, scratch, scratch + 4, scratch + 8, scratch + 12) === 0) return false;
  return [0, 4, 8].every((offset) => (api.pdfium.HEAPU32[(scratch + offset) / 4] ?? 0) >= WHITE);
}

export function drawnAreas(pdfium: Pdfium, page: Address, place: Placing, size: PageSize): Areas {
  const { exports: ask, scratch } = pdfium;
  const coloured: Area[] = [];
  let hasPicture = false;
  let largest = 0;
  const count = ask.FPDFPage_CountObjects(page);
  for (let at = 0; at < count && coloured.length < MOST_AREAS; at += 1) {
    const object = ask.FPDFPage_GetObject(page, at);
    const type = ask.FPDFPageObj_GetType(object);
    hasPicture ||= type === IMAGE || type === FORM;
    if (!DRAWN.has(type) || (type === PATH && isWhite(pdfium, object))) continue;
    if (ask.FPDFPageObj_GetBounds(object, scratch, scratch + 4, scratch + 8, scratch + 12) === 0) continue;
    const [left, bottom, right, top] = pdfium.floats();
    const [one, other] = [place.point(left, bottom), place.point(right, top)];
    if (type === IMAGE || type === FORM) largest = Math.max(largest, Math.abs((right - left) * (top - bottom)));
    coloured.push({
      left: Math.min(one[0], other[0]),
      right: Math.max(one[0], other[0]),
      top: Math.min(one[1], other[1]),
      bottom: Math.max(one[1], other[1]),
    });
  }
  return { hasPicture, pictureShare: largest / (size.width * size.height), coloured };
}

/** Leaves out invisible characters: off the page, white on white, and without ink where no picture shows the same. */
export function withoutHidden(all: readonly Character[], areas: Areas, page: PageSize): readonly Character[] {
  const isShown = (character: Character): boolean => !isHidden(character, areas, page);
  // Most pages hide nothing, and have thousands of characters.
  return all.every(isShown) ? all : all.filter(isShown);
}

function isHidden({ object, x, y }: Character, { hasPicture, coloured }: Areas, page: PageSize): boolean {
  if (x < -1 || y < -1 || x > page.width + 1 || y > page.height + 1) return true;
  if (object.isInvisible && !hasPicture) return true;
  if (!object.isWhite || coloured.length >= MOST_AREAS) return false;
  return !coloured.some(({ left, right, top, bottom }) => x >= left - 1 && x <= right && y >= top && y <= bottom + 1);
}
