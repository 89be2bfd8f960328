-- Vectors that a filter leaves are looked up in a graph's table by number. The table is of one collection, and its key begins with two texts that
-- are the same in every row: three times as many pages are read, and the texts compared for each of them.
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
  EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON parley.%I (number)', name || '_number', name);
  RETURN name;
END
$$;

DO $$
DECLARE
  name text;
BEGIN
  FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'parley'::regnamespace AND relkind = 'r' AND relname LIKE 'vector\_graph\_%' LOOP
    EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON parley.%I (number)', name || '_number', name);
  END LOOP;
END
$$;
