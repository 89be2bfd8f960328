import { Readability } from '@mozilla/readability';
import { type CheerioAPI, load } from 'cheerio';
import { Parser as HtmlParser } from 'htmlparser2';
import { parseHTML } from 'linkedom';

import { IngestionError } from '../../../ingestion-failure.ts';
import { nestedTooDeep } from '../../archive/scan-xml.ts';
import { HTML_BYTES, NESTING_LIMIT } from '../../limits.ts';
import { oneLine } from '../../text/clean.ts';
import { decodeText } from '../../text/decode.ts';
import type { Parser, Sink } from '../../block.ts';
import { openPanels } from './click-panels.ts';
import { addHtmlBlocks } from './html-blocks.ts';
import { describePictures, markStruck, removeChrome, spellOutChoices, structuredQuestions, takeContacts } from './page-parts.ts';

/**
 * Keeps a heading that Readability would drop, because its words are all in the title: it may be that of a later section. Repeated titles
 * are detected further on.
 */
class ArticleReader extends Readability {
  _headerDuplicatesTitle(): boolean {
    return false;
  }
}

/** Below this share of the page's own text, the article that was found is not the page. */
const LEAST_SHARE = 0.7;

/** Reads a web page: its main part, or its article without menus and advertisements, or the whole page where no article stands out. */
export const parseHtml: Parser = (input, sink) => {
  if (input.content.length > HTML_BYTES)
    throw new IngestionError('too_large', `The page is larger than ${HTML_BYTES / 1e6} MB. Give the addresses of its parts instead.`);
  const html = decodeHtml(input.content, input.contentType);
  const page = load(html);
  page('h1 br').replaceWith(' ');
  const title = oneLine(page('title').first().text()) || oneLine(page('h1').first().text());
  const hasScripts = page('script').length > 0;
  const questions = structuredQuestions(page);
  page('script, style, noscript, template, iframe, object, embed, canvas, link').remove();
  const hasPanels = openPanels(page);
  markStruck(page);
  spellOutChoices(page);
  describePictures(page);
  page('svg, form input, button, select').remove();
  removeChrome(page);
  const contacts = takeContacts(page);
  const text = hasPanels ? ownText(page) : articleOrAll(page);
  checkText({ body: text + questions + contacts.join(''), hasScripts, bytes: input.content.length, sink });
  const place = input.url === undefined ? {} : { url: input.url };
  addHtmlBlocks({ html: text, sink, ...place, ...(title === '' ? {} : { title }) });
  const within = title === '' ? [] : [title];
  addHtmlBlocks({ html: questions, sink, ...place, within });
  for (const contact of contacts) addHtmlBlocks({ html: contact, sink, ...place, within, isAside: true });
  return title === '' ? {} : { title };
};

/** Decodes HTML of any encoding, and checks its depth. @throws IngestionError `too_large` or `unsupported_content` */
export function decodeHtml(content: Buffer, contentType?: string): string {
  const html = decodeText(content, charset(contentType, content));
  checkDepth(html);
  return html;
}

/**
 * Finds the encoding in the response's header or the page's first bytes. @see
 * https://html.spec.whatwg.org/#determining-the-character-encoding
 */
function charset(contentType: string | undefined, content: Buffer): string | undefined {
  const named = /charset\s*=\s*["']?([\w.:-]+)/iu;
  const meta = content
    .toString('latin1', 0, 4096)
    .match(/<meta[^>]+>/giu)
    ?.join('');
  const inPage = named.exec(meta ?? '')?.[1];
  // A page that could be read so far is not in UTF-16, whatever it claims: Word writes "unicode".
  return (
    named.exec(contentType ?? '')?.[1] ?? (/^(utf-16|unicode|ucs-2|iso-10646-ucs-2|csunicode)/iu.test(inPage ?? '') ? 'utf-8' : inPage)
  );
}

/** Refuses deep HTML, because later steps build trees by recursion. */
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

/** Returns the page's text without menus and advertisements. */
function ownText(page: CheerioAPI): string {
  const copy = load(page.html());
  copy('[hidden], [aria-hidden=true], [style*="display:none"], [style*="display: none"]').remove();
  const main = copy('main');
  return (main.length === 1 && visibleLength(main.html() ?? '') > 200 ? main.html() : copy('body').html()) ?? '';
}

function articleOrAll(page: CheerioAPI): string {
  const all = ownText(page);
  const article = page('main').length === 1 ? undefined : readable(page);
  return article !== undefined && visibleLength(article) >= visibleLength(all) * LEAST_SHARE ? article : all;
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

/** The whole text of a page that its scripts have yet to fill. */
const WAITING = new RegExp(
  [
    String.raw`^[\s\p{P}]*(?:please wait|one moment|just a moment|you (?:will be|are being) redirected|(?:you need to |please )?enable javascript|bitte warten`,
    String.raw`(?:wird|seite|daten|inhalt|inhalte) geladen|読み込み中|加载中|正在加载|로딩`,
    String.raw`(?:loading|redirecting|weiterleitung|lädt|laden|chargement|redirection|cargando|redirigiendo|carregando|caricamento|yükleniyor|загрузка)[\s\p{P}]*(?:$|[.…!,]))`,
  ].join('|'),
  'iu',
);
const MOST_OF_NOTHING = 200;
/** Letters and digits that a page with scripts is expected to have at least. */
const LITTLE = 100;
const LARGE_PAGE = 10_000;

/** @throws IngestionError `empty_document` where there is nothing to read; warns where there is hardly anything */
function checkText(options: { readonly body: string; readonly hasScripts: boolean; readonly bytes: number; readonly sink: Sink }): void {
  const { body, hasScripts, bytes, sink } = options;
  const text = load(body, null, false).text();
  const letters = text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  if (letters === 0 || (letters <= MOST_OF_NOTHING && WAITING.test(text)))
    throw new IngestionError(
      'empty_document',
      hasScripts
        ? 'The page has no text until its scripts run, and they are not run. Give the address of a page that has its text in its HTML, or upload the text as a file.'
        : 'The page has no text of its own. Open it in a browser, and give the address that it ends at.',
    );
  if (hasScripts && letters < LITTLE && bytes > LARGE_PAGE)
    sink.warn(
      'the page has hardly any text until its scripts run, and they are not run: compare it with what a browser shows, and upload what is missing as a file',
    );
}
