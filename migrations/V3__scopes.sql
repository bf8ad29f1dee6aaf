-- When variables left the scope and came back, so that a branch at any moment, and a fork there, has the scopes of then.
-- A version makes its variable live; only what no version says stands here. `id` is the order.

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

-- Until now a variable had one scope. When it was forgotten is not known: at the newest moment of its branch.
INSERT INTO scope_change (expression_soul_id, query_state_id, position, scope, created_at)
SELECT v.id, v.run, coalesce((SELECT max(i.position) FROM iteration i WHERE i.query_state_id = v.run), -1), 'forgotten',
  v.created_at
FROM (
  SELECT s.id, s.created_at, (
    SELECT r.id FROM query_state r JOIN query_soul q ON q.id = r.query_soul_id
    WHERE q.conversation_state_id = s.conversation_state_id
    ORDER BY q.created_at DESC, q.id DESC, r.version DESC LIMIT 1
  ) AS run
  FROM expression_soul s
  WHERE s.kind = 'var' AND json_valid(s.metadata) AND json_extract(s.metadata, '$.scope') = 'forgotten'
) v;

UPDATE expression_soul SET metadata = json_remove(metadata, '$.scope')
WHERE kind = 'var' AND json_valid(metadata) AND json_extract(metadata, '$.scope') IN ('live', 'forgotten');
