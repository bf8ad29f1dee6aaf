-- Schema of Vis in SQLite, version 1. Never edited once released: a change is a new file V<n>__name.sql.
--
-- Ids are UUIDv7, times milliseconds since the epoch, metadata JSON. A text of more than 1 KB is in `content` once, and
-- its column has `sha256:<hex of its hash>`; the views `<table>_full` show it in its place. A BLOB column has bytes, or
-- such a reference as TEXT. Rows are in the order in which they were stored (`rowid`), whatever the clock said. The
-- columns are described in src/persistence/tables.ts.

-- ---------------------------------------------------------------- conversations

CREATE TABLE conversation_soul (
  id TEXT PRIMARY KEY NOT NULL,
  metadata TEXT,
  created_at INTEGER NOT NULL,
  -- Increases with each conversation and each query of a user: its place in the list of conversations.
  activity INTEGER NOT NULL DEFAULT 0,
  tenant TEXT NOT NULL DEFAULT 'default',
  CHECK (metadata IS NULL OR json_valid(metadata) OR metadata GLOB 'sha256:*')
);
CREATE INDEX idx_conv_soul_activity ON conversation_soul (activity);
CREATE INDEX idx_conv_soul_tenant ON conversation_soul (tenant);

CREATE TABLE conversation_state (
  id TEXT PRIMARY KEY NOT NULL,
  conversation_soul_id TEXT NOT NULL REFERENCES conversation_soul (id) ON DELETE CASCADE,
  parent_state_id TEXT REFERENCES conversation_state (id) ON DELETE CASCADE,
  title TEXT,
  version INTEGER NOT NULL CHECK (version >= 0),
  metadata TEXT,
  created_at INTEGER NOT NULL,
  -- The number of its own queries.
  queries INTEGER NOT NULL DEFAULT 0,
  UNIQUE (conversation_soul_id, version),
  CHECK (metadata IS NULL OR json_valid(metadata) OR metadata GLOB 'sha256:*')
);
CREATE INDEX idx_conv_state_parent ON conversation_state (parent_state_id);

-- A child query has a branch of its own below the conversation, made for one iteration of its parent.
CREATE TABLE child_branch (
  conversation_state_id TEXT PRIMARY KEY NOT NULL REFERENCES conversation_state (id) ON DELETE CASCADE,
  iteration_id TEXT NOT NULL REFERENCES iteration (id) ON DELETE CASCADE,
  depth INTEGER NOT NULL CHECK (depth >= 1),
  created_at INTEGER NOT NULL
);
CREATE INDEX idx_child_branch_iteration ON child_branch (iteration_id);

-- The process that runs a query on a branch.
CREATE TABLE lease (
  conversation_state_id TEXT PRIMARY KEY NOT NULL REFERENCES conversation_state (id) ON DELETE CASCADE,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  started TEXT NOT NULL,
  acquired_at INTEGER NOT NULL,
  heartbeat_at INTEGER NOT NULL,
  -- Where `pid` is valid: the boot of the kernel and the namespace of processes.
  space TEXT NOT NULL DEFAULT '',
  -- The session within the process; each has environments of its own.
  session INTEGER NOT NULL DEFAULT 0
);

-- ---------------------------------------------------------------- queries

CREATE TABLE query_soul (
  id TEXT PRIMARY KEY NOT NULL,
  conversation_state_id TEXT NOT NULL REFERENCES conversation_state (id) ON DELETE CASCADE,
  title TEXT,
  query TEXT,
  metadata TEXT,
  created_at INTEGER NOT NULL,
  -- Its place among the queries of its branch, from 0, and the number of its runs.
  number INTEGER NOT NULL DEFAULT 0,
  runs INTEGER NOT NULL DEFAULT 1,
  CHECK (metadata IS NULL OR json_valid(metadata) OR metadata GLOB 'sha256:*')
);
CREATE INDEX idx_query_soul_state ON query_soul (conversation_state_id);
CREATE UNIQUE INDEX uq_query_soul_number ON query_soul (conversation_state_id, number);

CREATE TABLE query_state (
  id TEXT PRIMARY KEY NOT NULL,
  query_soul_id TEXT NOT NULL REFERENCES query_soul (id) ON DELETE CASCADE,
  forked_from_query_state_id TEXT REFERENCES query_state (id) ON DELETE SET NULL,
  version INTEGER NOT NULL CHECK (version >= 0),
  llm_provider TEXT,
  llm_root_model TEXT,
  prompt_enrichment TEXT,
  subtitle TEXT,
  run_label TEXT,
  status TEXT NOT NULL CHECK (status IN ('running', 'done', 'error', 'interrupted')),
  metadata TEXT,
  created_at INTEGER NOT NULL,
  UNIQUE (query_soul_id, version),
  CHECK (metadata IS NULL OR json_valid(metadata) OR metadata GLOB 'sha256:*')
);
CREATE INDEX idx_query_state_forked ON query_state (forked_from_query_state_id);
CREATE INDEX idx_query_state_running ON query_state (status) WHERE status = 'running';

-- The keys with which clients make a request once: what the request began, kept for a day. `fingerprint` is the hash of
-- the request's body: a key that comes with another one is refused.
CREATE TABLE request_key (
  -- The branch that the request named; a retry may begin its query in another one.
  conversation_state_id TEXT NOT NULL REFERENCES conversation_state (id) ON DELETE CASCADE,
  key TEXT NOT NULL CHECK (key <> ''),
  fingerprint TEXT NOT NULL,
  query_state_id TEXT NOT NULL REFERENCES query_state (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (conversation_state_id, key)
);
CREATE INDEX idx_request_key_created ON request_key (created_at);
CREATE INDEX idx_request_key_query ON request_key (query_state_id);

-- ---------------------------------------------------------------- iterations

CREATE TABLE iteration (
  id TEXT PRIMARY KEY NOT NULL,
  query_state_id TEXT NOT NULL REFERENCES query_state (id) ON DELETE CASCADE,
  position INTEGER NOT NULL CHECK (position >= 0),
  status TEXT NOT NULL CHECK (status IN ('running', 'done', 'error', 'interrupted')),
  llm_system_prompt TEXT,
  llm_user_prompt TEXT,
  llm_provider TEXT,
  llm_model TEXT,
  llm_response TEXT,
  llm_traces TEXT,
  llm_full_duration_ms INTEGER CHECK (llm_full_duration_ms IS NULL OR llm_full_duration_ms >= 0),
  llm_thinking TEXT,
  llm_error TEXT,
  llm_returned_empty_expressions INTEGER NOT NULL DEFAULT 0 CHECK (llm_returned_empty_expressions IN (0, 1)),
  metadata TEXT,
  created_at INTEGER NOT NULL,
  finished_at INTEGER,
  UNIQUE (query_state_id, position),
  CHECK (metadata IS NULL OR json_valid(metadata) OR metadata GLOB 'sha256:*')
);
CREATE INDEX idx_iteration_query_created ON iteration (query_state_id, created_at);

-- A plain model call of a block.
CREATE TABLE sub_call (
  id TEXT PRIMARY KEY NOT NULL,
  iteration_id TEXT NOT NULL REFERENCES iteration (id) ON DELETE CASCADE,
  llm_provider TEXT NOT NULL,
  llm_model TEXT NOT NULL,
  prompt TEXT NOT NULL,
  reply TEXT,
  error TEXT,
  usage TEXT NOT NULL CHECK (json_valid(usage)),
  cost_usd REAL,
  duration_ms INTEGER NOT NULL CHECK (duration_ms >= 0),
  created_at INTEGER NOT NULL,
  CHECK ((reply IS NULL) <> (error IS NULL))
);
CREATE INDEX idx_sub_call_iteration ON sub_call (iteration_id);

-- ---------------------------------------------------------------- expressions: blocks and variables

CREATE TABLE expression_soul (
  id TEXT PRIMARY KEY NOT NULL,
  conversation_state_id TEXT NOT NULL REFERENCES conversation_state (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('var', 'call', 'literal')),
  state_mode TEXT NOT NULL CHECK (state_mode IN ('stateless', 'stateful')),
  name TEXT,
  metadata TEXT,
  created_at INTEGER NOT NULL,
  CHECK (kind <> 'literal' OR state_mode = 'stateless'),
  CHECK (metadata IS NULL OR json_valid(metadata) OR metadata GLOB 'sha256:*')
);
CREATE INDEX idx_expression_soul_kind ON expression_soul (conversation_state_id, kind, created_at);
CREATE UNIQUE INDEX uq_expression_soul_state_name ON expression_soul (conversation_state_id, name)
WHERE name IS NOT NULL;
CREATE TRIGGER expression_soul_branch BEFORE UPDATE OF conversation_state_id ON expression_soul
WHEN new.conversation_state_id <> old.conversation_state_id
BEGIN
  SELECT RAISE(ABORT, 'expression_soul: the branch of an expression is fixed');
END;
CREATE TRIGGER expression_soul_stateless BEFORE UPDATE OF state_mode ON expression_soul
WHEN new.state_mode = 'stateless'
  AND EXISTS (SELECT 1 FROM expression_state WHERE expression_soul_id = new.id AND version > 0)
BEGIN
  SELECT RAISE(ABORT, 'expression_state: a stateless expression has version 0 only');
END;

-- An edge stays within its branch.
CREATE TABLE expression_dependency (
  id TEXT PRIMARY KEY NOT NULL,
  conversation_state_id TEXT NOT NULL REFERENCES conversation_state (id) ON DELETE CASCADE,
  downstream_expression_soul_id TEXT NOT NULL REFERENCES expression_soul (id) ON DELETE CASCADE,
  upstream_expression_soul_id TEXT NOT NULL REFERENCES expression_soul (id) ON DELETE CASCADE,
  metadata TEXT,
  created_at INTEGER NOT NULL,
  UNIQUE (downstream_expression_soul_id, upstream_expression_soul_id),
  CHECK (downstream_expression_soul_id <> upstream_expression_soul_id),
  CHECK (metadata IS NULL OR json_valid(metadata) OR metadata GLOB 'sha256:*')
);
CREATE INDEX idx_expression_dependency_up ON expression_dependency (upstream_expression_soul_id);
CREATE INDEX idx_expression_dependency_state ON expression_dependency (conversation_state_id);
CREATE TRIGGER expression_dependency_insert BEFORE INSERT ON expression_dependency
WHEN (
  SELECT count(*) FROM expression_soul
  WHERE id IN (new.downstream_expression_soul_id, new.upstream_expression_soul_id)
    AND conversation_state_id = new.conversation_state_id
) <> 2 AND new.downstream_expression_soul_id <> new.upstream_expression_soul_id
BEGIN
  SELECT RAISE(ABORT, 'expression_dependency: both endpoints must be in the branch of the edge');
END;
CREATE TRIGGER expression_dependency_update BEFORE UPDATE ON expression_dependency
WHEN (
  SELECT count(*) FROM expression_soul
  WHERE id IN (new.downstream_expression_soul_id, new.upstream_expression_soul_id)
    AND conversation_state_id = new.conversation_state_id
) <> 2 AND new.downstream_expression_soul_id <> new.upstream_expression_soul_id
BEGIN
  SELECT RAISE(ABORT, 'expression_dependency: both endpoints must be in the branch of the edge');
END;

CREATE TABLE expression_state (
  id TEXT PRIMARY KEY NOT NULL,
  expression_soul_id TEXT NOT NULL REFERENCES expression_soul (id) ON DELETE CASCADE,
  iteration_id TEXT NOT NULL REFERENCES iteration (id) ON DELETE CASCADE,
  version INTEGER NOT NULL CHECK (version >= 0),
  success INTEGER NOT NULL DEFAULT 1 CHECK (success IN (0, 1)),
  -- Not length(): that counts up to the first NUL only.
  expr TEXT CHECK (expr IS NULL OR trim(expr, char(9, 10, 11, 12, 13, 32)) <> ''),
  result BLOB,
  error BLOB,
  stdout TEXT,
  stderr TEXT,
  duration_ms INTEGER CHECK (duration_ms IS NULL OR duration_ms >= 0),
  metadata TEXT,
  created_at INTEGER NOT NULL,
  UNIQUE (expression_soul_id, version),
  CHECK ((success = 1 AND error IS NULL) OR (success = 0 AND error IS NOT NULL)),
  CHECK (metadata IS NULL OR json_valid(metadata) OR metadata GLOB 'sha256:*')
);
CREATE INDEX idx_expression_state_iteration ON expression_state (iteration_id);
CREATE TRIGGER expression_state_first_insert BEFORE INSERT ON expression_state
WHEN new.version <> 0
  AND NOT EXISTS (SELECT 1 FROM expression_state WHERE expression_soul_id = new.expression_soul_id)
BEGIN
  SELECT RAISE(ABORT, 'expression_state: the first version is 0');
END;
CREATE TRIGGER expression_state_first_update BEFORE UPDATE OF expression_soul_id, version ON expression_state
WHEN new.version <> 0
  AND NOT EXISTS (
    SELECT 1 FROM expression_state WHERE expression_soul_id = new.expression_soul_id AND id <> old.id
  )
BEGIN
  SELECT RAISE(ABORT, 'expression_state: the first version is 0');
END;
CREATE TRIGGER expression_state_stateless_insert BEFORE INSERT ON expression_state
WHEN new.version <> 0
  AND (SELECT state_mode FROM expression_soul WHERE id = new.expression_soul_id) = 'stateless'
BEGIN
  SELECT RAISE(ABORT, 'expression_state: a stateless expression has version 0 only');
END;
CREATE TRIGGER expression_state_stateless_update BEFORE UPDATE OF expression_soul_id, version ON expression_state
WHEN new.version <> 0
  AND (SELECT state_mode FROM expression_soul WHERE id = new.expression_soul_id) = 'stateless'
BEGIN
  SELECT RAISE(ABORT, 'expression_state: a stateless expression has version 0 only');
END;

-- When variables left the scope and came back. A version makes its variable live; a row is stored for what no version
-- says. `id` is the order.
CREATE TABLE scope_change (
  id INTEGER PRIMARY KEY,
  expression_soul_id TEXT NOT NULL REFERENCES expression_soul (id) ON DELETE CASCADE,
  -- The run that it happened in, after its iteration `position`, or before its first one; NULL before all queries.
  query_state_id TEXT REFERENCES query_state (id) ON DELETE CASCADE,
  position INTEGER NOT NULL CHECK (position >= -1),
  scope TEXT NOT NULL CHECK (scope IN ('live', 'forgotten')),
  created_at INTEGER NOT NULL
);
CREATE INDEX idx_scope_change_soul ON scope_change (expression_soul_id, id);
CREATE INDEX idx_scope_change_query ON scope_change (query_state_id);

-- ---------------------------------------------------------------- states of extensions

-- JSON under a key of an extension, for a branch or for all (NULL), a row for each version; NULL: the key was deleted.
CREATE TABLE extension_state (
  id TEXT PRIMARY KEY NOT NULL,
  namespace TEXT NOT NULL,
  conversation_state_id TEXT REFERENCES conversation_state (id) ON DELETE CASCADE,
  -- The run that it happened in, after its iteration `position`, or before its first one; NULL before all queries.
  query_state_id TEXT REFERENCES query_state (id) ON DELETE CASCADE,
  position INTEGER NOT NULL CHECK (position >= -1),
  key TEXT NOT NULL CHECK (key <> ''),
  version INTEGER NOT NULL CHECK (version >= 1),
  value TEXT CHECK (value IS NULL OR json_valid(value) OR value GLOB 'sha256:*'),
  created_at INTEGER NOT NULL,
  -- Of global state; state of a branch has the tenant of its conversation.
  tenant TEXT,
  CHECK (conversation_state_id IS NOT NULL OR query_state_id IS NULL)
);
CREATE UNIQUE INDEX uq_extension_state_branch ON extension_state (conversation_state_id, namespace, key, version)
WHERE conversation_state_id IS NOT NULL;
CREATE INDEX idx_extension_state_namespace ON extension_state (namespace, created_at);
CREATE INDEX idx_extension_state_query ON extension_state (query_state_id);
CREATE UNIQUE INDEX uq_extension_state_global ON extension_state (namespace, tenant, key, version)
WHERE conversation_state_id IS NULL;

-- ---------------------------------------------------------------- log

CREATE TABLE log (
  id TEXT PRIMARY KEY NOT NULL,
  level TEXT NOT NULL CHECK (level IN ('trace', 'debug', 'info', 'warn', 'error', 'fatal')),
  event TEXT NOT NULL,
  data TEXT,
  conversation_soul_id TEXT REFERENCES conversation_soul (id) ON DELETE CASCADE,
  conversation_state_id TEXT REFERENCES conversation_state (id) ON DELETE CASCADE,
  query_soul_id TEXT REFERENCES query_soul (id) ON DELETE CASCADE,
  query_state_id TEXT REFERENCES query_state (id) ON DELETE CASCADE,
  iteration_id TEXT REFERENCES iteration (id) ON DELETE CASCADE,
  expression_soul_id TEXT REFERENCES expression_soul (id) ON DELETE CASCADE,
  expression_state_id TEXT REFERENCES expression_state (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  CHECK (data IS NULL OR json_valid(data) OR data GLOB 'sha256:*')
);
CREATE INDEX idx_log_level ON log (level, created_at);
CREATE INDEX idx_log_created ON log (created_at);
CREATE INDEX idx_log_event ON log (event, created_at);
CREATE INDEX idx_log_conversation_soul ON log (conversation_soul_id) WHERE conversation_soul_id IS NOT NULL;
CREATE INDEX idx_log_conversation_state ON log (conversation_state_id) WHERE conversation_state_id IS NOT NULL;
CREATE INDEX idx_log_query_soul ON log (query_soul_id) WHERE query_soul_id IS NOT NULL;
CREATE INDEX idx_log_query_state ON log (query_state_id) WHERE query_state_id IS NOT NULL;
CREATE INDEX idx_log_iteration ON log (iteration_id) WHERE iteration_id IS NOT NULL;
CREATE INDEX idx_log_expression_soul ON log (expression_soul_id) WHERE expression_soul_id IS NOT NULL;
CREATE INDEX idx_log_expression_state ON log (expression_state_id) WHERE expression_state_id IS NOT NULL;

-- ---------------------------------------------------------------- long texts and values, each stored once

-- raw: the bytes (UTF-8 of a text). chunks: a JSON array of the hashes of the pieces, in order. delta: the difference
-- from `base`, which is raw or chunks; `steps` is a JSON array of [from, length, literal]: `length` bytes of the base
-- from `from` (0-based) on, then the next `literal` bytes of `bytes`. `spent`: the bytes of all differences from that
-- base up to this one, along one variable.
CREATE TABLE content (
  hash TEXT PRIMARY KEY CHECK (length(hash) = 64),
  encoding TEXT NOT NULL CHECK (encoding IN ('raw', 'chunks', 'delta')),
  bytes BLOB NOT NULL,
  base TEXT REFERENCES content (hash),
  steps TEXT CHECK (steps IS NULL OR json_valid(steps)),
  spent INTEGER,
  CHECK ((encoding = 'delta') = (base IS NOT NULL AND steps IS NOT NULL AND spent IS NOT NULL))
);

-- Content that deleted conversations used. It is removed if nothing else uses it, by whichever process comes first.
CREATE TABLE erasure (
  hash TEXT PRIMARY KEY NOT NULL
);

-- Large texts, and their pieces, that no row refers to yet: one entry for each time that a text is stored.
CREATE TABLE claim (
  put TEXT NOT NULL,
  reference TEXT NOT NULL,
  claimed_at INTEGER NOT NULL,
  PRIMARY KEY (put, reference)
);
CREATE INDEX idx_claim_reference ON claim (reference);

-- Without an ordered aggregate, which SQLite has from 3.44 on: older tools can read the database too.
CREATE VIEW content_whole AS SELECT
  c.hash,
  CASE c.encoding WHEN 'raw' THEN c.bytes WHEN 'chunks' THEN (
    SELECT CAST(group_concat(p.bytes, '') OVER (
      ORDER BY j.key ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ) AS BLOB)
    FROM json_each(CAST(c.bytes AS TEXT)) j JOIN content p ON p.hash = j.value LIMIT 1
  ) END AS bytes
FROM content c;

CREATE VIEW content_full AS SELECT
  c.hash,
  CASE c.encoding WHEN 'delta' THEN (
    SELECT CAST(group_concat(
      substr(w.bytes, 1 + json_extract(s.value, '$[0]'), json_extract(s.value, '$[1]')) ||
      substr(c.bytes, 1 + (
        SELECT coalesce(sum(json_extract(b.value, '$[2]')), 0) FROM json_each(c.steps) b WHERE b.key < s.key
      ), json_extract(s.value, '$[2]')),
      '') OVER (ORDER BY s.key ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS BLOB)
    FROM json_each(c.steps) s JOIN content_whole w ON w.hash = c.base LIMIT 1
  ) ELSE (SELECT w.bytes FROM content_whole w WHERE w.hash = c.hash) END AS bytes
FROM content c;

-- ---------------------------------------------------------------- the tables with their long texts in place

CREATE VIEW conversation_soul_full AS SELECT
  t.id,
  CASE WHEN t.metadata GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.metadata, 8)) ELSE t.metadata END AS metadata,
  t.created_at,
  t.activity,
  t.tenant
FROM conversation_soul t;

CREATE VIEW conversation_state_full AS SELECT
  t.id,
  t.conversation_soul_id,
  t.parent_state_id,
  CASE WHEN t.title GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.title, 8)) ELSE t.title END AS title,
  t.version,
  CASE WHEN t.metadata GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.metadata, 8)) ELSE t.metadata END AS metadata,
  t.created_at
FROM conversation_state t;

CREATE VIEW query_soul_full AS SELECT
  t.id,
  t.conversation_state_id,
  CASE WHEN t.title GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.title, 8)) ELSE t.title END AS title,
  t.query,
  CASE WHEN t.metadata GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.metadata, 8)) ELSE t.metadata END AS metadata,
  t.created_at
FROM query_soul t;

CREATE VIEW query_state_full AS SELECT
  t.id,
  t.query_soul_id,
  t.forked_from_query_state_id,
  t.version,
  t.llm_provider,
  t.llm_root_model,
  CASE WHEN t.prompt_enrichment GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.prompt_enrichment, 8)) ELSE t.prompt_enrichment END AS prompt_enrichment,
  CASE WHEN t.subtitle GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.subtitle, 8)) ELSE t.subtitle END AS subtitle,
  CASE WHEN t.run_label GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.run_label, 8)) ELSE t.run_label END AS run_label,
  t.status,
  CASE WHEN t.metadata GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.metadata, 8)) ELSE t.metadata END AS metadata,
  t.created_at
FROM query_state t;

CREATE VIEW iteration_full AS SELECT
  t.id,
  t.query_state_id,
  t.position,
  t.status,
  CASE WHEN t.llm_system_prompt GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.llm_system_prompt, 8)) ELSE t.llm_system_prompt END AS llm_system_prompt,
  CASE WHEN t.llm_user_prompt GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.llm_user_prompt, 8)) ELSE t.llm_user_prompt END AS llm_user_prompt,
  t.llm_provider,
  t.llm_model,
  CASE WHEN t.llm_response GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.llm_response, 8)) ELSE t.llm_response END AS llm_response,
  CASE WHEN t.llm_traces GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.llm_traces, 8)) ELSE t.llm_traces END AS llm_traces,
  t.llm_full_duration_ms,
  CASE WHEN t.llm_thinking GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.llm_thinking, 8)) ELSE t.llm_thinking END AS llm_thinking,
  CASE WHEN t.llm_error GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.llm_error, 8)) ELSE t.llm_error END AS llm_error,
  t.llm_returned_empty_expressions,
  CASE WHEN t.metadata GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.metadata, 8)) ELSE t.metadata END AS metadata,
  t.created_at,
  t.finished_at
FROM iteration t;

CREATE VIEW expression_soul_full AS SELECT
  t.id,
  t.conversation_state_id,
  t.kind,
  t.state_mode,
  t.name,
  CASE WHEN t.metadata GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.metadata, 8)) ELSE t.metadata END AS metadata,
  t.created_at
FROM expression_soul t;

CREATE VIEW expression_dependency_full AS SELECT
  t.id,
  t.conversation_state_id,
  t.downstream_expression_soul_id,
  t.upstream_expression_soul_id,
  CASE WHEN t.metadata GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.metadata, 8)) ELSE t.metadata END AS metadata,
  t.created_at
FROM expression_dependency t;

-- A variable of kind data has no text of its own: it shows the text of the block that made it.
CREATE VIEW expression_state_full AS SELECT
  t.id,
  t.expression_soul_id,
  t.iteration_id,
  t.version,
  t.success,
  coalesce(t.expr, (SELECT b.expr FROM expression_state b WHERE b.id = json_extract(CASE WHEN t.metadata GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.metadata, 8)) ELSE t.metadata END, '$.block'))) AS expr,
  CASE WHEN typeof(t.result) = 'text' THEN (SELECT f.bytes FROM content_full f WHERE f.hash = substr(t.result, 8)) ELSE t.result END AS result,
  CASE WHEN typeof(t.error) = 'text' THEN (SELECT f.bytes FROM content_full f WHERE f.hash = substr(t.error, 8)) ELSE t.error END AS error,
  CASE WHEN t.stdout GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.stdout, 8)) ELSE t.stdout END AS stdout,
  CASE WHEN t.stderr GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.stderr, 8)) ELSE t.stderr END AS stderr,
  t.duration_ms,
  CASE WHEN t.metadata GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.metadata, 8)) ELSE t.metadata END AS metadata,
  t.created_at
FROM expression_state t;

CREATE VIEW extension_state_full AS SELECT
  t.id,
  t.namespace,
  t.conversation_state_id,
  t.query_state_id,
  t.position,
  t.key,
  t.version,
  CASE WHEN t.value GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.value, 8)) ELSE t.value END AS value,
  t.created_at,
  t.tenant
FROM extension_state t;

CREATE VIEW log_full AS SELECT
  t.id,
  t.level,
  t.event,
  CASE WHEN t.data GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.data, 8)) ELSE t.data END AS data,
  t.conversation_soul_id,
  t.conversation_state_id,
  t.query_soul_id,
  t.query_state_id,
  t.iteration_id,
  t.expression_soul_id,
  t.expression_state_id,
  t.created_at
FROM log t;

-- ---------------------------------------------------------------- search

CREATE VIRTUAL TABLE search USING fts5(
  owner_table UNINDEXED, owner_id UNINDEXED, field UNINDEXED, text,
  tokenize = 'porter unicode61 remove_diacritics 2'
);

CREATE VIEW search_full AS SELECT owner_table, owner_id, field, text FROM search;

-- Which row of `search` belongs to which text, so that a change or a deletion does not read the whole index.
CREATE TABLE search_entry (
  id INTEGER PRIMARY KEY,
  owner_table TEXT NOT NULL,
  owner_id TEXT NOT NULL,
  field TEXT NOT NULL,
  UNIQUE (owner_id, owner_table, field)
);

CREATE TRIGGER search_entry_delete AFTER DELETE ON search_entry
BEGIN
  DELETE FROM search WHERE rowid = old.id;
END;

CREATE TRIGGER search_query_insert AFTER INSERT ON query_soul WHEN new.query IS NOT NULL
BEGIN
  INSERT INTO search_entry (owner_table, owner_id, field) VALUES ('query_soul', new.id, 'query');
  INSERT INTO search (rowid, owner_table, owner_id, field, text)
  SELECT id, owner_table, owner_id, field, new.query FROM search_entry
  WHERE owner_id = new.id AND owner_table = 'query_soul' AND field = 'query';
END;

CREATE TRIGGER search_query_update AFTER UPDATE OF id, query ON query_soul
BEGIN
  DELETE FROM search_entry WHERE owner_id = old.id AND owner_table = 'query_soul' AND field = 'query';
  INSERT INTO search_entry (owner_table, owner_id, field)
  SELECT 'query_soul', new.id, 'query' WHERE new.query IS NOT NULL;
  INSERT INTO search (rowid, owner_table, owner_id, field, text)
  SELECT id, owner_table, owner_id, field, new.query FROM search_entry
  WHERE owner_id = new.id AND owner_table = 'query_soul' AND field = 'query';
END;

CREATE TRIGGER search_query_delete AFTER DELETE ON query_soul
BEGIN
  DELETE FROM search_entry WHERE owner_id = old.id AND owner_table = 'query_soul' AND field = 'query';
END;

CREATE TRIGGER search_expr_insert AFTER INSERT ON expression_state WHEN new.expr IS NOT NULL
BEGIN
  INSERT INTO search_entry (owner_table, owner_id, field) VALUES ('expression_state', new.id, 'expr');
  INSERT INTO search (rowid, owner_table, owner_id, field, text)
  SELECT id, owner_table, owner_id, field, new.expr FROM search_entry
  WHERE owner_id = new.id AND owner_table = 'expression_state' AND field = 'expr';
END;

CREATE TRIGGER search_expr_update AFTER UPDATE OF id, expr ON expression_state
BEGIN
  DELETE FROM search_entry WHERE owner_id = old.id AND owner_table = 'expression_state' AND field = 'expr';
  INSERT INTO search_entry (owner_table, owner_id, field)
  SELECT 'expression_state', new.id, 'expr' WHERE new.expr IS NOT NULL;
  INSERT INTO search (rowid, owner_table, owner_id, field, text)
  SELECT id, owner_table, owner_id, field, new.expr FROM search_entry
  WHERE owner_id = new.id AND owner_table = 'expression_state' AND field = 'expr';
END;

CREATE TRIGGER search_expr_delete AFTER DELETE ON expression_state
BEGIN
  DELETE FROM search_entry WHERE owner_id = old.id AND owner_table = 'expression_state' AND field = 'expr';
END;

-- The answer of a query, and the messages that a user sent while it ran, are parts of its metadata.
CREATE TRIGGER search_answer_insert AFTER INSERT ON query_state WHEN new.metadata IS NOT NULL
BEGIN
  INSERT INTO search_entry (owner_table, owner_id, field)
  SELECT 'query_state', id, 'answer' FROM query_state_full
  WHERE id = new.id AND json_extract(metadata, '$.answer') <> '';
  INSERT INTO search (rowid, owner_table, owner_id, field, text)
  SELECT e.id, e.owner_table, e.owner_id, e.field, json_extract(f.metadata, '$.answer')
  FROM search_entry e JOIN query_state_full f ON f.id = e.owner_id
  WHERE e.owner_id = new.id AND e.owner_table = 'query_state' AND e.field = 'answer';
END;

CREATE TRIGGER search_answer_update AFTER UPDATE OF id, metadata ON query_state
WHEN new.metadata IS NOT old.metadata OR new.id <> old.id
BEGIN
  DELETE FROM search_entry WHERE owner_id = old.id AND owner_table = 'query_state' AND field = 'answer';
  INSERT INTO search_entry (owner_table, owner_id, field)
  SELECT 'query_state', id, 'answer' FROM query_state_full
  WHERE id = new.id AND json_extract(metadata, '$.answer') <> '';
  INSERT INTO search (rowid, owner_table, owner_id, field, text)
  SELECT e.id, e.owner_table, e.owner_id, e.field, json_extract(f.metadata, '$.answer')
  FROM search_entry e JOIN query_state_full f ON f.id = e.owner_id
  WHERE e.owner_id = new.id AND e.owner_table = 'query_state' AND e.field = 'answer';
END;

CREATE TRIGGER search_answer_delete AFTER DELETE ON query_state
BEGIN
  DELETE FROM search_entry WHERE owner_id = old.id AND owner_table = 'query_state' AND field = 'answer';
END;

CREATE TRIGGER search_steered_insert AFTER INSERT ON query_state WHEN new.metadata IS NOT NULL
BEGIN
  INSERT INTO search_entry (owner_table, owner_id, field)
  SELECT 'query_state', id, 'steered' FROM query_state_full
  WHERE id = new.id AND json_extract(metadata, '$.steered[0].text') <> '';
  INSERT INTO search (rowid, owner_table, owner_id, field, text)
  SELECT e.id, e.owner_table, e.owner_id, e.field, (
    SELECT group_concat(json_extract(m.value, '$.text'), char(10))
    FROM json_each(f.metadata, '$.steered') m
  )
  FROM search_entry e JOIN query_state_full f ON f.id = e.owner_id
  WHERE e.owner_id = new.id AND e.owner_table = 'query_state' AND e.field = 'steered';
END;

CREATE TRIGGER search_steered_update AFTER UPDATE OF id, metadata ON query_state
WHEN new.metadata IS NOT old.metadata OR new.id <> old.id
BEGIN
  DELETE FROM search_entry WHERE owner_id = old.id AND owner_table = 'query_state' AND field = 'steered';
  INSERT INTO search_entry (owner_table, owner_id, field)
  SELECT 'query_state', id, 'steered' FROM query_state_full
  WHERE id = new.id AND json_extract(metadata, '$.steered[0].text') <> '';
  INSERT INTO search (rowid, owner_table, owner_id, field, text)
  SELECT e.id, e.owner_table, e.owner_id, e.field, (
    SELECT group_concat(json_extract(m.value, '$.text'), char(10))
    FROM json_each(f.metadata, '$.steered') m
  )
  FROM search_entry e JOIN query_state_full f ON f.id = e.owner_id
  WHERE e.owner_id = new.id AND e.owner_table = 'query_state' AND e.field = 'steered';
END;

CREATE TRIGGER search_steered_delete AFTER DELETE ON query_state
BEGIN
  DELETE FROM search_entry WHERE owner_id = old.id AND owner_table = 'query_state' AND field = 'steered';
END;
