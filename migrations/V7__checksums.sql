-- What a reader compares, so that a changed bit is an error and never another value
-- (docs/decisions/0023-verified-reads.md). `checksum` is that of the other cells of its row, but for the counts and sums
-- that triggers keep; a sum is that of the checksums of the rows that it counts.

ALTER TABLE conversation_soul ADD COLUMN checksum INTEGER;
ALTER TABLE conversation_soul ADD COLUMN branches INTEGER NOT NULL DEFAULT 0;

ALTER TABLE conversation_state ADD COLUMN checksum INTEGER;
-- How many queries it has of its own.
ALTER TABLE conversation_state ADD COLUMN queries INTEGER NOT NULL DEFAULT 0;
-- Of the newest version of each variable that it shows, forgotten ones counted once more; NULL where it is not known.
ALTER TABLE conversation_state ADD COLUMN variables INTEGER;
ALTER TABLE conversation_state ADD COLUMN edges INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversation_state ADD COLUMN scopes INTEGER NOT NULL DEFAULT 0;

ALTER TABLE query_soul ADD COLUMN checksum INTEGER;
-- Its place among the queries of its branch, from 0; its runs; `variables` of the branch before it.
ALTER TABLE query_soul ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
ALTER TABLE query_soul ADD COLUMN runs INTEGER NOT NULL DEFAULT 1;
ALTER TABLE query_soul ADD COLUMN variables INTEGER;

ALTER TABLE query_state ADD COLUMN checksum INTEGER;
-- The sum of the places of its iterations, from 1.
ALTER TABLE query_state ADD COLUMN iterations INTEGER NOT NULL DEFAULT 0;

ALTER TABLE iteration ADD COLUMN checksum INTEGER;
-- `variables` of the branch after it; NULL while it runs, and where it is not known.
ALTER TABLE iteration ADD COLUMN variables INTEGER;
-- Sums of its rows in expression_state, child_branch and sub_call.
ALTER TABLE iteration ADD COLUMN states INTEGER NOT NULL DEFAULT 0;
ALTER TABLE iteration ADD COLUMN children INTEGER NOT NULL DEFAULT 0;
ALTER TABLE iteration ADD COLUMN calls INTEGER NOT NULL DEFAULT 0;

ALTER TABLE expression_soul ADD COLUMN checksum INTEGER;
ALTER TABLE expression_state ADD COLUMN checksum INTEGER;
-- Of a variable: the checksum of the version that was shown before, 0 for none; NULL where it is not known.
ALTER TABLE expression_state ADD COLUMN replaces INTEGER;
ALTER TABLE expression_dependency ADD COLUMN checksum INTEGER;
ALTER TABLE scope_change ADD COLUMN checksum INTEGER;
ALTER TABLE extension_state ADD COLUMN checksum INTEGER;
ALTER TABLE request_key ADD COLUMN checksum INTEGER;
ALTER TABLE child_branch ADD COLUMN checksum INTEGER;
ALTER TABLE sub_call ADD COLUMN checksum INTEGER;

-- What has no row above it; one row.
-- `activity`: the sum of theirs, by which they are ordered.
CREATE TABLE tally (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  conversations INTEGER NOT NULL,
  activity INTEGER NOT NULL
);

-- The states of one extension in one branch; '' for those of all.
CREATE TABLE extension_tally (
  namespace TEXT NOT NULL,
  branch TEXT NOT NULL,
  states INTEGER NOT NULL,
  sum INTEGER NOT NULL,
  PRIMARY KEY (namespace, branch)
);

UPDATE conversation_soul SET branches = (
  SELECT count(*) FROM conversation_state b WHERE b.conversation_soul_id = conversation_soul.id
);
UPDATE conversation_state SET queries = (
  SELECT count(*) FROM query_soul q WHERE q.conversation_state_id = conversation_state.id
);
INSERT INTO tally (id, conversations, activity) SELECT 1, count(*), coalesce(sum(activity), 0) FROM conversation_soul;
UPDATE query_soul SET number = n.number, runs = (
  SELECT coalesce(max(r.version) + 1, 0) FROM query_state r WHERE r.query_soul_id = query_soul.id
) FROM (
  SELECT q.id, row_number() OVER (PARTITION BY q.conversation_state_id ORDER BY q.rowid) - 1 AS number FROM query_soul q
) n WHERE n.id = query_soul.id;
UPDATE query_state SET iterations = (
  SELECT coalesce(sum(i.position + 1), 0) FROM iteration i WHERE i.query_state_id = query_state.id
);

CREATE UNIQUE INDEX uq_query_soul_number ON query_soul (conversation_state_id, number);

CREATE TRIGGER tally_conversation_insert AFTER INSERT ON conversation_soul
BEGIN
  UPDATE tally SET conversations = conversations + 1, activity = activity + new.activity;
END;

CREATE TRIGGER tally_conversation_update AFTER UPDATE OF activity ON conversation_soul
BEGIN
  UPDATE tally SET activity = activity + new.activity - old.activity;
END;

CREATE TRIGGER tally_conversation_delete AFTER DELETE ON conversation_soul
BEGIN
  UPDATE tally SET conversations = conversations - 1, activity = activity - old.activity;
END;

CREATE TRIGGER tally_branch AFTER INSERT ON conversation_state
BEGIN
  UPDATE conversation_soul SET branches = branches + 1 WHERE id = new.conversation_soul_id;
END;

CREATE TRIGGER tally_iteration AFTER INSERT ON iteration
BEGIN
  UPDATE query_state SET iterations = iterations + new.position + 1 WHERE id = new.query_state_id;
END;

CREATE TRIGGER tally_expression_state AFTER INSERT ON expression_state
BEGIN
  UPDATE iteration SET states = states + coalesce(new.checksum, 0) WHERE id = new.iteration_id;
END;

CREATE TRIGGER tally_child_branch AFTER INSERT ON child_branch
BEGIN
  UPDATE iteration SET children = children + coalesce(new.checksum, 0) WHERE id = new.iteration_id;
END;

CREATE TRIGGER tally_sub_call AFTER INSERT ON sub_call
BEGIN
  UPDATE iteration SET calls = calls + coalesce(new.checksum, 0) WHERE id = new.iteration_id;
END;

CREATE TRIGGER tally_dependency AFTER INSERT ON expression_dependency
BEGIN
  UPDATE conversation_state SET edges = edges + coalesce(new.checksum, 0) WHERE id = new.conversation_state_id;
END;

CREATE TRIGGER tally_scope_change AFTER INSERT ON scope_change
BEGIN
  UPDATE conversation_state SET scopes = scopes + coalesce(new.checksum, 0)
  WHERE id = (SELECT conversation_state_id FROM expression_soul WHERE id = new.expression_soul_id);
END;

CREATE TRIGGER tally_extension_state_insert AFTER INSERT ON extension_state
BEGIN
  INSERT INTO extension_tally (namespace, branch, states, sum)
  VALUES (new.namespace, coalesce(new.conversation_state_id, ''), 1, coalesce(new.checksum, 0))
  ON CONFLICT DO UPDATE SET states = states + 1, sum = sum + excluded.sum;
END;

CREATE TRIGGER tally_extension_state_delete AFTER DELETE ON extension_state
BEGIN
  UPDATE extension_tally SET states = states - 1, sum = sum - coalesce(old.checksum, 0)
  WHERE namespace = old.namespace AND branch = coalesce(old.conversation_state_id, '');
  DELETE FROM extension_tally
  WHERE namespace = old.namespace AND branch = coalesce(old.conversation_state_id, '') AND states = 0;
END;
