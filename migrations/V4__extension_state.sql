-- What extensions keep: JSON under a key of theirs, for a branch or for all (NULL), one row for each version. A value of
-- more than 1 KB refers to `content`; NULL: the key was deleted.

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
  CHECK (conversation_state_id IS NOT NULL OR query_state_id IS NULL)
);
CREATE UNIQUE INDEX uq_extension_state_branch ON extension_state (conversation_state_id, namespace, key, version)
WHERE conversation_state_id IS NOT NULL;
CREATE UNIQUE INDEX uq_extension_state_global ON extension_state (namespace, key, version)
WHERE conversation_state_id IS NULL;
CREATE INDEX idx_extension_state_namespace ON extension_state (namespace, created_at);
CREATE INDEX idx_extension_state_query ON extension_state (query_state_id);

CREATE VIEW extension_state_full AS SELECT
  t.id,
  t.namespace,
  t.conversation_state_id,
  t.query_state_id,
  t.position,
  t.key,
  t.version,
  CASE WHEN t.value GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.value, 8)) ELSE t.value END AS value,
  t.created_at
FROM extension_state t;
