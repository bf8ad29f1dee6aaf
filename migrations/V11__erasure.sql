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
