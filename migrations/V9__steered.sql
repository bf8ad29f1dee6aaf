-- What a user sent while a query ran is a part of its metadata, and is searched like requests.

CREATE TRIGGER search_steered_insert AFTER INSERT ON query_state WHEN new.metadata IS NOT NULL
BEGIN
  INSERT INTO search_entry (owner_table, owner_id, field)
  SELECT 'query_state', id, 'steered' FROM query_state_full
  WHERE id = new.id AND json_extract(metadata, '$.steered[0].text') <> '';
  INSERT INTO search (rowid, owner_table, owner_id, field, text)
  SELECT e.id, e.owner_table, e.owner_id, e.field, (
    SELECT group_concat(json_extract(m.value, '$.text'), char(10))
    FROM json_each(f.metadata, '$.steered') m
  )
  FROM search_entry e JOIN query_state_full f ON f.id = e.owner_id
  WHERE e.owner_id = new.id AND e.owner_table = 'query_state' AND e.field = 'steered';
END;

CREATE TRIGGER search_steered_update AFTER UPDATE OF id, metadata ON query_state
WHEN new.metadata IS NOT old.metadata OR new.id <> old.id
BEGIN
  DELETE FROM search_entry WHERE owner_id = old.id AND owner_table = 'query_state' AND field = 'steered';
  INSERT INTO search_entry (owner_table, owner_id, field)
  SELECT 'query_state', id, 'steered' FROM query_state_full
  WHERE id = new.id AND json_extract(metadata, '$.steered[0].text') <> '';
  INSERT INTO search (rowid, owner_table, owner_id, field, text)
  SELECT e.id, e.owner_table, e.owner_id, e.field, (
    SELECT group_concat(json_extract(m.value, '$.text'), char(10))
    FROM json_each(f.metadata, '$.steered') m
  )
  FROM search_entry e JOIN query_state_full f ON f.id = e.owner_id
  WHERE e.owner_id = new.id AND e.owner_table = 'query_state' AND e.field = 'steered';
END;

CREATE TRIGGER search_steered_delete AFTER DELETE ON query_state
BEGIN
  DELETE FROM search_entry WHERE owner_id = old.id AND owner_table = 'query_state' AND field = 'steered';
END;
