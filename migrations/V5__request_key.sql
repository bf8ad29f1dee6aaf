-- Keys with which clients make a request once: what the request began, kept for a day. `fingerprint` is the hash of the
-- request's body, so that a key that comes with another one is refused.

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
