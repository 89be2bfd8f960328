/** Shows the content that a visitor opens by a click: accordions, tabs, "read more". The text that opens it stands above as a heading. */
import type { Cheerio, CheerioAPI } from 'cheerio';
import type { Element } from 'domhandler';

import { PANEL_ELEMENT } from './html-blocks.ts';

const TOGGLES = 'button, [role=button], [role=tab], [data-toggle], [data-bs-toggle], [aria-expanded][aria-controls]';
const TOGGLE_CLASS = /accordion|collaps|toggle|faq|tab|question|expand/iu;
const HIDDEN = '[hidden], [aria-hidden=true], [style*="display"], [style*="visibility"]';
const HIDDEN_STYLE = /(?:display\s*:\s*none|visibility\s*:\s*hidden)\s*(?:!important\s*)?;?/giu;
const PANEL = /accordion|collaps|panel|tab-?(?:pane|content)|faq|answer|expand|read-?more|more-?(?:text|content)|^more$/iu;
/** Parts that open by a click too, but don't belong to the page's text. */
const CHROME = /cookie|consent|modal|dialog|popup|overlay|menu|nav|dropdown|search|login|toast|tooltip|newsletter|banner/iu;
const HEADING = 'h1, h2, h3, h4, h5, h6, summary, dt';
const INLINE = new Set(['a', 'b', 'em', 'i', 'img', 'small', 'span', 'strong', 'svg']);
/** Labels that say nothing about the content that they open. */
const MORE =
  /^(?:\W*(?:(?:read|show|see|view|learn) )?(?:more|less|all)|(?:mehr|weniger)(?: anzeigen| lesen| erfahren)?|weiterlesen|lire (?:la suite|plus)|voir (?:plus|moins)|en savoir plus|(?:leer|ver|mostrar) (?:más|menos)|(?:ler|ver) mais|(?:leggi|mostra) (?:di più|tutto)|(?:lees|toon) meer|meer (?:lezen|tonen)|läs mer|les mer|læs mere|czytaj dalej|więcej|читать далее|ещё|もっと見る|更多|더보기)\W*$/iu;

/** Shows the panels of a page and names them. @returns whether there are any */
export function openPanels(page: CheerioAPI): boolean {
  const byId = new Map(
    page('[id]')
      .toArray()
      .map((element) => [element.attribs['id'] ?? '', element]),
  );
  let opened = 0;
  for (const element of page(TOGGLES).toArray()) {
    const toggle = page(element);
    if (!isToggle(element) || toggle.closest('nav, [role=navigation], [role=menu]').length > 0) continue;
    const panel = targetOf(page, element, byId);
    if (panel !== undefined && isChrome(panel)) continue;
    if (panel !== undefined) show(panel);
    nameBy(page, toggle, panel);
    opened += 1;
  }
  for (const element of page(HIDDEN).toArray()) {
    if (!isHidden(element) || !opensByClick(page, element)) continue;
    show(element);
    opened += 1;
  }
  return opened > 0;
}

function isToggle({ attribs }: Element): boolean {
  if (attribs['aria-haspopup'] !== undefined && attribs['aria-haspopup'] !== 'false') return false;
  const kind = attribs['data-bs-toggle'] ?? attribs['data-toggle'];
  if (kind !== undefined) return /^(?:collapse|tab|pill)$/u.test(kind);
  return (
    attribs['aria-expanded'] !== undefined ||
    attribs['aria-controls'] !== undefined ||
    attribs['role'] === 'tab' ||
    TOGGLE_CLASS.test(attribs['class'] ?? '')
  );
}

/** Finds the panel by its id; else it is the element behind the toggle or the heading around it. */
function targetOf(page: CheerioAPI, element: Element, byId: ReadonlyMap<string, Element>): Element | undefined {
  const { attribs } = element;
  const named = attribs['aria-controls'] ?? attribs['data-bs-target'] ?? attribs['data-target'] ?? attribs['href'] ?? '';
  const target = byId.get(named.replace(/^#/u, ''));
  if (target !== undefined) return target;
  if (attribs['role'] === 'tab') return undefined;
  const heading = page(element).closest(HEADING);
  const next = (heading.length > 0 ? heading : page(element)).next();
  return next.is('div, section, p, ul, ol, dd, article, table') ? next.get(0) : undefined;
}

function nameBy(page: CheerioAPI, toggle: Cheerio<Element>, panel: Element | undefined): void {
  const text = toggle.text().trim();
  const heading = toggle.closest(HEADING);
  if (heading.length > 0) {
    // Readability takes `accordion-header` for a page's header.
    heading.removeAttr('class');
    toggle.replaceWith(toggle.contents());
  } else if (panel === undefined || text === '' || MORE.test(text)) {
    toggle.remove();
  } else {
    toggle.remove();
    page(panel).wrap(`<${PANEL_ELEMENT}></${PANEL_ELEMENT}>`).before(page('<h6></h6>').text(text));
  }
}

function opensByClick(page: CheerioAPI, element: Element): boolean {
  const { attribs } = element;
  if (isChrome(element) || page(element).closest('nav, [role=dialog], [role=navigation]').length > 0) return false;
  if (attribs['hidden'] === 'until-found' || /^(?:region|tabpanel)$/u.test(attribs['role'] ?? '')) return true;
  if (PANEL.test(`${attribs['class'] ?? ''} ${attribs['id'] ?? ''}`.trim())) return true;
  return !INLINE.has(element.name) && page(element).prev().is(HEADING);
}

function isChrome({ name, attribs }: Element): boolean {
  const said = `${attribs['class'] ?? ''} ${attribs['id'] ?? ''} ${attribs['role'] ?? ''}`;
  return /^(?:nav|header|dialog|template)$/u.test(name) || CHROME.test(said);
}

function isHidden({ attribs }: Element): boolean {
  return attribs['hidden'] !== undefined || attribs['aria-hidden'] === 'true' || (attribs['style'] ?? '').search(HIDDEN_STYLE) >= 0;
}

function show({ attribs }: Element): void {
  delete attribs['hidden'];
  delete attribs['aria-hidden'];
  if (attribs['style'] !== undefined) attribs['style'] = attribs['style'].replaceAll(HIDDEN_STYLE, '');
}
