-- What orders rows is the order in which they were stored (`rowid`), whatever the clock said. Only the list of
-- conversations needs a number of its own: `activity` rises with each conversation and with each query of a user.

ALTER TABLE conversation_soul ADD COLUMN activity INTEGER NOT NULL DEFAULT 0;

UPDATE conversation_soul SET activity = o.place FROM (
  SELECT a.id, row_number() OVER (ORDER BY a.at, a.newest, a.id) AS place
  FROM (
    SELECT c.id, coalesce(max(q.created_at), c.created_at) AS at, coalesce(max(q.rowid), 0) AS newest
    FROM conversation_soul c
    LEFT JOIN conversation_state s ON s.conversation_soul_id = c.id
      AND s.id NOT IN (SELECT conversation_state_id FROM child_branch)
    LEFT JOIN query_soul q ON q.conversation_state_id = s.id
    GROUP BY c.id
  ) a
) o WHERE o.id = conversation_soul.id;

DROP INDEX idx_conv_soul_created;
CREATE INDEX idx_conv_soul_activity ON conversation_soul (activity);

DROP VIEW conversation_soul_full;
CREATE VIEW conversation_soul_full AS SELECT
  t.id,
  CASE WHEN t.metadata GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.metadata, 8)) ELSE t.metadata END AS metadata,
  t.created_at,
  t.activity
FROM conversation_soul t;

-- The rows of an index are sorted by rowid where its columns are equal.
DROP INDEX idx_query_soul_state;
CREATE INDEX idx_query_soul_state ON query_soul (conversation_state_id);
DROP INDEX idx_sub_call_iteration;
CREATE INDEX idx_sub_call_iteration ON sub_call (iteration_id);

-- Where the number of a process means something: the boot of its kernel and its namespace of processes.
ALTER TABLE lease ADD COLUMN space TEXT NOT NULL DEFAULT '';
-- Which of the sessions of its process has the branch: each has environments of its own.
ALTER TABLE lease ADD COLUMN session INTEGER NOT NULL DEFAULT 0;
