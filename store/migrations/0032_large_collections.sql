-- Collections of a million chunks: what filters ask for is in the inverted index, and graphs keep vectors in half the room.

-- What a filter can ask of a chunk, as terms below 0: a hash for each field with its value. Two values may share one, so that whoever uses it compares the
-- metadata, too.
CREATE FUNCTION parley.filter_terms(metadata jsonb) RETURNS int[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
  SELECT coalesce(array_agg(DISTINCT -1 - ((get_byte(digest, 0) & 127) << 24 | get_byte(digest, 1) << 16 | get_byte(digest, 2) << 8 | get_byte(digest, 3))), '{}')
  FROM (SELECT sha256(convert_to(key || ':' || value::text, 'UTF8')) AS digest FROM jsonb_each(metadata)) AS field
$$;
REVOKE ALL ON FUNCTION parley.filter_terms(jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION parley.filter_terms(jsonb) TO parley_app;

-- From number 65,536 on, rows of the inverted index hold entries of up to 65,536 numbers from the first one of their block on: an entry's upper half is the
-- number's lower 16 bits. Where it is below 1,024 it is the number within the block, as before.
-- Terms of chunks that exist; term 0 is in every chunk. A table's owner that is no superuser sees its rows only without FORCE.
ALTER TABLE parley.vector_chunks NO FORCE ROW LEVEL SECURITY;
ALTER TABLE parley.vector_postings NO FORCE ROW LEVEL SECURITY;
INSERT INTO parley.vector_postings (org, collection_id, term, block, entries)
SELECT org, collection_id, term, number >> 10,
  string_agg(set_byte(set_byte('\x01000000'::bytea, 2, number & 255), 3, number >> 8 & 3), ''::bytea ORDER BY number)
FROM parley.vector_chunks, unnest(parley.filter_terms(metadata) || 0) AS term
GROUP BY org, collection_id, term, number >> 10;
ALTER TABLE parley.vector_chunks FORCE ROW LEVEL SECURITY;
ALTER TABLE parley.vector_postings FORCE ROW LEVEL SECURITY;

-- Whether a chunk's filter terms are in the index: not where a release before this one writes it, while two of them are at work.
ALTER TABLE parley.vector_chunks ADD COLUMN filterable boolean NOT NULL DEFAULT true;
ALTER TABLE parley.vector_chunks ALTER COLUMN filterable SET DEFAULT false;
CREATE INDEX vector_chunks_unfilterable ON parley.vector_chunks (org, collection_id, number) WHERE NOT filterable;

-- Graphs of vectors are made of half-precision numbers, which hold our whole ones up to 2,048 exactly. Those that exist stay as they are until a reindex.
CREATE OR REPLACE FUNCTION parley.make_dense_table(name text, dimension int) RETURNS void
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
  -- Asked of the table itself: what the cache knows, which to_regclass asks, may be from before the lock.
  IF EXISTS (SELECT FROM pg_class WHERE relnamespace = 'parley'::regnamespace AND relname = name) THEN RETURN; END IF;
  SELECT nspname INTO STRICT home FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector';
  EXECUTE format(
    'CREATE TABLE parley.%I (
       org text COLLATE "C" NOT NULL,
       collection_id text COLLATE "C" NOT NULL,
       number int NOT NULL,
       embedding %I.%I(%s) NOT NULL,
       PRIMARY KEY (org, collection_id, number)
     ) WITH (toast_tuple_target = 8160)',
    name, home, CASE WHEN dimension > 2000 OR name LIKE 'vector\_graph\_%' THEN 'halfvec' ELSE 'vector' END, dimension);
  EXECUTE format('ALTER TABLE parley.%I ENABLE ROW LEVEL SECURITY', name);
  EXECUTE format('ALTER TABLE parley.%I FORCE ROW LEVEL SECURITY', name);
  EXECUTE format(
    'CREATE POLICY own_organization ON parley.%I TO parley_app
       USING (org = current_setting(''parley.org'', true)) WITH CHECK (org = current_setting(''parley.org'', true))', name);
  EXECUTE format('GRANT SELECT, INSERT, DELETE ON parley.%I TO parley_app', name);
END
$$;

CREATE OR REPLACE FUNCTION parley.make_vector_graph(collection text, dimension int) RETURNS text
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
  EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON parley.%I USING hnsw (embedding %I.halfvec_ip_ops)', name || '_hnsw', name, home);
  RETURN name;
END
$$;
