/** The same documents rank the same in Postgres. */
import { itRanksTheSame } from './same-ranking-cases.ts';
import { pgvector } from './vector-stores-support.ts';

itRanksTheSame(pgvector({ statementTimeoutMs: 120_000, connectTimeoutMs: 120_000 }));
