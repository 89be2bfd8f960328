import { writePrintable } from './printable.ts';

/** What holds of standard output and error whatever the command, for programs that people start. */
export function prepareStandardStreams(): void {
  // `parley … | head` closes the pipe early: that is the reader's right, not a failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 74));
  writePrintable(process.stdout, process.stderr);
}
