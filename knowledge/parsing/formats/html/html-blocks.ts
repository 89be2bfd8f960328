import { Parser as HtmlParser } from 'htmlparser2';

import type { Sink, TextBlock } from '../../block.ts';
import { oneLine } from '../../text/clean.ts';
import { formatListNumber, type NumberFormat } from '../../text/list-number.ts';
import { RAISED, resolveMarks, STRUCK } from '../../text/marked-text.ts';
import { Outline } from '../../text/outline.ts';
import { tick } from '../../text/tick.ts';
import { TableBuilder } from '../table-builder.ts';

/** Elements that end the running text around them; so does `br`, except in headings. */
const BLOCK_ELEMENTS = new Set(
  'address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html legend li main nav ol option p pre section summary table tbody td tfoot th thead tr ul parley-panel'.split(
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
/** Marks around the text of these elements: see {@link resolveMarks}. */
const MARKS: Readonly<Record<string, { readonly open: string; readonly close: string } | undefined>> = {
  sup: RAISED,
  s: STRUCK,
  strike: STRUCK,
  del: STRUCK,
};
/** Number formats by the `type` of `ol`. */
const LIST_TYPES: Readonly<Record<string, NumberFormat | undefined>> = {
  a: 'lowerLetter',
  A: 'upperLetter',
  i: 'lowerRoman',
  I: 'upperRoman',
};

/** Parley's own element: a part of a page whose headings end with it. */
export const PANEL_ELEMENT = 'parley-panel';

export interface HtmlBlocksOptions {
  readonly html: string;
  readonly sink: Sink;
  /** Title of the page, for websites: the outermost section of all. */
  readonly title?: string;
  readonly url?: string;
  /** True if the HTML stands beside the text of the page. */
  readonly isAside?: boolean;
  /** Sections around the HTML, where it is part of a document of another format. */
  readonly within?: readonly string[];
}

/** Walks HTML once, without building a tree, and puts its blocks into the sink. */
export function addHtmlBlocks(options: HtmlBlocksOptions): void {
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
}

interface OpenList {
  /** Format of the numbers; undefined for lists without any. */
  readonly format: NumberFormat | undefined;
  readonly step: 1 | -1;
  next: number;
}

class Walker {
  readonly #options: HtmlBlocksOptions;
  readonly #outline = new Outline();
  readonly #tables: TableBuilder[] = [];
  readonly #lists: OpenList[] = [];
  readonly #panels: (() => void)[] = [];
  #text: string[] = [];
  /** Number of the list item whose text begins next. */
  #number = '';
  #hasHeading = false;
  #hidden = 0;
  #items = 0;
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
    else if (name === 'td' || name === 'th') table?.startCell(cellOf(name, attributes));
    else if (name === 'ol' || name === 'ul') this.#lists.push(openList(name, attributes));
    else if (name === 'li') this.#startItem(attributes);
    else if (name === 'input' && attributes['type'] === 'checkbox') this.text(tick('checked' in attributes));
    else if (name === PANEL_ELEMENT) this.#panels.push(this.#outline.mark());
    else if (name === 'blockquote') this.#quotes += 1;
    else if (name === 'pre') this.#code += 1;
    else if (HEADING.test(name)) this.#headings += 1;
    else if (MARKS[name] !== undefined) this.text(MARKS[name].open);
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
    if (MARKS[name] !== undefined) this.text(MARKS[name].close);
    else if (HEADING.test(name) && this.#tables.length === 0) this.#heading(Number(name[1]));
    else if (name === 'table') this.#endTable();
    else if (name === 'caption') this.#tables.at(-1)?.endCaption();
    else if (name === 'thead') this.#tables.at(-1)?.endHead();
    else if (name === 'td' || name === 'th') this.#tables.at(-1)?.endCell();
    else if (BLOCK_ELEMENTS.has(name)) this.#boundary();
    if (name === PANEL_ELEMENT) this.#panels.pop()?.();
    else if (name === 'ol' || name === 'ul') this.#lists.pop();
    else if (name === 'li') this.#endItem();
    else if (name === 'blockquote') this.#quotes = Math.max(0, this.#quotes - 1);
    else if (name === 'pre') this.#code = Math.max(0, this.#code - 1);
    else if (HEADING.test(name)) this.#headings = Math.max(0, this.#headings - 1);
  }

  /** Ends the running text, and makes a block of it. */
  flush(): void {
    const text = this.#takeText();
    if (text.trim() === '') return;
    const kind: TextBlock['kind'] = this.#code > 0 ? 'code' : this.#items > 0 ? 'listItem' : this.#quotes > 0 ? 'quote' : 'paragraph';
    this.#add({ kind, text: this.#takeNumber() + text, headingPath: this.#outline.path });
  }

  #takeText(): string {
    const text = resolveMarks(this.#text.join(''), this.#options.sink);
    this.#text = [];
    return text;
  }

  #takeNumber(): string {
    const number = this.#number;
    this.#number = '';
    return number;
  }

  #startItem(attributes: Readonly<Record<string, string>>): void {
    this.#items += 1;
    const list = this.#lists.at(-1);
    if (list?.format === undefined) return;
    list.next = integer(attributes['value']) ?? list.next;
    const number = `${formatListNumber(list.next, list.format)}. `;
    list.next += list.step;
    if (this.#tables.length > 0) this.text(number);
    else this.#number = number;
  }

  #endItem(): void {
    this.#items = Math.max(0, this.#items - 1);
    this.#number = '';
  }

  #boundary(): void {
    const table = this.#tables.at(-1);
    if (table === undefined) this.flush();
    else table.text(' ');
  }

  #heading(level: number): void {
    const text = oneLine(this.#takeText());
    if (text === '') return;
    const title = this.#takeNumber() + text;
    const isFirst = !this.#hasHeading;
    this.#hasHeading = true;
    // A page's first heading repeats its title.
    if (isFirst && this.#options.title !== undefined && inParts(this.#options.title).includes(inParts(title))) return;
    this.#add({ kind: 'heading', text: title, headingPath: this.#outline.enter(level, title) });
  }

  #endTable(): void {
    const table = this.#tables.pop();
    if (table === undefined) return;
    const text = (cell: string): string => resolveMarks(cell, this.#options.sink);
    for (const block of table.blocks(this.#outline.path, text)) this.#options.sink.add(this.#placed(block));
  }

  #add(block: TextBlock): void {
    this.#options.sink.add(this.#placed(block));
  }

  #placed<B extends { readonly headingPath: readonly string[] }>(block: B): B {
    const { isAside, url, within } = this.#options;
    return {
      ...block,
      ...(within !== undefined && { headingPath: [...within, ...block.headingPath] }),
      ...(url !== undefined && { url }),
      ...(isAside === true && { isAside }),
    };
  }
}

function cellOf(name: string, attributes: Readonly<Record<string, string>>): Parameters<TableBuilder['startCell']>[0] {
  return { isHeader: name === 'th', columns: integer(attributes['colspan']) ?? 1, rows: integer(attributes['rowspan']) ?? 1 };
}

function openList(name: string, attributes: Readonly<Record<string, string>>): OpenList {
  const start = integer(attributes['start']);
  const isReversed = 'reversed' in attributes;
  // The first number of a reversed list is known only at its end.
  const hasNumbers = name === 'ol' && (!isReversed || start !== undefined);
  return {
    format: hasNumbers ? (LIST_TYPES[attributes['type'] ?? ''] ?? 'decimal') : undefined,
    step: isReversed ? -1 : 1,
    next: start ?? 1,
  };
}

function integer(value: string | undefined): number | undefined {
  const number = Number.parseInt(value ?? '', 10);
  return Number.isSafeInteger(number) ? number : undefined;
}

/** Writes `Prices – Acme` as `|prices|acme|`, so that whole parts of titles can be compared. */
function inParts(title: string): string {
  return `|${title.toLowerCase().replace(/\s*[|:·•«»‹›]\s*|\s[-–—]\s/gu, '|')}|`;
}
