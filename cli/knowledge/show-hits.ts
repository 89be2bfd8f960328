/** A search result for a person. */

export interface Hit {
  readonly chunk_id: string;
  readonly filename: string;
  readonly content: string;
  readonly score: number;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The part of a hit's metadata that may say its place. */
interface Place {
  readonly page?: number;
  readonly sheet?: string;
  readonly first_row?: number;
  readonly last_row?: number;
  readonly url?: string;
  readonly heading_path?: readonly string[];
}

/** Lines of each hit's text that are shown. */
const LINES = 6;

export function showHits(hits: readonly Hit[]): string {
  if (hits.length === 0) return 'nothing was found\n';
  return hits.map((hit) => `${hit.score.toFixed(3)}  ${hit.filename}${formatPlace(hit.metadata)}\n${excerpt(hit.content)}\n`).join('\n');
}

function formatPlace(metadata: Hit['metadata']): string {
  const { page, sheet, first_row: first, last_row: last, url, heading_path: headings } = metadata as Place;
  return [
    page !== undefined && `, page ${page}`,
    sheet !== undefined && `, sheet ${sheet}`,
    first !== undefined && (first === last ? `, row ${first}` : `, rows ${first}-${last}`),
    url !== undefined && `, ${url}`,
    Array.isArray(headings) && headings.length > 0 && `  ${headings.join(' > ')}`,
  ]
    .filter((part) => part !== false)
    .join('');
}

function excerpt(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const shown = lines.slice(0, LINES).map((line) => `       ${line}`);
  return [...shown, ...(lines.length > LINES ? ['       …'] : [])].join('\n');
}
