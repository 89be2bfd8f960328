import { IngestionFailure } from '../ingestion-failure.ts';
import type { ChildEnd } from './parser-process.ts';

/**
 * What it means that a child ended without a word. Time, memory and a crash are the document's doing; a child that was asked to stop or
 * never started is not, and the file may be tried again.
 */
export function failureOf(end: ChildEnd): Error {
  if (end.endedFor === 'crowd')
    return new Error('the files that are read at the same time take too much memory together; it may be tried again');
  if (end.endedFor === 'memory' || end.heapFull || (end.endedFor === undefined && end.signal === 'SIGKILL'))
    return new IngestionFailure('parse_memory', 'The file takes too much memory to be read. Split it into several files, or save it anew.');
  if (end.endedFor === 'time' || end.signal === 'SIGXCPU')
    return new IngestionFailure(
      'parse_timeout',
      'The file takes longer to be read than a file of its size may. Split it into several files, take out long runs of markup, or save it anew.',
    );
  const crashed =
    end.code !== null ? end.code > 128 : ['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGABRT', 'SIGFPE', 'SIGTRAP'].includes(end.signal ?? '');
  if (crashed)
    return new IngestionFailure(
      'corrupt_file',
      'The parser broke down on this file. Open it where it was made, save it again, and upload that.',
    );
  return new Error(`a parser ended before it had read its file (code ${end.code}, signal ${end.signal}); it may be tried again`);
}
