import type { Command } from 'commander';

import { pair, wholeNumber } from '../options.ts';
import { addOutput, formatOf, type OutputFlags } from '../output.ts';

interface AddFlags extends OutputFlags {
  readonly metadata: Readonly<Record<string, string>>;
  readonly skipExisting: boolean;
  readonly concurrency: number;
  readonly wait: boolean;
  readonly name?: string;
  readonly quiet?: true;
}

const HELP = `
Prints a line for each file when it can be found or has failed. A bad file stops no other. Small files share requests. The command
waits where the rate limit of the key asks for it. Ctrl-C lets the uploads end that have begun, and starts no other: repeat the command
to go on. --no-wait ends when all files are uploaded: repeat the command, or read status.documents, to see when they can be found.

What is in the knowledge base with the same content is left out, as is the second of two files of the same content; what has failed
there is uploaded again and replaced.

Exit codes: 0 all files can be found (with --no-wait: are uploaded), 1 some have failed (their lines say why), 2 wrong usage, 130 interrupted.

Examples:
  parley kb add workshop-handbook examples/documents
  parley kb add manuals *.pdf --metadata product=XK-7420
  pandoc notes.org -t gfm | parley kb add manuals - --name notes.md
`;

export function registerKbAdd(kb: Command): void {
  const command = kb
    .command('add')
    .description('upload files and folders, and wait until searches find them (PARLEY_URL, PARLEY_API_KEY)')
    .argument('<knowledge-base>', 'id of the knowledge base: the name of the resource')
    .argument('<files...>', '.pdf, .docx, .txt, .md, .xlsx, .xls, at most 50 MB each; folders with all in them; - for standard input')
    .option('--metadata <key=value>', 'metadata that searches can filter by; may be repeated', pair, {})
    .option('--skip-existing', 'leave out files whose content the knowledge base has (the default)', true)
    .option('--no-skip-existing', 'upload every file, also what is there already')
    .option('--wait', 'wait until searches find each file, or it has failed (the default)', true)
    .option('--no-wait', 'end when all files are uploaded')
    .option('--concurrency <number>', 'requests with uploads at a time, 1 to 16', wholeNumber(1, 16), 4)
    .option('--name <file>', 'name of the document on standard input, with its extension');
  addOutput(command, 'one value with all results; wide: with messages')
    .option('--quiet', 'print only what has failed')
    .addHelpText('after', HELP)
    .action(async (knowledgeBase: string, paths: readonly string[], flags: AddFlags) => {
      const [{ restClientFromEnvironment }, { addFiles }, { findFiles }, { interruptible }] = await Promise.all([
        import('../../api/client/rest-client.ts'),
        import('../knowledge/add-files.ts'),
        import('../knowledge/find-files.ts'),
        import('../interruptible.ts'),
      ]);
      const client = restClientFromEnvironment(process.env);
      const uploads = await findFiles({ paths, stdinName: flags.name, stdin: process.stdin });
      const { metadata, skipExisting, concurrency, wait } = flags;
      await interruptible((io) =>
        addFiles(
          client,
          { knowledgeBase, uploads, metadata, skipExisting, concurrency, wait, format: formatOf(flags), quiet: flags.quiet === true },
          io,
        ),
      );
    });
}
