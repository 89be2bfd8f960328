/** Reads the pages of a website, one after the other, as one document. */
import type { DocumentRecord, PageOutcome } from '../../store/index.ts';
import { IngestionError } from '../ingestion-failure.ts';
import type { Block, ParsedDocument, ParseRequest } from '../parsing/index.ts';
import type { IngestionDependencies } from './step.ts';

/** A part of a document that a parser reads by itself: the file, or one page of a website. */
export interface ReadPart {
  (request: Pick<ParseRequest, 'content' | 'extension' | 'contentType' | 'url'>): AsyncGenerator<readonly Block[], ParsedDocument>;
}

/** Leaves out pages that can't be read, with the reason in their outcome. @throws IngestionError `all_pages_failed` when none is left */
export async function* readPages(
  document: DocumentRecord,
  { knowledge, storage }: Pick<IngestionDependencies, 'knowledge' | 'storage'>,
  read: ReadPart,
): AsyncGenerator<readonly Block[], ParsedDocument> {
  const outcomes: PageOutcome[] = [];
  const warnings: string[] = [];
  const asides = new Set<string>();
  let title: string | undefined;
  for (const outcome of document.pageOutcomes ?? []) {
    if (outcome.status === 'failed' || outcome.objectKey === undefined) {
      outcomes.push(outcome);
      continue;
    }
    try {
      const parts = read({
        content: await storage.read(outcome.objectKey),
        extension: outcome.extension ?? 'html',
        url: outcome.url,
        ...(outcome.contentType !== undefined && { contentType: outcome.contentType }),
      });
      const parsed = yield* placedAt(outcome.url, parts, asides);
      title ??= parsed.title;
      warnings.push(...parsed.warnings.map((warning) => `${outcome.url}: ${warning}`));
      outcomes.push({ ...outcome, ...(parsed.title !== undefined && { title: parsed.title }) });
    } catch (error) {
      if (!(error instanceof IngestionError)) throw error;
      outcomes.push({ url: outcome.url, status: 'failed', reason: `${error.code}: ${error.message}` });
    }
  }
  await knowledge.ingestion.pageOutcomes(document, outcomes);
  requireAPage(outcomes);
  return { warnings, ...(title !== undefined && { title }) };
}

/** @throws IngestionError `all_pages_failed`, with the reasons */
export function requireAPage(outcomes: readonly PageOutcome[]): void {
  if (outcomes.some(({ status }) => status === 'fetched')) return;
  const reasons = outcomes.slice(0, 10).map(({ url, reason }) => `${url}: ${reason}`);
  const more = outcomes.length > 10 ? `; and ${outcomes.length - 10} more` : '';
  throw new IngestionError('all_pages_failed', `None of the addresses could be read. ${reasons.join('; ')}${more}`);
}

/**
 * Adds the address to blocks, because files behind an address don't know it. Text beside the main text that several pages share is read
 * once.
 */
async function* placedAt(url: string, parts: ReturnType<ReadPart>, asides: Set<string>): ReturnType<ReadPart> {
  for (;;) {
    const next = await parts.next();
    if (next.done === true) return next.value;
    yield next.value.filter((block) => isNew(block, asides)).map((block) => Object.assign({}, block, { url }));
  }
}

function isNew(block: Block, asides: Set<string>): boolean {
  if (block.isAside !== true) return true;
  const text = block.kind === 'table' ? JSON.stringify(block.rows) : block.text;
  const known = asides.has(text);
  asides.add(text);
  return !known;
}
