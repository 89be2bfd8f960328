/** Reads parts of a web page that carry meaning in another way than by their text, or aside from it. */
import { type CheerioAPI, load } from 'cheerio';
import type { Element } from 'domhandler';

import { isObject } from '../../../../platform/json.ts';

const STRUCK_CLASS =
  /(?:^|[\s_-])(?:line-?through|strike(?:-?through|d)?|struck|(?:old|was|former)-?price|price-?(?:old|was|before))(?:$|[\s_-])/iu;
const MENU_CLASS = /(?:^|[\s_-])(?:menu|dropdown|nav|navbar|breadcrumbs?|share|social|toolbar|pagination)(?:$|[\s_-])/iu;
const COOKIE_CLASS =
  /cookie[\s_-]?(?:banner|bar|box|consent|dialog|law|notice|overlay|popup)|consent[\s_-]?(?:banner|dialog|manager)|gdpr|onetrust|usercentrics|cookiebot/iu;
/** Most choices of a list that is read: a longer one has countries or years. */
const MOST_CHOICES = 30;
const MOST_QUESTIONS = 200;
/** Most characters of a footer without its menus. */
const LONGEST_CONTACT = 3000;

const FACTS = [
  // This matches 9–18 and 9:00 to 18:30.
  /(?<!\d)\d{1,2}(?:[:.h]\d{2})?\s*(?:h|Uhr|[ap]\.?m\.?)?\s*(?:[–—~-]|to|bis|until|à|a|às|do|tot|till|до)\s*\d{1,2}(?:[:.h]\d{2})?(?!\d)/iu,
  /(?<!\d)\d{1,2}(?::\d{2}|\s?(?:Uhr|[ap]\.?m\.?)(?!\p{L}))/iu,
  // This matches +49 30 1234, 030 999 and (555) 123-4567.
  /(?:\+|(?<![\d.])0)\d[\d\s()/.-]{3,}\d|\(?\d{3}\)?[\s.-]\d{3}[\s.-]\d{4}/u,
  /[^\s@]+@[^\s@]+\.\p{L}{2}/u,
];

/** Turns text that its style strikes through, or whose class marks an old price, into a `del` element. */
export function markStruck(page: CheerioAPI): void {
  for (const element of page('[style*="line-through"], [class]').toArray()) {
    const { style = '', class: classes = '' } = element.attribs;
    if (/line-through/iu.test(style) || (/price|line|str[iu]/iu.test(classes) && STRUCK_CLASS.test(classes))) element.name = 'del';
  }
}

/** Writes lists to choose from as text: the choices often are the prices. */
export function spellOutChoices(page: CheerioAPI): void {
  for (const element of page('select').toArray()) {
    const options = page(element)
      .find('option')
      .toArray()
      .filter(({ attribs }) => attribs['disabled'] === undefined && attribs['value'] !== '')
      .map((option) => page(option).text().trim())
      .filter((text) => text !== '');
    // Quantities are choices without meaning.
    if (options.length > MOST_CHOICES || !options.some((text) => /\p{L}{2}/u.test(text))) continue;
    // Readability takes forms away.
    for (const form of page(element).parents('form, fieldset').toArray()) form.name = 'div';
    page(element).replaceWith(page('<span></span>').text(` ${options.join('; ')} `));
  }
}

/** Replaces pictures in the cells of tables by their text, because they say yes or no. */
export function describePictures(page: CheerioAPI): void {
  for (const element of page('td, th').find('img, [aria-label], svg, [title]').toArray()) {
    const picture = page(element);
    const said = picture.attr('alt') ?? picture.attr('aria-label') ?? (picture.children('title').text() || picture.attr('title')) ?? '';
    if (said.trim() === '' || picture.text().replace(said, '').trim() !== '' || /\.\w{3,4}$/u.test(said)) continue;
    picture.replaceWith(page('<span></span>').text(` ${said} `));
  }
}

/**
 * Removes headers, footers and asides from the page. Asides within the main part stay: they are notes.
 * @returns the removed ones that say when the owner is open or how to reach them, each as HTML, without their menus
 */
export function takeContacts(page: CheerioAPI): readonly string[] {
  for (const note of page('main aside, article aside').toArray()) if (linkShare(page, note) < 0.5) note.name = 'div';
  const frame = page('header, footer, aside, [role=banner], [role=contentinfo], [role=complementary]')
    .toArray()
    .filter((part) => !isPartOfText(page, part));
  const kept: string[] = [];
  for (const part of frame) {
    const own = load(page.html(part), null, false);
    own('nav, form, [role=navigation], [hidden], [aria-hidden=true]').remove();
    for (const list of own('ul, ol').toArray()) if (linkShare(own, list) > 0.8) own(list).remove();
    const text = own.root().text();
    const isContact = text.length <= LONGEST_CONTACT && (own('address').length > 0 || FACTS.some((fact) => fact.test(text)));
    if (isContact) kept.push(own.html());
    page(part).remove();
  }
  return kept;
}

/**
 * Removes dialogs, questions about cookies, and lists of links that are called menus, which pages have outside of `nav`, too: the menu of a
 * restaurant has other text.
 */
export function removeChrome(page: CheerioAPI): void {
  page('nav, dialog, [role=navigation], [role=dialog], [role=alertdialog]').remove();
  for (const element of page('[class], [id]').toArray()) {
    const { class: classes = '', id = '' } = element.attribs;
    const names = `${classes} ${id}`;
    const isCookies = COOKIE_CLASS.test(names);
    // The state of menus and cookies stands in the class of the whole page, too.
    if ((!isCookies && !MENU_CLASS.test(names)) || page(element).is('html, body, main') || page(element).find('main, h1').length > 0)
      continue;
    if (isCookies || linkShare(page, element) > 0.7) page(element).remove();
  }
}

/** Tells whether it is the heading of the page or of one of its sections. */
function isPartOfText(page: CheerioAPI, part: Element): boolean {
  const element = page(part);
  if (element.parents('header, footer, aside').length > 0) return true;
  return part.name === 'header' && (element.find('h1').length > 0 || element.closest('main, article, section').length > 0);
}

function linkShare(page: CheerioAPI, element: Element): number {
  const text = page(element).text().trim().length;
  const links = page(element)
    .find('a')
    .toArray()
    .reduce((sum, link) => sum + page(link).text().trim().length, 0);
  // A telephone number that can be called is no menu.
  return text === 0 || page(element).find('a[href^="tel:"], a[href^="mailto:"]').length > 0 ? 0 : links / text;
}

/** Returns questions and answers that a page has only for search engines, as HTML. @see https://schema.org/FAQPage */
export function structuredQuestions(page: CheerioAPI): string {
  const shown = page('body').text().replaceAll(/\s+/gu, ' ');
  const questions = page('script[type="application/ld+json"]')
    .toArray()
    .flatMap((script) => faqItems(parsed(page(script).text())))
    .filter(({ question }) => question !== '' && !shown.includes(question));
  return questions
    .slice(0, MOST_QUESTIONS)
    .map(({ question, answer }) => `${load('<h2></h2>', null, false)('h2').text(question).toString()}<div>${answer}</div>`)
    .join('');
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function faqItems(data: unknown): readonly { readonly question: string; readonly answer: string }[] {
  const things = [data]
    .flat()
    .flatMap((thing) => (isObject(thing) && Array.isArray(thing['@graph']) ? (thing['@graph'] as unknown[]) : [thing]));
  return things
    .filter((thing) => isObject(thing) && [thing['@type']].flat().includes('FAQPage'))
    .flatMap((thing) => [(thing as Record<string, unknown>)['mainEntity']].flat())
    .filter(isObject)
    .map(({ name, acceptedAnswer: answer }) => ({
      question: typeof name === 'string' ? name.replaceAll(/\s+/gu, ' ').trim() : '',
      answer: isObject(answer) && typeof answer['text'] === 'string' ? answer['text'] : '',
    }));
}
