-- A document may have a million terms: they are counted in slices, for each of which other changes of its collection wait.

-- Of its terms, how many from the first on are among the collection's frequencies.
ALTER TABLE parley.document_terms ADD COLUMN counted int NOT NULL DEFAULT 0 CHECK (counted BETWEEN 0 AND cardinality(terms));

UPDATE parley.document_terms t SET counted = cardinality(t.terms)
FROM parley.documents d WHERE d.org = t.org AND d.id = t.document_id AND d.status = 'completed' AND d.deleted_at IS NULL;
