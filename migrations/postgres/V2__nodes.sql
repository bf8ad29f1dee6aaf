-- Several nodes on one database: the queue of requests, who runs each of them, and what nodes tell each other.

-- A server that runs queries. It is alive while it reports; the clock is that of the database. `since` is the time from
-- which on it has reported without a break.
CREATE TABLE node (
  id text COLLATE "C" PRIMARY KEY,
  heartbeat_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  since timestamptz NOT NULL DEFAULT clock_timestamp(),
  draining boolean NOT NULL DEFAULT false
);

-- A request that was accepted and has no answer yet. `query_id` is the id that its query has or will have; `node_id` is
-- the node that runs it, NULL while it waits; `epoch` grows each time a node takes it.
CREATE TABLE job (
  query_id text COLLATE "C" PRIMARY KEY,
  conversation_state_id text COLLATE "C" NOT NULL REFERENCES conversation_state (id) ON DELETE CASCADE DEFERRABLE,
  number bigint GENERATED ALWAYS AS IDENTITY,
  request bytea NOT NULL,
  request_key text COLLATE "C",
  fingerprint text,
  node_id text COLLATE "C",
  epoch bigint NOT NULL DEFAULT 0,
  -- How often a node that ran it was lost.
  losses bigint NOT NULL DEFAULT 0,
  accepted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ready_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  begun_at timestamptz,
  -- The questions that wait for the user, as JSON; since when; and for how long others waited before.
  questions text NOT NULL DEFAULT '[]',
  asked_at timestamptz,
  held_ms double precision NOT NULL DEFAULT 0
);
CREATE INDEX idx_job_order ON job (conversation_state_id, number);
CREATE INDEX idx_job_node ON job (node_id);
-- No two requests of a branch run at once, whatever the nodes do.
CREATE UNIQUE INDEX uq_job_running ON job (conversation_state_id) WHERE node_id IS NOT NULL;
CREATE UNIQUE INDEX uq_job_key ON job (conversation_state_id, request_key) WHERE request_key IS NOT NULL;

-- The node that ran a branch last and may still have its sandbox.
CREATE UNLOGGED TABLE warm (
  conversation_state_id text COLLATE "C" PRIMARY KEY,
  node_id text COLLATE "C" NOT NULL,
  used_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The newest events of queries, for those who follow them on other nodes. Older ones are rebuilt from rows.
CREATE UNLOGGED TABLE event (
  query_id text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (query_id, number)
);
CREATE INDEX idx_event_created ON event (created_at);

-- Messages to the node that runs a query.
CREATE TABLE command (
  id text COLLATE "C" PRIMARY KEY,
  query_id text COLLATE "C" NOT NULL,
  number bigint GENERATED ALWAYS AS IDENTITY,
  kind text NOT NULL CHECK (kind IN ('steer', 'cancel', 'answer')),
  body text NOT NULL,
  -- False if it came too late; NULL while it waits.
  done boolean,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX idx_command_query ON command (query_id);

-- The job goes in the transaction that ends its query, whoever ends it; the next request of the branch can begin.
CREATE FUNCTION end_job() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE ended job;
BEGIN
  DELETE FROM job WHERE query_id = new.id RETURNING * INTO ended;
  IF FOUND THEN
    IF ended.node_id IS NOT NULL THEN
      INSERT INTO warm (conversation_state_id, node_id) VALUES (ended.conversation_state_id, ended.node_id)
      ON CONFLICT (conversation_state_id) DO UPDATE SET node_id = excluded.node_id, used_at = clock_timestamp();
    END IF;
    PERFORM pg_notify('vis_job', '');
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER ended AFTER UPDATE OF status ON query_state FOR EACH ROW
WHEN (old.status = 'running' AND new.status <> 'running') EXECUTE FUNCTION end_job();
