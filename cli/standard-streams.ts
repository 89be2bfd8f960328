import { writePrintable } from './printable.ts';

/** The reader has closed the pipe with these errors; what is written after that goes nowhere. */
const UNREAD: ReadonlySet<string | undefined> = new Set(['EPIPE', 'ERR_STREAM_DESTROYED']);

/** Prepares standard output and error for programs that people start, whatever the command. */
export function prepareStandardStreams(): void {
  // `parley … | head` closes the pipe early: that is the reader's right, and the command ends as it would (interruptible.ts).
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (UNREAD.has(error.code)) return;
    process.stderr.write(`parley: the output can't be written: ${error.message}\n`);
    process.exit(74);
  });
  // Work goes on, and the exit code stays, where no one reads its progress.
  process.stderr.on('error', () => undefined);
  writePrintable(process.stdout, process.stderr);
}
