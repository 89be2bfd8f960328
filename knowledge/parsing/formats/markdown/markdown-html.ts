/** Handles HTML within Markdown: elements, and words that only stand in angle brackets. */
import { RAISED, STRUCK } from '../../text/marked-text.ts';

const ELEMENTS = new Set(
  'a abbr acronym address area article aside audio b base bdi bdo big blockquote body br button canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img input ins kbd label legend li link main map mark menu meta meter nav noscript object ol optgroup option output p param picture pre progress q rp rt ruby s samp script search section select slot small source span strike strong style sub summary sup svg table tbody td template textarea tfoot th thead time title tr track tt u ul var video wbr math path g'.split(
    ' ',
  ),
);
/** Elements that stand between letters, without a space. */
const IN_WORD = new Set(
  'a abbr b bdi big cite code data del dfn em font i ins kbd mark q s samp small span strike strong sub sup time tt u var wbr'.split(' '),
);
const STRIKING = new Set(['s', 'strike', 'del']);
const TAG = /<(\/?)([a-z][\w:-]*)(?=[\s/>])[^<>]*>/giu;

/** Returns the text for one tag or comment between words: a mark, a space, nothing, or the tag itself. */
export function inlineTag(html: string): string {
  const [, closing, name = ''] = new RegExp(TAG.source, 'iu').exec(html) ?? [];
  const element = name.toLowerCase();
  const side = closing === '/' ? 'close' : 'open';
  if (element === '') return ' ';
  if (!ELEMENTS.has(element)) return html;
  if (element === 'sup') return RAISED[side];
  if (STRIKING.has(element)) return STRUCK[side];
  return IN_WORD.has(element) ? '' : ' ';
}

/** Turns words in angle brackets that are no elements into text. */
export function withWords(html: string): string {
  return html.replace(TAG, (tag: string, _closing: string, name: string) =>
    ELEMENTS.has(name.toLowerCase()) ? tag : tag.replace('<', '&lt;').replace('>', '&gt;'),
  );
}
