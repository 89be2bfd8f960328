/** Checks that everything that is kept of a knowledge base's documents is there, and there once. */
import { expect } from 'vitest';

import type { KnowledgeHarness } from './harness.ts';

/** @param ids all documents of the harness's collection, completed */
export async function expectCountedOnce(kb: KnowledgeHarness, ids: readonly string[]): Promise<void> {
  expect(await kb.sql(`SELECT status, count(*)::int AS n FROM parley.documents WHERE deleted_at IS NULL GROUP BY status`)).toEqual([
    { status: 'completed', n: ids.length },
  ]);
  const rows = await kb.sql<{ id: string; chunks: number; stored: number; vectors: number }>(
    `SELECT d.id, d.chunk_count AS chunks, (SELECT count(*)::int FROM parley.chunks k WHERE k.document_id = d.id) AS stored,
       (SELECT count(*)::int FROM parley.vector_chunks v WHERE v.document_id = d.id) AS vectors
     FROM parley.documents d WHERE d.deleted_at IS NULL`,
  );
  expect(rows.map(({ id }) => id).toSorted()).toEqual([...ids].toSorted());
  expect(rows.filter(({ chunks, stored, vectors }) => chunks === 0 || stored !== chunks || vectors !== chunks)).toEqual([]);
  expect(
    await kb.sql(
      `SELECT count(*)::int AS wrong FROM (
         SELECT term, sum(n)::int AS chunks FROM (SELECT unnest(t.terms) AS term, unnest(t.chunks) AS n FROM parley.document_terms t
           JOIN parley.documents d ON d.id = t.document_id WHERE d.deleted_at IS NULL) t GROUP BY term) t
       FULL JOIN parley.term_frequencies f USING (term) WHERE f.chunks IS DISTINCT FROM t.chunks`,
    ),
  ).toEqual([{ wrong: 0 }]);
  expect(
    await kb.sql(
      `SELECT count(*)::int AS wrong FROM parley.collections c CROSS JOIN LATERAL (
         SELECT coalesce(sum(d.chunk_count), 0) AS chunks, coalesce(sum(d.term_total), 0) AS terms
         FROM parley.documents d WHERE d.collection_id = c.id AND d.deleted_at IS NULL) s
       WHERE c.chunk_count <> s.chunks OR c.term_total <> s.terms`,
    ),
  ).toEqual([{ wrong: 0 }]);
  const events = await kb.sql<{ id: string }>(
    `SELECT convert_from(body, 'UTF8')::jsonb #>> '{payload,document_id}' AS id FROM parley.events JOIN parley.event_bodies USING (id)
     WHERE name = 'KnowledgeBase.DocumentCompleted'`,
  );
  for (const id of ids) expect(events.filter((row) => row.id === id)).toHaveLength(1);
}
