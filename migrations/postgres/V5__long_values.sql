-- Values that are too long for one statement, in pieces. A value is stored once; `expression_state.result` then has the
-- byte ff and 'sha256:' with its hash, and the value goes with the last row that has it.
CREATE TABLE long_value (
  hash text COLLATE "C" PRIMARY KEY
);
CREATE TABLE long_value_piece (
  hash text COLLATE "C" NOT NULL REFERENCES long_value (hash) ON DELETE CASCADE,
  position bigint NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (hash, position)
);
CREATE INDEX idx_expression_state_long ON expression_state (result)
WHERE octet_length(result) = 72 AND substring(result FROM 1 FOR 1) = '\xff';

CREATE FUNCTION drop_long_value() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  name text := convert_from(substring(old.result FROM 9), 'UTF8');
  tenant text := current_setting('vis.tenant');
BEGIN
  -- A row of any tenant keeps it.
  PERFORM set_config('vis.tenant', '*', true);
  -- Whoever stores it again meanwhile has it locked; the next statement sees the row of that transaction.
  PERFORM FROM long_value WHERE hash = name FOR UPDATE;
  DELETE FROM long_value WHERE hash = name AND NOT EXISTS (
    SELECT FROM expression_state
    WHERE result = old.result AND octet_length(result) = 72 AND substring(result FROM 1 FOR 1) = '\xff'
  );
  PERFORM set_config('vis.tenant', tenant, true);
  RETURN NULL;
END
$$;
CREATE TRIGGER drop_long_value AFTER DELETE ON expression_state FOR EACH ROW
WHEN (octet_length(old.result) = 72 AND substring(old.result FROM 1 FOR 1) = '\xff') EXECUTE FUNCTION drop_long_value();

-- The number of ended iterations of a query when a node that ran it was lost. Losses without an iteration in between are
-- those of one step.
ALTER TABLE job ADD COLUMN lost_after bigint NOT NULL DEFAULT 0;
