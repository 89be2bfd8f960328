import { IngestionError } from '../ingestion-failure.ts';
import { leftOut } from './left-out.ts';
import { numberRuns } from './text/number-runs.ts';

/**
 * A page of which nothing, or next to nothing, was read:
 * - `empty`: it has no text
 * - `illegible`: its fonts don't say which characters they show
 * - `sparse`: a few letters beside a picture of the page's size, such as the stamp on a scan
 */
export interface UnreadPage {
  readonly page: number;
  readonly reason: 'empty' | 'illegible' | 'sparse';
}

/** Explains each reason to the owner of the file. */
export function unreadWarnings(pages: readonly UnreadPage[]): readonly string[] {
  const having = (reason: UnreadPage['reason']): readonly number[] =>
    pages.filter((page) => page.reason === reason).map(({ page }) => page);
  const [illegible, empty, sparse] = [having('illegible'), having('empty'), having('sparse')];
  return [
    ...(illegible.length === 0
      ? []
      : [
          leftOut(
            `pages whose fonts do not say which characters they show: ${numberRuns(illegible)}`,
            'export it with another program, or have their text recognised (OCR)',
          ),
        ]),
    ...(empty.length === 0 ? [] : [`pages without text, perhaps scanned pictures: ${numberRuns(empty)}`]),
    ...(sparse.length === 0 ? [] : [`pages with next to no text beside a picture, perhaps scanned: ${numberRuns(sparse)}`]),
  ];
}

/** Explains why a document that has only such pages has no text. @param recognition the outcome of recognising their text */
export function noTextFailure(pages: readonly UnreadPage[], recognition?: string): IngestionError {
  const reason = pages.some(({ reason: why }) => why === 'illegible')
    ? 'The fonts of this PDF do not say which characters they show, so its text can be seen but not read. Export it again with another program, or have its text recognised (OCR), and upload the result.'
    : 'The PDF has pictures of pages but no text. Have its text recognised (OCR), and upload the result.';
  return new IngestionError('no_text_layer', recognition === undefined ? reason : `${reason} Here, ${recognition}.`);
}

/** Most letters and digits of a stamp, and the least share of a page that a scan covers. */
const MOST_LETTERS = 40;
const LEAST_PICTURE = 0.5;

/** @param texts the page's texts besides its headers and footers */
export function isSparse(texts: readonly string[], pictureShare: number): boolean {
  return pictureShare >= LEAST_PICTURE && (texts.join(' ').match(/[\p{L}\p{N}]/gu)?.length ?? 0) < MOST_LETTERS;
}
