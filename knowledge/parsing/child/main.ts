/** A process that reads files. Started and watched by ParserProcess. */
import { loadParser } from './parse.ts';
import { serveFiles } from './serve-files.ts';

await serveFiles(loadParser);
process.exit(0);
