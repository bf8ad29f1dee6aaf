-- Nothing reads or writes the checksums and sums of rows any more. Their columns stay for nodes of the version before,
-- which take a version of a variable without a checksum for none.
ALTER TABLE expression_state ALTER checksum SET DEFAULT 0;
