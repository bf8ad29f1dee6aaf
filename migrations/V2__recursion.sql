-- Queries inside queries. A child query has a branch of its own below the conversation, made for one iteration of its
-- parent; a plain model call of a block has a row of its own.

CREATE TABLE child_branch (
  conversation_state_id TEXT PRIMARY KEY NOT NULL REFERENCES conversation_state (id) ON DELETE CASCADE,
  iteration_id TEXT NOT NULL REFERENCES iteration (id) ON DELETE CASCADE,
  depth INTEGER NOT NULL CHECK (depth >= 1),
  created_at INTEGER NOT NULL
);
CREATE INDEX idx_child_branch_iteration ON child_branch (iteration_id);

-- prompt and reply refer to `content` where they are long.
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
CREATE INDEX idx_sub_call_iteration ON sub_call (iteration_id, created_at);
