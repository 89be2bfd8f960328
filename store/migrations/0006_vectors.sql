-- Where chunks are ranked: an inverted index for words (BM25), and tables of dense vectors made on demand, one for each dimension.
-- Everything here can be rebuilt from 0005. Nothing refers to it: another store may keep the vectors in its place.

DO $$
DECLARE
  offered text;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector') THEN
    SELECT default_version INTO offered FROM pg_available_extensions WHERE name = 'vector';
    IF offered IS NULL THEN
      RAISE EXCEPTION 'this Postgres has no pgvector: install pgvector 0.7 or newer on the server (packages are named like postgresql-18-pgvector), then run `parley migrate` again'
        USING ERRCODE = 'feature_not_supported';
    END IF;
    BEGIN
      CREATE EXTENSION vector;
    EXCEPTION WHEN insufficient_privilege THEN
      RAISE EXCEPTION 'the user in DATABASE_URL may not add pgvector: let a superuser run `CREATE EXTENSION vector` in the database %, then run `parley migrate` again', current_database()
        USING ERRCODE = 'insufficient_privilege';
    END;
  END IF;
  -- halfvec, which keeps long vectors, came with 0.7.
  SELECT extversion INTO offered FROM pg_extension WHERE extname = 'vector';
  IF (string_to_array(offered, '.'))[1:2]::int[] < ARRAY[0, 7] THEN
    RAISE EXCEPTION 'this database has pgvector %, and 0.7 or newer is needed: install it on the server, let the owner of the extension run `ALTER EXTENSION vector UPDATE`, then run `parley migrate` again', offered
      USING ERRCODE = 'feature_not_supported';
  END IF;
END
$$;

CREATE TABLE parley.vector_collections (
  org text COLLATE "C" NOT NULL CHECK (org ~ '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$'),
  collection_id text COLLATE "C" NOT NULL CHECK (char_length(collection_id) BETWEEN 1 AND 128),
  -- Chunks are numbered from 0; a number is never given twice. Whoever writes holds this row.
  next_number int NOT NULL DEFAULT 0 CHECK (next_number >= 0),
  -- The table with the graph of its dense vectors, once it is large.
  graph text CHECK (graph ~ '^vector_graph_[0-9a-f]{32}$'),
  PRIMARY KEY (org, collection_id)
);

CREATE TABLE parley.vector_chunks (
  org text COLLATE "C" NOT NULL,
  collection_id text COLLATE "C" NOT NULL,
  number int NOT NULL,
  chunk_id text COLLATE "C" NOT NULL CHECK (char_length(chunk_id) BETWEEN 1 AND 256),
  document_id text COLLATE "C" NOT NULL CHECK (char_length(document_id) BETWEEN 1 AND 128),
  ordinal int NOT NULL CHECK (ordinal >= 0),
  metadata jsonb NOT NULL CHECK (jsonb_typeof(metadata) = 'object'),
  PRIMARY KEY (org, collection_id, number)
);

CREATE UNIQUE INDEX vector_chunks_by_id ON parley.vector_chunks (chunk_id, collection_id, org);
-- No index but the primary key is to match a collection alone: see parley.analyze_vectors. Queries by document say `document_id <> ''`, and no others can use this one.
CREATE INDEX vector_chunks_of_document ON parley.vector_chunks (org, collection_id, document_id) WHERE document_id <> '';

-- Which chunks have a term, by blocks of 1,024 numbers. Each entry is four bytes, little-endian: weight · 1,024 in the lower half, the number within
-- the block in the upper. Entries of a chunk that is gone stay behind until half of their block is gone; its number finds nothing.
CREATE TABLE parley.vector_postings (
  org text COLLATE "C" NOT NULL,
  collection_id text COLLATE "C" NOT NULL,
  term int NOT NULL,
  block int NOT NULL,
  -- 4 KiB at most: never moved out of the row.
  entries bytea STORAGE PLAIN NOT NULL CHECK (octet_length(entries) BETWEEN 4 AND 4096),
  PRIMARY KEY (org, collection_id, term, block)
);

CREATE INDEX vector_postings_of_block ON parley.vector_postings (block, collection_id, org);

ALTER TABLE parley.vector_collections ENABLE ROW LEVEL SECURITY;
ALTER TABLE parley.vector_collections FORCE ROW LEVEL SECURITY;
ALTER TABLE parley.vector_chunks ENABLE ROW LEVEL SECURITY;
ALTER TABLE parley.vector_chunks FORCE ROW LEVEL SECURITY;
ALTER TABLE parley.vector_postings ENABLE ROW LEVEL SECURITY;
ALTER TABLE parley.vector_postings FORCE ROW LEVEL SECURITY;

CREATE POLICY own_organization ON parley.vector_collections TO parley_app
  USING (org = current_setting('parley.org', true))
  WITH CHECK (org = current_setting('parley.org', true));

CREATE POLICY own_organization ON parley.vector_chunks TO parley_app
  USING (org = current_setting('parley.org', true))
  WITH CHECK (org = current_setting('parley.org', true));

CREATE POLICY own_organization ON parley.vector_postings TO parley_app
  USING (org = current_setting('parley.org', true))
  WITH CHECK (org = current_setting('parley.org', true));

GRANT SELECT, INSERT, DELETE, UPDATE (next_number, graph) ON parley.vector_collections TO parley_app;
GRANT SELECT, INSERT, DELETE ON parley.vector_chunks TO parley_app;
GRANT SELECT, INSERT, DELETE, UPDATE (entries) ON parley.vector_postings TO parley_app;

-- Makes a table of dense vectors where it is missing, with everything that row-level security asks for. Tables belong to whoever migrates.
CREATE FUNCTION parley.make_dense_table(name text, dimension int) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  home text;
BEGIN
  IF dimension NOT BETWEEN 1 AND 16000 THEN
    RAISE EXCEPTION 'a vector has 1 to 16000 dimensions, not %', dimension USING ERRCODE = 'numeric_value_out_of_range';
  END IF;
  IF to_regclass('parley.' || name) IS NOT NULL THEN RETURN; END IF;
  PERFORM pg_advisory_xact_lock(hashtext('parley.' || name));
  IF to_regclass('parley.' || name) IS NOT NULL THEN RETURN; END IF;
  SELECT nspname INTO STRICT home FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector';
  EXECUTE format(
    'CREATE TABLE parley.%I (
       org text COLLATE "C" NOT NULL,
       collection_id text COLLATE "C" NOT NULL,
       number int NOT NULL,
       embedding %I.%I(%s) NOT NULL,
       PRIMARY KEY (org, collection_id, number)
     ) WITH (toast_tuple_target = 8160)',
    -- Above 2,000 dimensions a vector has no index, and hardly fits into a page.
    name, home, CASE WHEN dimension > 2000 THEN 'halfvec' ELSE 'vector' END, dimension);
  EXECUTE format('ALTER TABLE parley.%I ENABLE ROW LEVEL SECURITY', name);
  EXECUTE format('ALTER TABLE parley.%I FORCE ROW LEVEL SECURITY', name);
  EXECUTE format(
    'CREATE POLICY own_organization ON parley.%I TO parley_app
       USING (org = current_setting(''parley.org'', true)) WITH CHECK (org = current_setting(''parley.org'', true))', name);
  EXECUTE format('GRANT SELECT, INSERT, DELETE ON parley.%I TO parley_app', name);
END
$$;

-- The table for all collections of one dimension: compared one by one, exactly.
CREATE FUNCTION parley.prepare_dense_vectors(dimension int) RETURNS void
LANGUAGE sql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT parley.make_dense_table('vector_dense_' || dimension, dimension) $$;

-- The table for one large collection of the current organisation, with its graph (HNSW), which is made while it is empty: a graph never has to be built
-- over rows that are in use, and what other organisations have can't stand in its way.
CREATE FUNCTION parley.make_vector_graph(collection text, dimension int) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  own text := nullif(current_setting('parley.org', true), '');
  name text := 'vector_graph_' || left(encode(sha256(convert_to(own || '/' || collection, 'UTF8')), 'hex'), 32);
  home text;
BEGIN
  IF own IS NULL OR dimension > 4000 THEN
    RAISE EXCEPTION 'a graph is of one organisation, and of 4000 dimensions at most' USING ERRCODE = 'numeric_value_out_of_range';
  END IF;
  PERFORM parley.make_dense_table(name, dimension);
  SELECT nspname INTO STRICT home FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector';
  EXECUTE format(
    'CREATE INDEX IF NOT EXISTS %I ON parley.%I USING hnsw (embedding %I.%I)',
    name || '_hnsw', name, home, CASE WHEN dimension > 2000 THEN 'halfvec_ip_ops' ELSE 'vector_ip_ops' END);
  RETURN name;
END
$$;

CREATE FUNCTION parley.drop_vector_graph(collection text) RETURNS void
LANGUAGE plpgsql VOLATILE STRICT SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
  EXECUTE format('DROP TABLE IF EXISTS parley.%I',
    'vector_graph_' || left(encode(sha256(convert_to(current_setting('parley.org') || '/' || collection, 'UTF8')), 'hex'), 32));
END
$$;

REVOKE ALL ON FUNCTION parley.make_dense_table(text, int) FROM PUBLIC;
REVOKE ALL ON FUNCTION parley.prepare_dense_vectors(int) FROM PUBLIC;
REVOKE ALL ON FUNCTION parley.make_vector_graph(text, int) FROM PUBLIC;
REVOKE ALL ON FUNCTION parley.drop_vector_graph(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION parley.prepare_dense_vectors(int) TO parley_app;
GRANT EXECUTE ON FUNCTION parley.make_vector_graph(text, int) TO parley_app;
GRANT EXECUTE ON FUNCTION parley.drop_vector_graph(text) TO parley_app;

-- Takes statistics of the tables that have none, or have since doubled. Autovacuum does that too, a minute later; up to then the planner thinks that
-- a collection has one row, so that any index that begins with it looks as good as the right one. Of two callers one does the work.
CREATE FUNCTION parley.analyze_vectors() RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
  name text;
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtext('parley.analyze_vectors')) THEN RETURN; END IF;
  FOR name IN
    SELECT relname FROM pg_class
    WHERE relnamespace = 'parley'::regnamespace AND relkind = 'r' AND relname LIKE 'vector\_%'
      AND (reltuples < 0 OR pg_relation_size(oid) > 2 * relpages * current_setting('block_size')::bigint)
  LOOP
    EXECUTE format('ANALYZE (SKIP_LOCKED) parley.%I', name);
  END LOOP;
END
$$;

REVOKE ALL ON FUNCTION parley.analyze_vectors() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION parley.analyze_vectors() TO parley_app;
REVOKE ALL ON FUNCTION parley.prepare_dense_vectors(int) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION parley.prepare_dense_vectors(int) TO parley_app;
