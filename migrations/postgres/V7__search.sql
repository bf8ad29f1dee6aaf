-- Texts with words of scripts that are written without spaces, or next to them.
CREATE FUNCTION has_unspaced(words tsvector) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN words::text COLLATE "C" ~ '[\u0E00-\U0003FFFF]';
END
$$;
CREATE INDEX idx_search_unspaced ON search (tenant) WHERE has_unspaced(words);
