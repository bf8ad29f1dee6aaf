-- Content that deleted conversations used. It is removed if nothing else uses it, by whichever process comes first.
CREATE TABLE erasure (
  hash text COLLATE "C" PRIMARY KEY
);

-- Large texts, and their pieces, that no row refers to yet: one entry for each time that a text is stored.
CREATE TABLE claim (
  put text COLLATE "C" NOT NULL,
  reference text COLLATE "C" NOT NULL,
  claimed_at bigint NOT NULL,
  PRIMARY KEY (put, reference)
);
CREATE INDEX idx_claim_reference ON claim (reference);

-- The rows that can refer to content.
CREATE INDEX idx_query_soul_content ON query_soul (id) WHERE strpos(metadata, 'sha256:') > 0;
CREATE INDEX idx_expression_state_content ON expression_state (id) WHERE strpos(metadata, 'sha256:') > 0;
CREATE INDEX idx_extension_state_content ON extension_state (id) WHERE strpos(value, 'sha256:') > 0;
