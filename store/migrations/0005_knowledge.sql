-- Knowledge bases: what was put in (documents), what is found (chunks), and what ranking needs (term frequencies).
-- Postgres is the source of truth; vectors can be rebuilt from here.

CREATE TABLE parley.collections (
  org text COLLATE "C" NOT NULL REFERENCES parley.organizations (name),
  -- Never reused: vectors and files that are left over from a deleted collection belong to nobody.
  id text COLLATE "C" NOT NULL CHECK (id ~ '^col_[0-9a-f-]{36}$'),
  -- Of the KnowledgeBase resource.
  name text COLLATE "C" NOT NULL CHECK (char_length(name) BETWEEN 1 AND 253),
  uid text COLLATE "C" NOT NULL CHECK (char_length(uid) BETWEEN 1 AND 128),
  profile text NOT NULL CHECK (char_length(profile) BETWEEN 1 AND 63),
  -- Vectors of two models are never mixed: neither ever changes.
  model text NOT NULL CHECK (char_length(model) <= 256),
  dimension int NOT NULL CHECK (dimension BETWEEN 0 AND 16000),
  language text NOT NULL CHECK (char_length(language) <= 35),
  max_tokens int NOT NULL CHECK (max_tokens > 0),
  overlap_tokens int NOT NULL CHECK (overlap_tokens >= 0),
  -- Of the chunks that can be found.
  chunk_count bigint NOT NULL DEFAULT 0 CHECK (chunk_count >= 0),
  term_total bigint NOT NULL DEFAULT 0 CHECK (term_total >= 0),
  -- What the sparse vectors were weighed with; 0 before the first document.
  average_length double precision NOT NULL DEFAULT 0 CHECK (average_length >= 0),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  -- The resource is gone and its documents are kept: a new one of the same name takes them over.
  released_at timestamptz(3),
  -- From here on nothing of it is found; the rest of it goes bit by bit.
  deleted_at timestamptz(3),
  PRIMARY KEY (org, id)
);

CREATE UNIQUE INDEX collections_by_name ON parley.collections (org, name) WHERE deleted_at IS NULL;

CREATE TABLE parley.documents (
  org text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL CHECK (id ~ '^doc_[0-9a-f-]{36}$'),
  collection_id text COLLATE "C" NOT NULL,
  kind text NOT NULL CHECK (kind IN ('file', 'website', 'text')),
  filename text NOT NULL CHECK (char_length(filename) BETWEEN 1 AND 2048),
  -- Of a file, without the dot.
  extension text CHECK (char_length(extension) <= 16),
  -- Where the file stands in the storage.
  object_key text CHECK (char_length(object_key) <= 512),
  bytes bigint CHECK (bytes >= 0),
  sha256 text CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  -- Of a website.
  urls text[] CHECK (cardinality(urls) <= 100),
  -- Of a document whose content came with the configuration.
  content text CHECK (octet_length(content) <= 1048576),
  metadata jsonb NOT NULL DEFAULT '{}' CHECK (jsonb_typeof(metadata) = 'object'),
  -- Of the resource's sources, the one that this document serves, and the state of it that was read.
  source text COLLATE "C" CHECK (char_length(source) <= 63),
  source_revision text COLLATE "C" CHECK (char_length(source_revision) <= 128),
  status text NOT NULL DEFAULT 'processing' CHECK (status IN ('processing', 'completed', 'failed')),
  stage text NOT NULL DEFAULT 'queued' CHECK (stage IN ('queued', 'fetching', 'parsing', 'indexing', 'verifying', 'completed')),
  done int NOT NULL DEFAULT 0 CHECK (done >= 0),
  total int CHECK (total >= 0),
  message text NOT NULL DEFAULT '' CHECK (char_length(message) <= 4096),
  error_code text CHECK (char_length(error_code) <= 64),
  title text CHECK (char_length(title) <= 1024),
  pages int,
  warnings text[] NOT NULL DEFAULT '{}',
  -- [{url, status, reason}] of a website.
  page_outcomes jsonb,
  chunk_count int NOT NULL DEFAULT 0 CHECK (chunk_count >= 0),
  term_total bigint NOT NULL DEFAULT 0 CHECK (term_total >= 0),
  created_by text,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  -- When it last got anywhere.
  progress_at timestamptz(3) NOT NULL DEFAULT now(),
  -- Nothing of it is found from here on, whatever the vector store still holds.
  deleted_at timestamptz(3),
  PRIMARY KEY (org, id),
  FOREIGN KEY (org, collection_id) REFERENCES parley.collections (org, id)
);

CREATE INDEX documents_of_collection ON parley.documents (org, collection_id, created_at, id);
CREATE INDEX documents_unfinished ON parley.documents (org, collection_id) WHERE status <> 'completed' OR deleted_at IS NOT NULL;
CREATE UNIQUE INDEX documents_by_source ON parley.documents (org, collection_id, source, source_revision)
  WHERE source IS NOT NULL AND deleted_at IS NULL;

CREATE TABLE parley.chunks (
  org text COLLATE "C" NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  ordinal int NOT NULL CHECK (ordinal >= 0),
  -- What is shown.
  text text NOT NULL,
  -- What is embedded and ranked.
  indexed_text text NOT NULL,
  tokens int NOT NULL,
  heading_path text[] NOT NULL DEFAULT '{}',
  page int,
  sheet text,
  url text,
  first_row int,
  last_row int,
  PRIMARY KEY (org, document_id, ordinal),
  FOREIGN KEY (org, document_id) REFERENCES parley.documents (org, id) ON DELETE CASCADE
);

-- In how many of a document's chunks each term is: what it adds to its collection's frequencies, and takes away again.
CREATE TABLE parley.document_terms (
  org text COLLATE "C" NOT NULL,
  document_id text COLLATE "C" NOT NULL,
  terms int[] NOT NULL,
  chunks int[] NOT NULL CHECK (cardinality(chunks) = cardinality(terms)),
  PRIMARY KEY (org, document_id),
  FOREIGN KEY (org, document_id) REFERENCES parley.documents (org, id) ON DELETE CASCADE
);

-- In how many of a collection's findable chunks a term is.
CREATE TABLE parley.term_frequencies (
  org text COLLATE "C" NOT NULL,
  collection_id text COLLATE "C" NOT NULL,
  term int NOT NULL,
  chunks int NOT NULL,
  PRIMARY KEY (org, collection_id, term)
) WITH (fillfactor = 80);

-- Vectors that were paid for once. Of each organisation by itself: that a text was embedded before tells something of its owner.
CREATE TABLE parley.embedding_cache (
  org text COLLATE "C" NOT NULL REFERENCES parley.organizations (name),
  key bytea NOT NULL CHECK (octet_length(key) = 32),
  vector bytea NOT NULL,
  used_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (org, key)
);

CREATE INDEX embedding_cache_by_use ON parley.embedding_cache (org, used_at);

DO $$
DECLARE
  tenant_table text;
BEGIN
  FOREACH tenant_table IN ARRAY ARRAY['collections', 'documents', 'chunks', 'document_terms', 'term_frequencies', 'embedding_cache'] LOOP
    EXECUTE format('ALTER TABLE parley.%I ENABLE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format('ALTER TABLE parley.%I FORCE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format(
      'CREATE POLICY own_organization ON parley.%I TO parley_app USING (org = current_setting(''parley.org'', true)) WITH CHECK (org = current_setting(''parley.org'', true))',
      tenant_table);
  END LOOP;
END
$$;

GRANT SELECT, INSERT, DELETE, UPDATE (uid, profile, language, max_tokens, overlap_tokens, chunk_count, term_total, average_length, released_at, deleted_at)
  ON parley.collections TO parley_app;
GRANT SELECT, INSERT, DELETE,
  UPDATE (object_key, bytes, sha256, status, stage, done, total, message, error_code, title, pages, warnings, page_outcomes, chunk_count, term_total, updated_at, progress_at, deleted_at)
  ON parley.documents TO parley_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON parley.chunks, parley.document_terms, parley.term_frequencies, parley.embedding_cache TO parley_app;
