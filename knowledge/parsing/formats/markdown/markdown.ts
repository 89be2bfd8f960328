import type { List, Nodes, RootContent, Table } from 'mdast';
import { toString } from 'mdast-util-to-string';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';

import { isObject } from '../../../../platform/json.ts';
import { readYaml } from '../../../../platform/yaml.ts';
import { decodeText } from '../../text/decode.ts';
import { LEGACY_FONT_WARNING, looksLikeLegacyBangla } from '../../text/legacy-bangla.ts';
import { resolveMarks, STRUCK } from '../../text/marked-text.ts';
import { Outline } from '../../text/outline.ts';
import { tick } from '../../text/tick.ts';
import { addHtmlBlocks } from '../html/html-blocks.ts';
import { inlineTag, withWords } from './markdown-html.ts';
import { deepBracketsApart, markdownPieces } from './markdown-pieces.ts';
import type { Parser, Sink } from '../../block.ts';

const ROWS_PER_BLOCK = 100;

/** Reads CommonMark with GitHub's tables, and front matter, whose `title` is the document's. Code fences stay whole. */
export const parseMarkdown: Parser = (input, sink) => {
  const { body, title } = splitFrontMatter(decodeText(input.content));
  if (looksLikeLegacyBangla(body)) sink.warn(LEGACY_FONT_WARNING);
  const processor = unified().use(remarkParse).use(remarkGfm);
  const outline = new Outline();
  let firstHeading: string | undefined;
  let done = 0;
  for (const piece of markdownPieces(body)) {
    for (const part of deepBracketsApart(piece.text)) {
      if (part.isDeep) {
        sink.add({ kind: 'paragraph', text: part.text.trim(), headingPath: outline.path });
        continue;
      }
      for (const node of withWholeTables(processor.parse(part.text).children, part.text)) {
        const place = { headingPath: outline.path, sink, source: part.text };
        if (node.type === 'heading') {
          const text = visibleText(node, sink);
          firstHeading ??= text;
          sink.add({ kind: 'heading', text, headingPath: outline.enter(node.depth, text) });
        } else if (node.type === 'table') {
          addTable(node, place, piece.firstRow);
        } else {
          addNode(node, place);
        }
      }
    }
    done += piece.text.length;
    sink.progress(Math.min(done, body.length), body.length);
  }
  const name = title ?? firstHeading;
  return name === undefined || name === '' ? {} : { title: name };
};

interface Place {
  readonly headingPath: readonly string[];
  readonly sink: Sink;
  readonly source: string;
}

/** Joins the parts of HTML tables: an empty line ends HTML in Markdown, also within a table. */
function* withWholeTables(nodes: readonly RootContent[], source: string): Generator<RootContent> {
  let isEnded = true;
  for (let at = 0; at < nodes.length; at += 1) {
    const node = nodes[at];
    if (node === undefined) return;
    let last = at;
    if (isEnded && node.type === 'html' && /<table\b/iu.test(node.value) && !/<\/table/iu.test(node.value)) {
      last = nodes.findIndex((other, index) => index > at && other.type === 'html' && /<\/table/iu.test(other.value));
      // The tables that follow don't end either.
      isEnded = last >= 0;
    }
    const [from, to] = [node.position?.start.offset, nodes[last]?.position?.end.offset];
    if (last <= at || from === undefined || to === undefined) {
      yield node;
      continue;
    }
    yield { type: 'html', value: source.slice(from, to) };
    at = last;
  }
}

function addNode(node: RootContent, place: Place): void {
  const { headingPath, sink } = place;
  switch (node.type) {
    case 'code':
      sink.add({ kind: 'code', text: node.value, headingPath });
      return;
    case 'table':
      addTable(node, place, 1);
      return;
    case 'list':
      addList(node, place);
      return;
    case 'blockquote':
      for (const child of node.children) {
        if (child.type === 'paragraph') sink.add({ kind: 'quote', text: visibleText(child, sink), headingPath });
        else addNode(child, place);
      }
      return;
    case 'footnoteDefinition':
      for (const [at, child] of node.children.entries()) {
        if (child.type === 'paragraph' && at === 0)
          sink.add({ kind: 'paragraph', text: `${footnoteMark(node)} ${visibleText(child, sink)}`, headingPath });
        else addNode(child, place);
      }
      return;
    case 'html':
      addHtmlBlocks({ html: withWords(node.value), sink, within: headingPath });
      return;
    default:
      if (node.type !== 'definition' && node.type !== 'thematicBreak')
        sink.add({ kind: 'paragraph', text: visibleText(node, sink), headingPath });
  }
}

/** Adds a list; numbers and ticks stand with the first paragraph of their item. */
function addList(list: List, place: Place): void {
  const { headingPath, sink } = place;
  const numbers = list.ordered === true ? itemNumbers(list, place.source) : [];
  for (const [at, item] of list.children.entries()) {
    let mark = (numbers[at] ?? '') + (typeof item.checked === 'boolean' ? tick(item.checked) : '');
    for (const child of item.children) {
      if (child.type !== 'paragraph') {
        addNode(child, place);
        continue;
      }
      sink.add({ kind: 'listItem', text: mark + visibleText(child, sink), headingPath });
      mark = '';
    }
  }
}

/** Returns the numbers as they are written: days of a month look like a list, too. The same number in front of all lets Markdown count. */
function itemNumbers(list: List, source: string): readonly string[] {
  const marks = list.children.map(({ position }) =>
    /^(\d{1,9})([.)])/u.exec(source.slice(position?.start.offset, (position?.start.offset ?? 0) + 10)),
  );
  const [first] = marks;
  const counts = marks.length > 1 && marks.every((mark) => mark?.[1] === first?.[1]);
  return marks.map((mark, at) => (counts || mark === null ? `${(list.start ?? 1) + at}. ` : `${mark[0]} `));
}

function addTable(table: Table, { headingPath, sink }: Place, firstRow: number): void {
  const [header = [], ...rows] = table.children.map((row) => row.children.map((cell) => visibleText(cell, sink)));
  for (let at = 0; at < Math.max(1, rows.length); at += ROWS_PER_BLOCK)
    sink.add({ kind: 'table', header, rows: rows.slice(at, at + ROWS_PER_BLOCK), firstRow: firstRow + at, headingPath });
}

/** Returns the visible text: line breaks are kept, tags are not, and struck-through text is left out. */
function visibleText(node: Nodes, sink: Sink): string {
  return resolveMarks(markedText(node), sink);
}

function markedText(node: Nodes): string {
  if (node.type === 'break') return '\n';
  if (node.type === 'html') return inlineTag(node.value);
  if (node.type === 'footnoteReference') return footnoteMark(node);
  const text = 'children' in node ? node.children.map(markedText).join('') : toString(node);
  return node.type === 'delete' ? STRUCK.open + text + STRUCK.close : text;
}

function footnoteMark({ label, identifier }: { readonly label?: string | null | undefined; readonly identifier: string }): string {
  return `[${label ?? identifier}]`;
}

/** Splits off front matter: a YAML mapping between two lines of three dashes at the very start. */
function splitFrontMatter(text: string): { readonly body: string; readonly title?: string } {
  const match = /^\ufeff?---[^\S\n]*\r?\n([\s\S]{0,65536}?)\r?\n---[^\S\n]*(?:\r?\n|$)/u.exec(text);
  if (match === null) return { body: text };
  try {
    const fields = readYaml(match[1] ?? '')[0]?.value;
    if (!isObject(fields)) return { body: text };
    const { title } = fields;
    return { body: text.slice(match[0].length), ...(typeof title === 'string' && { title }) };
  } catch {
    return { body: text };
  }
}
