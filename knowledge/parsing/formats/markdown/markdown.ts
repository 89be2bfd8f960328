import type { Nodes, RootContent, Table } from 'mdast';
import { toString } from 'mdast-util-to-string';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import { unified } from 'unified';

import { isObject } from '../../../../platform/json.ts';
import { readYaml } from '../../../../platform/yaml.ts';
import { decodeText } from '../../text/decode.ts';
import { LEGACY_FONT_WARNING, looksLikeLegacyBangla } from '../../text/legacy-bangla.ts';
import { Outline } from '../../text/outline.ts';
import { deepBracketsApart, markdownPieces } from './markdown-pieces.ts';
import type { Parser, Sink } from '../../block.ts';

/** Rows in one table block. */
const ROWS_PER_BLOCK = 100;

/** CommonMark with GitHub's tables, and front matter, whose `title` is the document's. Code fences stay whole. */
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
      for (const node of processor.parse(part.text).children) {
        if (node.type === 'heading') {
          const text = readable(node);
          firstHeading ??= text;
          sink.add({ kind: 'heading', text, headingPath: outline.enter(node.depth, text) });
        } else if (node.type === 'table') {
          addTable(node, { headingPath: outline.path, sink, firstRow: piece.firstRow });
        } else {
          addNode(node, outline.path, sink);
        }
      }
    }
    done += piece.text.length;
    sink.progress(Math.min(done, body.length), body.length);
  }
  const name = title ?? firstHeading;
  return name === undefined || name === '' ? {} : { title: name };
};

function addNode(node: RootContent, headingPath: readonly string[], sink: Sink): void {
  switch (node.type) {
    case 'code':
      sink.add({ kind: 'code', text: node.value, headingPath });
      return;
    case 'table':
      addTable(node, { headingPath, sink, firstRow: 1 });
      return;
    case 'list':
      for (const item of node.children) {
        for (const child of item.children) {
          if (child.type === 'paragraph') sink.add({ kind: 'listItem', text: readable(child), headingPath });
          else addNode(child, headingPath, sink);
        }
      }
      return;
    case 'blockquote':
      for (const child of node.children) {
        if (child.type === 'paragraph') sink.add({ kind: 'quote', text: readable(child), headingPath });
        else addNode(child, headingPath, sink);
      }
      return;
    case 'footnoteDefinition':
      for (const child of node.children) addNode(child, headingPath, sink);
      return;
    case 'html':
      sink.add({ kind: 'paragraph', text: withoutTags(node.value), headingPath });
      return;
    default:
      if (node.type !== 'definition' && node.type !== 'thematicBreak') sink.add({ kind: 'paragraph', text: readable(node), headingPath });
  }
}

function addTable(
  table: Table,
  options: { readonly headingPath: readonly string[]; readonly sink: Sink; readonly firstRow: number },
): void {
  const { headingPath, sink, firstRow } = options;
  const [header = [], ...rows] = table.children.map((row) => row.children.map(readable));
  for (let at = 0; at < Math.max(1, rows.length); at += ROWS_PER_BLOCK)
    sink.add({ kind: 'table', header, rows: rows.slice(at, at + ROWS_PER_BLOCK), firstRow: firstRow + at, headingPath });
}

/** Text as it is read: line breaks are kept, tags are not. */
function readable(node: Nodes): string {
  if (node.type === 'break') return '\n';
  if (node.type === 'html') return withoutTags(node.value);
  if ('children' in node) return node.children.map(readable).join('');
  return toString(node);
}

function withoutTags(html: string): string {
  return html.replace(/<!--[\s\S]*?(?:-->|$)|<[^<>]*>/gu, ' ');
}

/** Front matter is a YAML mapping between two lines of three dashes at the very start. */
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
