import { Parser as HtmlParser } from 'htmlparser2';

import type { Sink, TextBlock } from '../block.ts';
import { oneLine } from '../text/clean.ts';
import { Outline } from '../text/outline.ts';
import { TableBuilder } from './html-table.ts';

/** Elements that end the running text around them; so does `br`, except in headings. */
const BLOCK_ELEMENTS = new Set(
  'address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html legend li main nav ol option p pre section summary table tbody td tfoot th thead tr ul'.split(
    ' ',
  ),
);
const HEADING = /^h[1-6]$/u;
/** Elements whose content is not for readers. */
const UNREADABLE = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'math',
  'head',
  'iframe',
  'object',
  'select',
  'textarea',
  'canvas',
  'audio',
  'video',
]);

export interface HtmlBlocksOptions {
  readonly html: string;
  readonly sink: Sink;
  /** Of the page, for websites: the outermost section of all. */
  readonly title?: string;
  /** Address of the page, for websites. */
  readonly url?: string;
}

/** Walks HTML once, without building a tree, and puts its blocks into the sink. @returns the text of the first heading */
export function addHtmlBlocks(options: HtmlBlocksOptions): { readonly firstHeading?: string } {
  const walker = new Walker(options);
  const parser = new HtmlParser(
    {
      onopentag: (name, attributes) => walker.open(name, attributes),
      ontext: (text) => walker.text(text),
      onclosetag: (name) => walker.close(name),
      onend: () => walker.flush(),
    },
    { decodeEntities: true, lowerCaseTags: true },
  );
  parser.end(options.html);
  return walker.firstHeading === undefined ? {} : { firstHeading: walker.firstHeading };
}

class Walker {
  firstHeading: string | undefined;
  readonly #options: HtmlBlocksOptions;
  readonly #outline = new Outline();
  readonly #tables: TableBuilder[] = [];
  #text: string[] = [];
  #hidden = 0;
  #lists = 0;
  #quotes = 0;
  #headings = 0;
  #code = 0;

  constructor(options: HtmlBlocksOptions) {
    this.#options = options;
    if (options.title !== undefined)
      this.#add({ kind: 'heading', text: options.title, headingPath: this.#outline.enter(0, options.title) });
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (UNREADABLE.has(name)) this.#hidden += 1;
    if (this.#hidden > 0) return;
    if (name === 'br') {
      if (this.#headings > 0) this.text(' ');
      else this.#boundary();
      return;
    }
    if (BLOCK_ELEMENTS.has(name)) this.#boundary();
    const table = this.#tables.at(-1);
    if (name === 'table') this.#tables.push(new TableBuilder());
    else if (name === 'tr') table?.startRow();
    else if (name === 'caption') table?.startCaption();
    else if (name === 'thead') table?.startHead();
    else if (name === 'td' || name === 'th') table?.startCell(name === 'th', attributes);
    else if (name === 'li') this.#lists += 1;
    else if (name === 'blockquote') this.#quotes += 1;
    else if (name === 'pre') this.#code += 1;
    else if (HEADING.test(name)) this.#headings += 1;
  }

  text(text: string): void {
    if (this.#hidden > 0) return;
    const cell = this.#tables.at(-1);
    if (cell === undefined) this.#text.push(this.#code > 0 ? text : text.replace(/\s+/gu, ' '));
    else cell.text(text);
  }

  close(name: string): void {
    if (UNREADABLE.has(name)) {
      this.#hidden = Math.max(0, this.#hidden - 1);
      return;
    }
    if (this.#hidden > 0) return;
    if (HEADING.test(name) && this.#tables.length === 0) this.#heading(Number(name[1]));
    else if (name === 'table') this.#endTable();
    else if (name === 'caption') this.#tables.at(-1)?.endCaption();
    else if (name === 'thead') this.#tables.at(-1)?.endHead();
    else if (name === 'td' || name === 'th') this.#tables.at(-1)?.endCell();
    else if (BLOCK_ELEMENTS.has(name)) this.#boundary();
    if (name === 'li') this.#lists = Math.max(0, this.#lists - 1);
    else if (name === 'blockquote') this.#quotes = Math.max(0, this.#quotes - 1);
    else if (name === 'pre') this.#code = Math.max(0, this.#code - 1);
    else if (HEADING.test(name)) this.#headings = Math.max(0, this.#headings - 1);
  }

  /** Ends the running text, and makes a block of it. */
  flush(): void {
    const text = this.#text.join('');
    this.#text = [];
    if (text.trim() === '') return;
    const kind: TextBlock['kind'] = this.#code > 0 ? 'code' : this.#lists > 0 ? 'listItem' : this.#quotes > 0 ? 'quote' : 'paragraph';
    this.#add({ kind, text, headingPath: this.#outline.path });
  }

  #boundary(): void {
    const table = this.#tables.at(-1);
    if (table === undefined) this.flush();
    else table.text(' ');
  }

  #heading(level: number): void {
    const title = oneLine(this.#text.join(''));
    this.#text = [];
    if (title === '') return;
    const isFirst = this.firstHeading === undefined;
    this.firstHeading ??= title;
    // A page's first heading says again what its title says.
    if (isFirst && this.#options.title !== undefined && inParts(this.#options.title).includes(inParts(title))) return;
    this.#add({ kind: 'heading', text: title, headingPath: this.#outline.enter(level, title) });
  }

  #endTable(): void {
    const table = this.#tables.pop();
    if (table === undefined) return;
    for (const block of table.blocks(this.#outline.path)) this.#options.sink.add(this.#placed(block));
  }

  #add(block: TextBlock): void {
    this.#options.sink.add(this.#placed(block));
  }

  #placed<B extends object>(block: B): B {
    return this.#options.url === undefined ? block : { ...block, url: this.#options.url };
  }
}

/** `Prices – Acme` as `|prices|acme|`, so that whole parts of titles can be compared. */
function inParts(title: string): string {
  return `|${title.toLowerCase().replace(/\s*[|:·•«»‹›]\s*|\s[-–—]\s/gu, '|')}|`;
}
