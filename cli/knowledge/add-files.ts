/** Runs `parley kb add`: prints a line for each file as it ends, a bar while files are on their way, a summary, and exits by outcome. */
import { addDocuments, type AddedDocument } from '../../api/client/add-documents.ts';
import type { DocumentUpload } from '../../api/client/prepare-uploads.ts';
import type { RestClient } from '../../api/client/rest-client.ts';
import { INTERRUPTED } from '../interruptible.ts';
import type { Io } from '../kubectl/io.ts';
import { writeAs, type Format } from '../output.ts';
import { Pace } from '../pace.ts';
import { ProgressBar } from '../progress-bar.ts';

export interface AddFilesOptions {
  readonly knowledgeBase: string;
  readonly uploads: readonly DocumentUpload[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly skipExisting: boolean;
  readonly concurrency: number;
  /** True to wait until searches find the files. */
  readonly wait: boolean;
  readonly format: Format;
  /** True to print only the lines of files that have failed. */
  readonly quiet: boolean;
}

export async function addFiles(client: RestClient, options: AddFilesOptions, io: Io): Promise<void> {
  const { uploads, format, quiet, wait } = options;
  const bar = new ProgressBar(io, !quiet);
  const isForPeople = format === 'table' || format === 'wide';
  const ended: AddedDocument[] = [];
  const pace = new Pace(io.now());
  let accepted = 0;
  const show = (): void => {
    const { failed } = countsOf(ended);
    const done = wait ? ended.length : accepted + failed;
    pace.reached(done, io.now());
    const parts = [`${accepted} uploaded`, failed > 0 && `${failed} failed`, pace.text(uploads.length)];
    bar.show(done, uploads.length, parts.filter((part) => part !== false && part !== '').join(', '));
  };
  const documents = await addDocuments(client, {
    ...options,
    stop: io.signal,
    onAccepted: () => {
      accepted += 1;
      show();
    },
    onEnd: (document) => {
      ended.push(document);
      if (isForPeople && (!quiet || document.status === 'failed'))
        bar.above(() => io.out.write(formatDocument(document, format === 'wide')));
      show();
    },
  }).finally(() => bar.clear());
  const counts = countsOf(documents);
  const complete = counts.failed + counts.unsent === 0 && (counts.processing === 0 || !wait);
  if (!isForPeople) await writeAs(io, format, { documents, summary: counts }, () => '');
  if (!quiet) io.err.write(formatCounts(counts, documents.length));
  if (!quiet && !complete) io.err.write(cureForCounts(counts));
  io.exit(io.signal.aborted ? INTERRUPTED : complete ? 0 : 1);
}

type Counts = Readonly<Record<AddedDocument['status'], number>>;

function countsOf(documents: readonly AddedDocument[]): Counts {
  const counts = { completed: 0, skipped: 0, failed: 0, processing: 0, unsent: 0 };
  for (const { status } of documents) counts[status] += 1;
  return counts;
}

/** Formats `doc_… completed manual.pdf`, with the reason of a failure. */
function formatDocument({ document_id: id, status, file, message }: AddedDocument, wide: boolean): string {
  return `${id ?? '-'} ${status} ${file}${wide || status === 'failed' ? `: ${message}` : ''}\n`;
}

/** Formats `497 added, 3 failed: 500 files`. */
function formatCounts(counts: Counts, files: number): string {
  const parts = [
    `${counts.completed} added`,
    counts.skipped > 0 && `${counts.skipped} skipped`,
    counts.failed > 0 && `${counts.failed} failed`,
    counts.processing > 0 && `${counts.processing} being ingested`,
    counts.unsent > 0 && `${counts.unsent} not uploaded`,
  ].filter((part) => part !== false);
  return `parley: ${parts.join(', ')}: ${files} ${files === 1 ? 'file' : 'files'}\n`;
}

function cureForCounts({ processing, unsent }: Counts): string {
  if (unsent + processing === 0) return '  → the lines of what has failed say why; repeat the command to try these again\n';
  return '  → repeat the command to go on: it leaves out what is there\n';
}
