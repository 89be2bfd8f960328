/** Markdown as a page of the site. Pure. */
import { toString } from 'mdast-util-to-string';
import type { Heading, Nodes, Root } from 'mdast';
import rehypeStringify from 'rehype-stringify';
import remarkGfm from 'remark-gfm';
import remarkParse from 'remark-parse';
import remarkRehype from 'remark-rehype';
import { unified } from 'unified';

export interface Section {
  /** Anchor of its heading; empty for what stands before the second heading. */
  readonly anchor: string;
  readonly title: string;
  readonly text: string;
}

export interface RenderedPage {
  readonly title: string;
  readonly html: string;
  /** What the search finds. */
  readonly sections: readonly Section[];
}

/** @param leadTo the address in the site for that of a link or an image */
export function renderMarkdown(source: string, leadTo: (address: string) => string): RenderedPage {
  const tree = unified().use(remarkParse).use(remarkGfm).parse(source);
  const anchors = new Set<string>();
  const sections: { anchor: string; title: string; text: string }[] = [];
  for (const node of tree.children) {
    if (node.type === 'heading') {
      const anchor = anchorOf(node, anchors);
      node.data = { hProperties: { id: anchor } };
      sections.push({ anchor: node.depth === 1 ? '' : anchor, title: toString(node), text: '' });
    } else {
      const section = sections.at(-1);
      if (section !== undefined) section.text += `${textOf(node)}\n`;
    }
  }
  redirect(tree, leadTo);
  const html = unified().use(remarkRehype).use(rehypeStringify);
  return { title: sections[0]?.title ?? '', html: html.stringify(html.runSync(tree)), sections };
}

/** As GitHub makes them of headings. */
function anchorOf(heading: Heading, taken: Set<string>): string {
  const base = toString(heading)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
  let anchor = base;
  for (let count = 1; taken.has(anchor); count += 1) anchor = `${base}-${count}`;
  taken.add(anchor);
  return anchor;
}

/** With blanks between cells and items. */
function textOf(node: Nodes): string {
  if (!('children' in node)) return toString(node);
  const separator = ['paragraph', 'emphasis', 'strong', 'link', 'tableCell'].includes(node.type) ? '' : ' ';
  return node.children.map(textOf).join(separator);
}

function redirect(node: Nodes | Root, leadTo: (address: string) => string): void {
  if (node.type === 'link' || node.type === 'image' || node.type === 'definition') node.url = leadTo(node.url);
  if ('children' in node) for (const child of node.children) redirect(child, leadTo);
}
