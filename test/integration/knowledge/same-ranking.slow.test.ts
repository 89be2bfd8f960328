/** The same documents rank the same in Milvus. */
import { describe } from 'vitest';

import { milvus } from './milvus-slow-support.ts';
import { itRanksTheSame } from './same-ranking-cases.ts';

const tested = milvus();

describe('documents in Milvus', () => {
  itRanksTheSame(tested);
});
