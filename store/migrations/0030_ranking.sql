-- The same documents rank the same, whenever and in whatever order they came.

-- Decides between chunks with equal scores: made of the document's content, where ids differ each time a document is added. 0 until a chunk is written again.
ALTER TABLE parley.vector_chunks ADD COLUMN tie_breaker bigint NOT NULL DEFAULT 0;

-- Weights are made with one reference length in place of the mean of whatever was there first. Collections of words alone that were weighed with another
-- are reindexed by the worker while searches go on; those with a model keep theirs until `parley kb reindex`.
ALTER TABLE parley.collections ALTER COLUMN average_length SET DEFAULT 110;
UPDATE parley.collections SET average_length = DEFAULT WHERE average_length = 0;

-- The model that reranks what a search finds; NULL for none.
ALTER TABLE parley.collections ADD COLUMN rerank_profile text CHECK (char_length(rerank_profile) <= 63);
GRANT UPDATE (rerank_profile) ON parley.collections TO parley_app;
