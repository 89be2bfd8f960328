/** Cuts a text that is too long for one chunk: at sentences, else at words, else between graphemes. */
import { graphemesOf, slabsOf, trim, trimStart } from './graphemes.ts';
import { sentencesOf, wordSegmentsOf } from './segments.ts';
import { countTokens, countUpTo } from './tokens.ts';

export interface SplitOptions {
  readonly maxTokens: number;
  /** Tokens at the end of one piece that the next one starts with. */
  readonly overlapTokens: number;
  /** BCP 47 tag; only decides where sentences end. */
  readonly language?: string | undefined;
  /** True to cut at lines instead of sentences. */
  readonly code?: boolean;
}

export interface Piece {
  readonly text: string;
  readonly tokens: number;
}

/** Sentences are looked for in this many UTF-16 units at a time: that bounds the memory, whatever the text. */
const SLAB_SIZE = 20_000;
/** Graphemes of an endless word are taken together up to this length. */
const RUN_SIZE = 64;
/** UTF-16 units at a piece's end in which a token of overlap is looked for: few tokens are longer. */
const OVERLAP_UNITS = 20;

/** Yields trimmed pieces in order, none empty. Without overlap they are the text again, white space between them aside. */
export function* splitText(text: string, options: SplitOptions): Generator<Piece> {
  const { maxTokens } = options;
  let carried = '';
  let own: Piece[] = [];
  /** Sum of tokens that were counted one by one; mostly a little too much. */
  let estimate = 0;

  function* close(): Generator<Piece> {
    const surplus: Piece[] = [];
    let piece = pieceOf(carried + join(own));
    while (piece.tokens > maxTokens) {
      if (carried !== '') carried = '';
      else if (own.length > 1) surplus.unshift(...own.splice(-1));
      else {
        own = smallerOf(trimStart(join(own)), maxTokens);
        if (own.length === 1) break;
      }
      piece = pieceOf(carried + join(own));
    }
    if (piece.text !== '') yield piece;
    // A short piece is never repeated as a whole.
    carried = overlapOf(own, { ...options, overlapTokens: Math.min(options.overlapTokens, Math.floor(piece.tokens / 2)) });
    own = surplus;
    estimate = countTokens(carried) + surplus.reduce((sum, { tokens }) => sum + tokens, 0);
  }

  for (const unit of unitsOf(text, options)) {
    while (own.length > 0 && estimate + unit.tokens > maxTokens) yield* close();
    if (own.length === 0 && estimate + unit.tokens > maxTokens) {
      carried = '';
      estimate = 0;
    }
    own.push(unit);
    estimate += unit.tokens;
  }
  while (own.length > 0) yield* close();
}

/** Yields the smallest parts that are not cut; each is within the limit, except for a grapheme that is longer by itself. */
function* unitsOf(text: string, options: SplitOptions): Generator<Piece> {
  for (const slab of slabsOf(text, SLAB_SIZE)) {
    const parts = options.code === true ? splitLines(slab) : sentencesOf(slab, options.language);
    for (const part of parts) {
      const tokens = countUpTo(part, options.maxTokens);
      if (tokens <= options.maxTokens) yield { text: part, tokens };
      else yield* wordsOf(part, options.maxTokens);
    }
  }
}

/**
 * Cuts a unit that has more tokens without the white space around it, and more than allowed. That is rare. The space after it separates it
 * from the next.
 */
function smallerOf(text: string, maxTokens: number): Piece[] {
  const words = [...wordsOf(text, maxTokens)];
  return words.length > 1 ? words : [...graphemesOf(text)].map((grapheme) => ({ text: grapheme, tokens: countTokens(grapheme) }));
}

function* wordsOf(sentence: string, maxTokens: number): Generator<Piece> {
  let space = '';
  for (const segment of wordSegmentsOf(sentence)) {
    if (/^\s+$/.test(segment) && segment.length < RUN_SIZE) {
      space += segment;
      continue;
    }
    const word = space + segment;
    space = '';
    const tokens = countUpTo(word, maxTokens);
    if (tokens <= maxTokens) yield { text: word, tokens };
    else yield* runsOf(word, maxTokens);
  }
  if (space !== '') yield { text: space, tokens: countTokens(space) };
}

function* runsOf(word: string, maxTokens: number): Generator<Piece> {
  let run: string[] = [];
  let length = 0;
  for (const grapheme of graphemesOf(word)) {
    if (length > 0 && length + grapheme.length > RUN_SIZE) {
      yield* within(run, maxTokens);
      run = [];
      length = 0;
    }
    run.push(grapheme);
    length += grapheme.length;
  }
  yield* within(run, maxTokens);
}

function* within(run: readonly string[], maxTokens: number): Generator<Piece> {
  const text = run.join('');
  const tokens = countTokens(text);
  if (tokens <= maxTokens) yield { text, tokens };
  else for (const grapheme of run) yield { text: grapheme, tokens: countTokens(grapheme) };
}

/** Returns the last whole sentences of a piece or, where the last one is longer than the overlap, its last words. */
function overlapOf(units: readonly Piece[], options: SplitOptions): string {
  if (options.overlapTokens <= 0) return '';
  let from = units.length;
  let length = 0;
  while (from > 0 && length < options.overlapTokens * OVERLAP_UNITS) {
    from -= 1;
    length += units[from]?.text.length ?? 0;
  }
  const end = join(units.slice(from));
  for (const segments of [sentencesOf(end, options.language), wordSegmentsOf(end)]) {
    const overlap = lastOf([...segments], options.overlapTokens);
    if (trim(overlap) !== '') return overlap;
  }
  return '';
}

function lastOf(segments: readonly string[], maxTokens: number): string {
  let from = segments.length;
  for (let tokens = 0; from > 0; from -= 1) {
    tokens += countUpTo(segments[from - 1] ?? '', maxTokens);
    if (tokens > maxTokens) break;
  }
  return segments.slice(from).join('');
}

function splitLines(text: string): readonly string[] {
  return text.split(/(?<=\n)/);
}

function join(units: readonly Piece[]): string {
  return units.map((unit) => unit.text).join('');
}

function pieceOf(text: string): Piece {
  const trimmed = trim(text);
  return { text: trimmed, tokens: countTokens(trimmed) };
}
