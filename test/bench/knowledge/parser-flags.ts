/** Parses one text of 40 KB six times in this process, and prints what that took: run by `parsing.ts` with different flags of Node.js. */
import { fileURLToPath } from 'node:url';

import { loadParser, parse } from '../../../knowledge/parsing/child/parse.ts';
import { rememberState } from '../../../knowledge/parsing/child/remains.ts';
import { DEFAULT_LIMITS } from '../../../knowledge/parsing/limits.ts';

export const PARSER_FLAGS = fileURLToPath(import.meta.url);

export interface FlagsMeasured {
  /** Processor time of each reading, in milliseconds. */
  readonly processorMs: readonly number[];
  readonly residentBytes: number;
  /** Processor time of one comparison of the language's objects, in milliseconds. */
  readonly compareMs: number;
}

function section(at: number): string {
  return `## H ${at}\n\nSome *text* with [links](http://a.b) and \`code\`.\n\n- a\n- b\n\n| a | b |\n|---|---|\n| 1 | 2 |\n`;
}

async function processorMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

if (process.argv[1] === PARSER_FLAGS) {
  const content = Buffer.from(`# Title\n\n${Array.from({ length: 400 }, (_, at) => section(at)).join('\n')}`);
  const processorMs: number[] = [];
  for (let round = 0; round < 6; round += 1)
    processorMs.push(
      await processorMsOf(() => parse({ extension: 'md', limits: DEFAULT_LIMITS, content }, { load: loadParser, send: () => undefined })),
    );
  const residentBytes = process.memoryUsage.rss();
  const compare = rememberState();
  const compareMs =
    (await processorMsOf(() => {
      for (let at = 0; at < 500; at += 1) compare();
    })) / 500;
  process.stdout.write(JSON.stringify({ processorMs, residentBytes, compareMs } satisfies FlagsMeasured));
}
