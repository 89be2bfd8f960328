/** Searches every 20 ms as the process of a call does, on an event loop and connections of its own, and reports how long each took, in milliseconds. */
import { setTimeout as delay } from 'node:timers/promises';

import { createSearch } from '../../../knowledge/search/create-search.ts';
import { createVectorStore } from '../../../knowledge/vector-stores/index.ts';
import { openStore } from '../../../store/index.ts';
import { SNIPPET_LENGTHS } from '../../../voice/tools/builtin/search-knowledge-base.ts';
import { createTexts } from './texts.ts';

const [databaseUrl = '', org = '', knowledgeBase = ''] = process.argv.slice(2);
const { knowledge, database } = openStore({ databaseUrl, poolSize: 4, applicationName: 'bench of a call' });
const search = createSearch({ knowledge, vectors: createVectorStore({ database }), embedderOf: () => undefined });
const texts = createTexts(11);
while (process.connected) {
  const startedAt = performance.now();
  await search.search({ org, knowledgeBase, query: texts.question(), topK: SNIPPET_LENGTHS.length, snippetLengths: SNIPPET_LENGTHS });
  if (process.connected) process.send?.(performance.now() - startedAt);
  await delay(20);
}
process.exit();
