import { Readability } from '@mozilla/readability';
import { type CheerioAPI, load } from 'cheerio';
import { Parser as HtmlParser } from 'htmlparser2';
import { parseHTML } from 'linkedom';

import { IngestionError } from '../../ingestion-failure.ts';
import { nestedTooDeep } from '../archive/scan-xml.ts';
import { HTML_BYTES, NESTING_LIMIT } from '../limits.ts';
import { oneLine } from '../text/clean.ts';
import { decodeText } from '../text/decode.ts';
import { addHtmlBlocks } from './html-blocks.ts';
import type { Parser } from '../block.ts';

/** Readability drops one heading whose words are all in the title, be it that of a later section. Repeated titles are known further on. */
class ArticleReader extends Readability {
  _headerDuplicatesTitle(): boolean {
    return false;
  }
}

/** Below this share of the page's own text, the article that was found is not the page. */
const LEAST_SHARE = 0.5;

/** A web page: its article without menus and advertisements, or the whole page where no article stands out. */
export const parseHtml: Parser = (input, sink) => {
  if (input.content.length > HTML_BYTES)
    throw new IngestionError('too_large', `The page is larger than ${HTML_BYTES / 1e6} MB. Give the addresses of its parts instead.`);
  const html = decodeText(input.content, charset(input.contentType, input.content));
  checkDepth(html);
  const page = load(html);
  page('h1 br').replaceWith(' ');
  const title = oneLine(page('title').first().text()) || oneLine(page('h1').first().text());
  page('script, style, noscript, template, svg, iframe, object, embed, canvas, link, form input, button, select').remove();
  const whole = ownText(page);
  const article = readable(page);
  const isPage = article !== undefined && visibleLength(article) >= visibleLength(whole) * LEAST_SHARE;
  addHtmlBlocks({
    html: isPage ? article : whole,
    sink,
    ...(title === '' ? {} : { title }),
    ...(input.url === undefined ? {} : { url: input.url }),
  });
  return title === '' ? {} : { title };
};

/** The response says it, or the page's first bytes do. @see https://html.spec.whatwg.org/#determining-the-character-encoding */
function charset(contentType: string | undefined, content: Buffer): string | undefined {
  const named = /charset\s*=\s*["']?([\w.:-]+)/iu;
  const meta = content
    .toString('latin1', 0, 4096)
    .match(/<meta[^>]+>/giu)
    ?.join('');
  const inPage = named.exec(meta ?? '')?.[1];
  // A page that could be read so far is not in UTF-16, whatever it says: Word writes "unicode".
  return (
    named.exec(contentType ?? '')?.[1] ?? (/^(utf-16|unicode|ucs-2|iso-10646-ucs-2|csunicode)/iu.test(inPage ?? '') ? 'utf-8' : inPage)
  );
}

/** Trees are built by recursion further on. */
function checkDepth(html: string): void {
  let depth = 0;
  const parser = new HtmlParser({
    onopentagname: () => {
      depth += 1;
      if (depth > NESTING_LIMIT) nestedTooDeep(depth);
    },
    onclosetag: () => (depth -= 1),
  });
  parser.end(html);
}

/** All of the page that is no menu, advertisement or footer. */
function ownText(page: CheerioAPI): string {
  const copy = load(page.html());
  copy('nav, footer, aside, [role=navigation], [role=banner], [role=contentinfo], [hidden], [aria-hidden=true]').remove();
  copy('header')
    .filter((_, header) => copy(header).find('h1').length === 0)
    .remove();
  const main = copy('main');
  return (main.length === 1 && visibleLength(main.html() ?? '') > 200 ? main.html() : copy('body').html()) ?? '';
}

function readable(page: CheerioAPI): string | undefined {
  try {
    const { document } = parseHTML(page.html());
    return new ArticleReader(document, { maxElemsToParse: 100_000 }).parse()?.content ?? undefined;
  } catch {
    // Too many elements, or a page it can't make sense of: the whole page is read instead.
    return undefined;
  }
}

function visibleLength(html: string): number {
  return html.replace(/<[^<>]*>|\s/gu, '').length;
}
