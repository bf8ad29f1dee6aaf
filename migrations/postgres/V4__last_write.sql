-- The last transaction of each process, which it looks for if the connection is lost while that is being committed.
CREATE TABLE last_write (
  writer text COLLATE "C" PRIMARY KEY,
  mark text COLLATE "C" NOT NULL,
  written_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
