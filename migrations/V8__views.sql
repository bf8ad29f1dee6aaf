-- The same views without an ordered aggregate, which SQLite knows from 3.44 on: older tools can read the database too.
DROP VIEW content_full;
DROP VIEW content_whole;

CREATE VIEW content_whole AS SELECT
  c.hash,
  CASE c.encoding WHEN 'raw' THEN c.bytes WHEN 'chunks' THEN (
    SELECT CAST(group_concat(p.bytes, '') OVER (
      ORDER BY j.key ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING
    ) AS BLOB)
    FROM json_each(CAST(c.bytes AS TEXT)) j JOIN content p ON p.hash = j.value LIMIT 1
  ) END AS bytes
FROM content c;

CREATE VIEW content_full AS SELECT
  c.hash,
  CASE c.encoding WHEN 'delta' THEN (
    SELECT CAST(group_concat(
      substr(w.bytes, 1 + json_extract(s.value, '$[0]'), json_extract(s.value, '$[1]')) ||
      substr(c.bytes, 1 + (
        SELECT coalesce(sum(json_extract(b.value, '$[2]')), 0) FROM json_each(c.steps) b WHERE b.key < s.key
      ), json_extract(s.value, '$[2]')),
      '') OVER (ORDER BY s.key ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS BLOB)
    FROM json_each(c.steps) s JOIN content_whole w ON w.hash = c.base LIMIT 1
  ) ELSE (SELECT w.bytes FROM content_whole w WHERE w.hash = c.hash) END AS bytes
FROM content c;
