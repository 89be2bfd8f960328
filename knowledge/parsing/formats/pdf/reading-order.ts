import { byBaseline, inReadingOrder, largest, type Line, type LinePiece, smallest } from './page-lines.ts';

/** Fewest pieces on each side that make a column, and characters that they have on average. Tables have shorter ones. */
const LEAST_PIECES = 4;
const LEAST_CHARACTERS = 18;
/** Share of all pieces that may cross the gap between columns: titles and pictures' captions do. */
const MOST_CROSSING = 0.3;
/** Most pieces of a page: in one with more, a drawing, columns are not looked for. */
const MOST_PIECES = 5000;

/** A run of lines that are read one after another: a column, or a part of one. */
export interface Region {
  readonly lines: readonly Line[];
  readonly left: number;
  readonly right: number;
}

/** Puts the pieces of a page into the order in which a person reads them: columns from left to right, each from top to bottom. */
export function readingOrder(pieces: readonly LinePiece[]): readonly Region[] {
  return split([...pieces], 0);
}

function split(pieces: readonly LinePiece[], depth: number): readonly Region[] {
  if (pieces.length === 0) return [];
  const left = smallest(pieces.map((piece) => piece.left));
  const right = largest(pieces.map((piece) => piece.right));
  const gutter = depth < 3 ? findGutter(pieces, left, right) : undefined;
  if (gutter === undefined) return [{ lines: joinBaselines(pieces), left, right }];
  // Pieces that cross the gutter are read before the columns under it.
  const crossing = pieces.filter((piece) => crosses(piece, gutter)).sort((one, other) => one.y - other.y);
  const columns = pieces.filter((piece) => !crosses(piece, gutter));
  const regions: Region[] = [];
  let above = Number.NEGATIVE_INFINITY;
  for (const bound of [...crossing, undefined]) {
    const until = bound?.y ?? Number.POSITIVE_INFINITY;
    const band = columns.filter((piece) => piece.y >= above && piece.y < until);
    regions.push(
      ...split(
        band.filter((piece) => piece.right <= gutter),
        depth + 1,
      ),
    );
    regions.push(
      ...split(
        band.filter((piece) => piece.left >= gutter),
        depth + 1,
      ),
    );
    if (bound !== undefined) regions.push({ lines: joinBaselines([bound]), left, right });
    above = until;
  }
  return merged(regions);
}

function crosses(piece: LinePiece, x: number): boolean {
  return piece.left < x && piece.right > x;
}

/** Finds the middle of the widest gap, in the middle of the region, that hardly any piece crosses and that has prose on both sides. */
function findGutter(pieces: readonly LinePiece[], left: number, right: number): number | undefined {
  if (pieces.length < 2 * LEAST_PIECES || pieces.length > MOST_PIECES) return undefined;
  const step = Math.max(1, (right - left) / 200);
  let best: { crossing: number; from: number; to: number } | undefined;
  for (let x = left + 0.2 * (right - left); x <= left + 0.8 * (right - left); x += step) {
    const crossing = pieces.reduce((sum, piece) => sum + (crosses(piece, x) ? 1 : 0), 0);
    if (best === undefined || crossing < best.crossing) best = { crossing, from: x, to: x };
    else if (crossing === best.crossing && x - best.to <= 1.5 * step) best.to = x;
  }
  if (best === undefined || best.crossing > MOST_CROSSING * pieces.length) return undefined;
  const gutter = (best.from + best.to) / 2;
  const sides = [pieces.filter((piece) => piece.right <= gutter), pieces.filter((piece) => piece.left >= gutter)];
  return sides.every(isProse) && overlap(sides) ? gutter : undefined;
}

function isProse(pieces: readonly LinePiece[]): boolean {
  const characters = pieces.reduce((sum, piece) => sum + piece.text.length, 0);
  return pieces.length >= LEAST_PIECES && characters / pieces.length >= LEAST_CHARACTERS;
}

/** Tells whether the sides stand next to each other, as columns do, and not above. */
function overlap(sides: readonly (readonly LinePiece[])[]): boolean {
  const spans = sides.map((side) => ({
    top: smallest(side.map((piece) => piece.y)),
    bottom: largest(side.map((piece) => piece.y)),
  }));
  const shared = smallest(spans.map(({ bottom }) => bottom)) - largest(spans.map(({ top }) => top));
  return shared > 0.4 * smallest(spans.map(({ top, bottom }) => bottom - top));
}

function joinBaselines(pieces: readonly LinePiece[]): readonly Line[] {
  const isSame = (first: LinePiece, piece: LinePiece): boolean => piece.y - first.y < 0.4 * Math.min(first.size, piece.size);
  return byBaseline(pieces, isSame).map((line) => {
    const ordered = inReadingOrder(line);
    return {
      text: ordered.map((piece) => piece.text.trim()).join(' '),
      left: smallest(ordered.map((piece) => piece.left)),
      right: largest(ordered.map((piece) => piece.right)),
      y: ordered[0]?.y ?? 0,
      size: largest(ordered.map((piece) => piece.size)),
      isBold: ordered.every((piece) => piece.isBold),
      cells: ordered.toSorted((one, other) => one.left - other.left),
    };
  });
}

/** Joins lines across the page that follow one another. */
function merged(regions: readonly Region[]): readonly Region[] {
  const result: Region[] = [];
  for (const region of regions) {
    const last = result.at(-1);
    if (last !== undefined && last.left === region.left && last.right === region.right)
      result[result.length - 1] = { ...last, lines: joinBaselines([...last.lines, ...region.lines].flatMap(({ cells }) => cells)) };
    else result.push(region);
  }
  return result;
}
