/** The entry of a process that reads files. ParserProcess starts and watches it. */
import { loadParser } from './parse.ts';
import { serveFiles } from './serve-files.ts';

await serveFiles(loadParser);
process.exit(0);
