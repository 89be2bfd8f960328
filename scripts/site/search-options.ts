/** How the documents are searched: the same where the index is built and where it is asked. */
import type { Options } from 'minisearch';

export interface SearchEntry {
  readonly id: number;
  /** From the top of the site, with the anchor. */
  readonly address: string;
  readonly page: string;
  readonly title: string;
  readonly text: string;
}

export const searchOptions: Options<SearchEntry> = {
  fields: ['page', 'title', 'text'],
  storeFields: ['address', 'page', 'title'],
  // Names such as `spec.llm.model` and `PARLEY_URL` are found whole and by their parts.
  tokenize: (text) => text.split(/[\s\p{P}`|<>=+$]+/u).filter((word) => word !== ''),
  searchOptions: { boost: { title: 4, page: 2 }, prefix: true, fuzzy: (term) => (term.length > 4 ? 0.2 : false), combineWith: 'AND' },
};
