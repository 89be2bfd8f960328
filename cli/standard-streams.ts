import { writePrintable } from './printable.ts';

/** What holds of standard output and error whatever the command, for programs that people start. */
export function prepareStandardStreams(): void {
  // `parley … | head` closes the pipe early: that is the reader's right, not a failure.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    process.stderr.write(`parley: the output can't be written: ${error.message}\n`);
    process.exit(74);
  });
  // What is done goes on, and the exit code stays, where no one reads its progress.
  process.stderr.on('error', () => undefined);
  writePrintable(process.stdout, process.stderr);
}
