/** Puts the recognised text of pages that are pictures into their places. */
import type { Clock } from '../../platform/clock.ts';
import { OcrError, type PageReader } from '../ocr/page-reader.ts';
import type { Block, PagePicture, ParsedBlock, ParsedDocument, ParseProgress } from '../parsing/index.ts';
import { numberRuns } from '../parsing/text/number-runs.ts';
import { noTextFailure, unreadWarnings } from '../parsing/unread-pages.ts';

export interface RecogniseOptions {
  readonly reader: PageReader;
  readonly readMarkdown: (markdown: string) => Promise<readonly Block[]>;
  readonly signal: AbortSignal;
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Awaited after each page. An error that it throws ends the reading. */
  readonly onPage?: ((progress: ParseProgress) => Promise<void>) | undefined;
}

/** After so many unreadable pages in a row, the others are not tried. */
const MOST_FAILURES = 3;
/** Blocks that wait for a page in front of them. */
const MOST_WAITING = 1000;

/**
 * Keeps blocks in their order; as many pages are read at the same time as the reader allows. A page that can't be read is handled as
 * without a reader: a warning names it.
 * @throws IngestionError `no_text_layer` when the document has no other text, and none was recognised
 */
export async function* recognisePages(
  parts: AsyncGenerator<readonly ParsedBlock[], ParsedDocument>,
  options: RecogniseOptions,
): AsyncGenerator<readonly Block[], ParsedDocument> {
  const given = new AbortController();
  const pages = new Recognition({ ...options, signal: AbortSignal.any([options.signal, given.signal]) });
  const waiting: Promise<readonly Block[]>[] = [];
  let hasText = false;
  const next = async (): Promise<readonly Block[]> => {
    const blocks = (await waiting.shift()) ?? [];
    hasText ||= blocks.length > 0;
    return blocks;
  };
  try {
    for (;;) {
      const part = await parts.next();
      if (part.done === true) {
        while (waiting.length > 0) yield await next();
        return pages.finish(part.value, hasText);
      }
      // Most documents have no such pages.
      if (waiting.length === 0 && part.value.every(isText)) {
        hasText ||= part.value.length > 0;
        yield part.value;
        continue;
      }
      for (const block of part.value) {
        waiting.push(isText(block) ? Promise.resolve([block]) : pages.read(block));
        while (pages.pending >= options.reader.concurrency || waiting.length >= MOST_WAITING) yield await next();
      }
      while (pages.pending === 0 && waiting.length > 0) yield await next();
    }
  } finally {
    // A caller that leaves early needs none of the pages that are still read.
    given.abort();
    await Promise.allSettled(waiting);
    await parts.return({ warnings: [] });
  }
}

export function isText(block: ParsedBlock): block is Block {
  return block.kind !== 'picture';
}

class Recognition {
  readonly #options: RecogniseOptions;
  readonly #begun: number;
  readonly #recognised: number[] = [];
  readonly #unread: PagePicture[] = [];
  #done = 0;
  #failuresInARow = 0;
  #reason: string | undefined;
  /** Number of pages whose text has not been taken yet. */
  pending = 0;

  constructor(options: RecogniseOptions) {
    this.#options = options;
    this.#begun = options.clock.monotonic();
  }

  read(picture: PagePicture): Promise<readonly Block[]> {
    this.pending += 1;
    const blocks = this.#read(picture).finally(() => (this.pending -= 1));
    // The reader of the blocks gets the failure, if anybody still reads them.
    blocks.catch(() => undefined);
    return blocks;
  }

  finish(document: ParsedDocument, hasText: boolean): ParsedDocument {
    const unread = this.#unread.toSorted((one, other) => one.page - other.page);
    const failed = unread.map(({ page }) => page);
    const why = `failed to recognise the text of pages ${numberRuns(failed)}: ${this.#reason}`;
    if (!hasText) throw noTextFailure(unread, failed.length > 0 ? why : 'recognition (OCR) found no text on its pages');
    const recognised = this.#recognised.toSorted((one, other) => one - other);
    return {
      ...document,
      warnings: [
        ...document.warnings,
        ...(recognised.length === 0
          ? []
          : [`text of pages ${numberRuns(recognised)} was recognised from pictures (OCR): check names and numbers that matter`]),
        ...(failed.length === 0 ? [] : [...unreadWarnings(unread), why]),
      ],
    };
  }

  async #read(picture: PagePicture): Promise<readonly Block[]> {
    const { reader, clock, signal, readMarkdown, onPage } = this.#options;
    try {
      if (clock.monotonic() - this.#begun > reader.documentTimeoutMs) this.#stop('it took too long');
      if (this.#isStopped()) return this.#leave(picture);
      const page = await reader.read(Buffer.from(picture.png, 'base64'), signal);
      const blocks = 'blocks' in page ? page.blocks : page.markdown.trim() === '' ? [] : await readMarkdown(page.markdown);
      this.#failuresInARow = 0;
      if (blocks.length > 0) this.#recognised.push(picture.page);
      return blocks.map((block) => placedOn(picture, block));
    } catch (error) {
      if (!(error instanceof OcrError)) throw error;
      this.#failuresInARow += error.isLasting ? MOST_FAILURES : 1;
      this.#reason = error.message;
      return this.#leave(picture);
    } finally {
      this.#done += 1;
      if (!signal.aborted) await onPage?.({ done: this.#done, total: picture.total });
    }
  }

  #isStopped(): boolean {
    return this.#failuresInARow >= MOST_FAILURES;
  }

  #stop(reason: string): void {
    this.#failuresInARow = MOST_FAILURES;
    this.#reason = reason;
  }

  #leave(picture: PagePicture): readonly Block[] {
    this.#unread.push(picture);
    return [];
  }
}

function placedOn({ page, headingPath }: PagePicture, block: Block): Block {
  return { ...block, page, headingPath: block.headingPath.length > 0 ? block.headingPath : headingPath };
}
