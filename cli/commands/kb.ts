import type { Command } from 'commander';

import { examples } from '../grammar.ts';
import { jsonOption, outputOption, printData, wantsData, type OutputFlags } from '../output.ts';

import { orgArgument, pair, wholeNumber } from '../options.ts';
import { registerKbAdd } from './kb-add.ts';

export function registerKb(program: Command): void {
  const kb = program.command('kb').description('manage knowledge bases: add documents, search, rebuild vectors, export documents');

  registerKbAdd(kb);

  kb.command('search')
    .description('search a knowledge base as an agent would (PARLEY_URL, PARLEY_API_KEY)')
    .argument('<knowledge-base>', 'id of the knowledge base: the name of the resource')
    .argument('<query...>', 'text to search for')
    .option('--top-k <number>', 'maximum number of hits, 1 to 100', wholeNumber(1, 100), 5)
    .option('--filter <key=value>', 'only documents with this metadata; may be repeated', pair, {})
    .addOption(outputOption('the answer of the REST API'))
    .addOption(jsonOption())
    .addHelpText(
      'after',
      examples(
        'parley kb search workshop-handbook when does a chain have to be replaced',
        'parley kb search manuals reset --filter product=XK-7420 --top-k 3 -o json',
      ),
    )
    .action(
      async (
        knowledgeBase: string,
        query: readonly string[],
        options: { readonly topK: number; readonly filter: Readonly<Record<string, string>> } & OutputFlags,
      ) => {
        const [{ restClientFromEnvironment }, { showHits }] = await Promise.all([
          import('../../api/client/rest-client.ts'),
          import('../knowledge/show-hits.ts'),
        ]);
        const filter = Object.fromEntries(Object.entries(options.filter).map(([key, value]) => [key, { $eq: value }]));
        const answer = (await restClientFromEnvironment(process.env).request('POST', '/api/v1/vector/search', {
          knowledge_base_id: knowledgeBase,
          query: query.join(' '),
          top_k: options.topK,
          ...(Object.keys(filter).length > 0 && { filter }),
        })) as { readonly results: Parameters<typeof showHits>[0] };
        if (wantsData(options)) await printData(options, answer);
        else process.stdout.write(showHits(answer.results));
      },
    );

  kb.command('reindex')
    .description('rebuild the vectors of a knowledge base from its stored chunks while searches go on (DATABASE_URL, TEMPORAL_ADDRESS)')
    .addArgument(orgArgument())
    .argument('<knowledge-base>', 'id of the knowledge base: the name of the resource')
    .option('--detach', 'return before the work is done')
    .addOption(outputOption('what is indexed, and whether that is done'))
    .addHelpText(
      'after',
      `\nA worker does the work, and goes on after Ctrl-C; repeat the command to watch it again.\n${examples('parley kb reindex acme manuals')}`,
    )
    .action(async (org: string, name: string, options: { readonly detach?: true } & OutputFlags) => {
      const [{ withKnowledgeBase }, { reindex }, { withProgress }, { awakeClock }] = await Promise.all([
        import('../knowledge/offline.ts'),
        import('../knowledge/reindex.ts'),
        import('../with-progress.ts'),
        import('../../platform/clock.ts'),
      ]);
      const detach = options.detach === true;
      const chunks = await withProgress((progress, signal) =>
        withKnowledgeBase({ org, name }, (base) => reindex(base, { detach, progress, clock: awakeClock, signal })),
      );
      if (wantsData(options)) await printData(options, { organization: org, knowledge_base: name, chunks, done: !detach });
    });

  kb.command('export')
    .description('write the documents of a knowledge base into a folder: files, chunks and metadata (DATABASE_URL, STORAGE_URL)')
    .addArgument(orgArgument())
    .argument('<knowledge-base>', 'id of the knowledge base: the name of the resource')
    .requiredOption('--output-dir <folder>', 'create a folder for each document in this one')
    .addOption(outputOption('the documents that are written'))
    .addHelpText('after', examples('parley kb export acme manuals --output-dir manuals'))
    .action(async (org: string, name: string, options: { readonly outputDir: string } & OutputFlags) => {
      const [{ withKnowledgeBase }, { exportKnowledgeBase }] = await Promise.all([
        import('../knowledge/offline.ts'),
        import('../knowledge/export.ts'),
      ]);
      const documents: { readonly id: string; readonly status: string; readonly filename: string }[] = [];
      const count = await withKnowledgeBase({ org, name }, (base) =>
        exportKnowledgeBase(base, options.outputDir, ({ id, filename, status }) => {
          process.stderr.write(`${id} ${status} ${filename}\n`);
          if (wantsData(options)) documents.push({ id, status, filename });
        }),
      );
      if (wantsData(options)) await printData(options, { folder: options.outputDir, documents });
      process.stderr.write(`parley: ${count} documents are in ${options.outputDir}\n`);
    });
}
