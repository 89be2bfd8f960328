/** The search field at the top of each page. Asks no server: the index is a script of the site. */
import MiniSearch, { type SearchResult } from 'minisearch';

import { searchOptions, type SearchEntry } from '../search-options.ts';

declare global {
  interface Window {
    readonly parleySearchIndex: string;
  }
}

const MOST_RESULTS = 12;

const field = document.querySelector<HTMLInputElement>('#query');
const list = document.querySelector<HTMLUListElement>('#results');
const base = document.body.dataset['base'] ?? '';
let index: MiniSearch<SearchEntry> | undefined;

function find(query: string): readonly (SearchResult & Partial<SearchEntry>)[] {
  // Read when the first word is typed: most readers type none.
  index ??= MiniSearch.loadJSON<SearchEntry>(window.parleySearchIndex, searchOptions);
  return index.search(query).slice(0, MOST_RESULTS);
}

function show(query: string): void {
  if (list === null) return;
  const found = query.trim() === '' ? [] : find(query);
  list.hidden = query.trim() === '';
  list.replaceChildren(...found.map(itemOf));
  if (found.length === 0) list.append(Object.assign(document.createElement('li'), { textContent: 'Nothing was found.' }));
}

function itemOf({ address = '', page = '', title = '' }: Partial<SearchEntry>): HTMLLIElement {
  const link = Object.assign(document.createElement('a'), { href: base + address, textContent: title });
  if (page !== title) link.append(Object.assign(document.createElement('small'), { textContent: ` ${page}` }));
  const item = document.createElement('li');
  item.append(link);
  return item;
}

field?.addEventListener('input', () => show(field.value));
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== field) {
    event.preventDefault();
    field?.focus();
  } else if (event.key === 'Escape' && list !== null) list.hidden = true;
});
