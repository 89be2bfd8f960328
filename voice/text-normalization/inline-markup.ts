/**
 * Takes out the markup within a line: Markdown, HTML and SSML. Each sign is looked at once, and one without its counterpart is left out
 * where it stands.
 */
import type { Edit } from './mapped-text.ts';
import type { Vocabulary } from './vocabulary.ts';

/** Known tags, which are markup; "press <Enter>" isn't. */
const TAGS = new Set(
  (
    'a abbr b big blockquote body br code del div em font h1 h2 h3 h4 h5 h6 head hr html i img ins kbd li mark ol p pre q s samp section small span ' +
    'strike strong sub sup table tbody td th thead title tr tt u ul ' +
    'audio break desc emphasis lang lexicon lookup metadata meta phoneme prosody say-as speak spell voice speed volume emotion'
  ).split(' '),
);
/** Tags that become a pause where the words around them would run together. */
const BREAKS = new Set(['br', 'break', 'div', 'hr', 'li', 'p', 'td', 'th', 'tr']);
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  euro: '€',
  pound: '£',
  copy: '©',
  reg: '®',
  deg: '°',
  hellip: '…',
  ndash: '–',
  mdash: '—',
};
const LONGEST_TAG = 200;
const LONGEST_FOOTNOTE = 24;
const LONGEST_DIRECTION = 40;
const ESCAPABLE = /[*_`~#|<>!+-]/;
const INVISIBLE = /[\u00AD\u200B\u2060\uFEFF]/;
/** Scripts in which emphasis within a word needs no space around it. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Thai}]/u;

const isSpace = (character: string | undefined): boolean => character === undefined || /\s/u.test(character);
const isDigit = (character: string | undefined): boolean => character !== undefined && /\d/.test(character);
const isWord = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}]/u.test(character) && !UNSPACED.test(character);

type Length = number;
/** Appends edits of a line. @returns how much of the line it has dealt with; 0 for nothing */
type Scanner = (line: Line, at: number, edits: Edit[]) => Length;

interface Line {
  readonly text: string;
  readonly vocabulary: Vocabulary | undefined;
}

/** Returns the edits of a line. @param line without its line break. @param offset of the line in the text that the edits are for */
export function editsOfInlineMarkup(line: Line, offset: number): readonly Edit[] {
  const edits: Edit[] = [];
  for (let at = 0; at < line.text.length;) at += SCANNERS[line.text[at]!]?.(line, at, edits) || plain(line, at, edits);
  let end = 0;
  return edits
    .toSorted((a, b) => a.from - b.from)
    .filter(({ from, to }) => from >= end && (end = to) > 0)
    .map(({ from, to, spoken }) => ({ from: from + offset, to: to + offset, spoken }));
}

const SCANNERS: Readonly<Record<string, Scanner>> = {
  '`': code,
  '!': ({ text }, at, edits) =>
    text[at + 1] === '[' && link({ text, vocabulary: undefined }, at + 1, []) > 0 ? leaveOut(edits, at, 1) : 0,
  '(': stageDirection,
  '[': (line, at, edits) => footnote(line, at, edits) || stageDirection(line, at, edits) || link(line, at, edits),
  ']': endOfLink,
  '*': emphasis,
  _: underscores,
  '~': strikeThrough,
  '<': (line, at, edits) => tag(line, at, edits) || autolink(line, at, edits),
  '&': ampersand,
  '|': ({ text, vocabulary }, at, edits) => between(text, at, '||', vocabulary?.or, edits),
  '→': ({ text }, at, edits) => pause(text, at, 1, edits),
  '\\': ({ text }, at, edits) => (ESCAPABLE.test(text[at + 1] ?? '') ? leaveOut(edits, at, 1) + 1 : 0),
};

function plain({ text }: Line, at: number, edits: Edit[]): Length {
  const character = text[at]!;
  if (INVISIBLE.test(character)) return leaveOut(edits, at, 1);
  // The character is a full-width letter or digit.
  if (/[\uFF10-\uFF19\uFF21-\uFF3A\uFF41-\uFF5A]/.test(character))
    edits.push({ from: at, to: at + 1, spoken: character.normalize('NFKC') });
  return 1;
}

function leaveOut(edits: Edit[], from: number, length: Length): Length {
  edits.push({ from, to: from + length, spoken: '' });
  return length;
}

function runAt(text: string, at: number): Length {
  let length = 1;
  while (text[at + length] === text[at]) length += 1;
  return length;
}

function code({ text }: Line, at: number, edits: Edit[]): Length {
  const length = leaveOut(edits, at, runAt(text, at));
  const end = text.indexOf('`'.repeat(length), at + length);
  return end < 0 ? length : end + leaveOut(edits, end, runAt(text, end)) - at;
}

function footnote({ text }: Line, at: number, edits: Edit[]): Length {
  const [found] = /^\[\^[^\]\s]+\](?::\s)?/.exec(text.slice(at, at + LONGEST_FOOTNOTE)) ?? [''];
  return found === '' ? 0 : leaveOut(edits, at, found.length);
}

/** Leaves out a stage direction. Takes a space beside it where two would be left. */
function stageDirection({ text, vocabulary }: Line, at: number, edits: Edit[]): Length {
  const [found] = vocabulary?.stageDirections.exec(text.slice(at, at + LONGEST_DIRECTION)) ?? [''];
  if (found === '') return 0;
  const isSpare = at > 0 && isSpace(text[at - 1]) && !isWord(text[at + found.length]);
  edits.push({ from: isSpare ? at - 1 : at, to: at + found.length, spoken: '' });
  return found.length;
}

/** Reads the text of `[text](address)` or `[text][reference]`, with the markup in it. */
function link({ text }: Line, at: number, edits: Edit[]): Length {
  return endOfTarget(text, text.indexOf(']', at)) === undefined ? 0 : leaveOut(edits, at, 1);
}

function endOfLink({ text }: Line, at: number, edits: Edit[]): Length {
  const end = endOfTarget(text, at);
  const opened = text.lastIndexOf('[', at);
  return end === undefined || !edits.some(({ from }) => from === opened) ? 0 : leaveOut(edits, at, end - at);
}

/** Returns the end of a link's target. @param at place of the bracket behind the link's text */
function endOfTarget(text: string, at: number): number | undefined {
  const closing = at < 0 ? undefined : { '(': ')', '[': ']' }[text[at + 1] ?? ''];
  const end = closing === undefined ? -1 : text.indexOf(closing, at + 2);
  return end < 0 || !/^\S*(?:\s+["'].*)?$/.test(text.slice(at + 2, end)) ? undefined : end + 1;
}

function emphasis({ text }: Line, at: number, edits: Edit[]): Length {
  const length = runAt(text, at);
  const [before, after] = [text[at - 1], text[at + length]];
  const isProduct = (isSpace(before) && isSpace(after)) || (isDigit(before) && isDigit(after));
  const isOfWord = length === 1 && isWord(before) && isWord(after);
  // A sign before a digit is dialled: "*67".
  const isDialled = length === 1 && isDigit(after) && !/\S\*(?![\p{L}\p{N}*])/u.test(text.slice(at + 1));
  return isProduct || isOfWord || isDialled ? length : leaveOut(edits, at, length);
}

function underscores({ text }: Line, at: number, edits: Edit[]): Length {
  const length = runAt(text, at);
  const [identifier] = /^__[a-z0-9]+(?:_[a-z0-9]+)*__(?![\p{L}\p{N}_])/u.exec(text.slice(at)) ?? [''];
  if (identifier !== '') return identifier.length;
  const [before, after] = [text[at - 1], text[at + length]];
  if ((isWord(before) && isWord(after)) || (length < 3 && isSpace(before) && isSpace(after))) return length;
  return leaveOut(edits, at, length);
}

/** Says that words are struck out: they stay in the history, so they are heard as such. */
function strikeThrough({ text, vocabulary }: Line, at: number, edits: Edit[]): Length {
  const ended = edits.find(({ from }) => from === at);
  if (ended !== undefined) return ended.to - at;
  const length = runAt(text, at);
  if (length < 2) return length;
  const end = text.indexOf('~~', at + length);
  if (end < 0) return leaveOut(edits, at, length);
  edits.push({ from: at, to: at + length, spoken: vocabulary === undefined ? '' : `${vocabulary.formerly} ` });
  const followed = /^\s*[\p{L}\p{N}$€£*_]/u.test(text.slice(end + 2));
  edits.push({ from: end, to: end + 2, spoken: followed ? ',' : '' });
  return length;
}

function tag({ text }: Line, at: number, edits: Edit[]): Length {
  const near = text.slice(at, at + LONGEST_TAG);
  if (near.startsWith('<!--')) return near.includes('-->') ? leaveOut(edits, at, near.indexOf('-->') + 3) : 0;
  const [found, name = ''] = /^<\/?([a-z][a-z0-9-]*)(?:[\s/][^<>]*)?>/i.exec(near) ?? [''];
  if (found === '' || !TAGS.has(name.toLowerCase())) return 0;
  return BREAKS.has(name.toLowerCase()) ? pause(text, at, found.length, edits) : leaveOut(edits, at, found.length);
}

function autolink({ text }: Line, at: number, edits: Edit[]): Length {
  const [found] = /^<(?:https?:\/\/|mailto:)?[^\s<>@]+(?:@[^\s<>@]+)?>/.exec(text.slice(at, at + LONGEST_TAG)) ?? [''];
  if (!/^<(?:https?:|mailto:)|@/.test(found)) return 0;
  leaveOut(edits, at, 1);
  leaveOut(edits, at + found.length - 1, 1);
  return found.length;
}

/** Puts a comma, unless a pause is there or no words are on one side. */
function pause(text: string, at: number, length: Length, edits: Edit[]): Length {
  let before = at;
  for (const { from, to, spoken } of edits.toReversed()) if (to === before && spoken === '') before = from;
  const from = before === at ? text.slice(0, at).trimEnd().length : at;
  const isBetween = /[\p{L}\p{N}]\s*$/u.test(text.slice(0, before)) && /^(?:\s|<[^<>]*>)*[\p{L}\p{N}]/u.test(text.slice(at + length));
  const spoken = isSpace(text[at + length]) ? ',' : ', ';
  edits.push(isBetween ? { from, to: at + length, spoken } : { from: at, to: at + length, spoken: '' });
  return length;
}

function ampersand({ text, vocabulary }: Line, at: number, edits: Edit[]): Length {
  const [entity, name = ''] = /^&(#\d{1,7}|#x[\da-f]{1,6}|[a-z]{2,8});/i.exec(text.slice(at, at + 12)) ?? [''];
  const character = entity === '' ? undefined : characterOf(name);
  if (character === undefined) return between(text, at, '&&', vocabulary?.and, edits) || between(text, at, '&', vocabulary?.and, edits);
  const isAlone = character === '&' && isSpace(text[at - 1]) && isSpace(text[at + entity.length]);
  edits.push({ from: at, to: at + entity.length, spoken: isAlone ? (vocabulary?.and ?? '&') : character });
  return entity.length;
}

function characterOf(name: string): string | undefined {
  if (!name.startsWith('#')) return ENTITIES[name.toLowerCase()];
  const point = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return point >= 32 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff) ? String.fromCodePoint(point) : undefined;
}

/** Replaces a sign with white space around it by a word. */
function between(text: string, at: number, sign: string, word: string | undefined, edits: Edit[]): Length {
  const end = at + sign.length;
  if (word === undefined || !text.startsWith(sign, at) || !isSpace(text[at - 1]) || !isSpace(text[end])) return 0;
  edits.push({ from: at, to: end, spoken: word });
  return sign.length;
}
