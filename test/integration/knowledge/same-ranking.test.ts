/** The same documents rank the same in Postgres, and their weights are made with the length that the schema says. */
import { expect, it } from 'vitest';

import { REFERENCE_LENGTH } from '../../../knowledge/lexical/vectors.ts';
import { migratedDatabase, openPatientStore } from '../../support/postgres.ts';
import { suiteFixture } from '../../support/suite-fixture.ts';
import { itRanksTheSame } from './same-ranking-cases.ts';
import { pgvector } from './vector-stores-support.ts';

const store = suiteFixture(async () => openPatientStore((await migratedDatabase()).url));

itRanksTheSame(pgvector({ statementTimeoutMs: 120_000, connectTimeoutMs: 120_000 }));

it('has the reference length as the default of the column that says what weights were made with', async () => {
  const [row] = await store.database.query<{ length: number }>(
    `SELECT column_default::float8 AS length FROM information_schema.columns
     WHERE table_schema = 'parley' AND table_name = 'collections' AND column_name = 'average_length'`,
  );
  expect(row?.length).toBe(REFERENCE_LENGTH);
});
