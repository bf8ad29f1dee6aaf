-- Whose conversation it is, and whose global state of an extension: for other tenants it does not exist.
ALTER TABLE conversation_soul ADD COLUMN tenant TEXT NOT NULL DEFAULT 'default';
-- NULL for the state of a branch, which has the tenant of its conversation.
ALTER TABLE extension_state ADD COLUMN tenant TEXT;
UPDATE extension_state SET tenant = 'default' WHERE conversation_state_id IS NULL;

CREATE INDEX idx_conv_soul_tenant ON conversation_soul (tenant);

DROP INDEX uq_extension_state_global;
CREATE UNIQUE INDEX uq_extension_state_global ON extension_state (namespace, tenant, key, version)
WHERE conversation_state_id IS NULL;

DROP VIEW conversation_soul_full;
CREATE VIEW conversation_soul_full AS SELECT
  t.id,
  CASE WHEN t.metadata GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.metadata, 8)) ELSE t.metadata END AS metadata,
  t.created_at,
  t.activity,
  t.tenant
FROM conversation_soul t;

DROP VIEW extension_state_full;
CREATE VIEW extension_state_full AS SELECT
  t.id,
  t.namespace,
  t.conversation_state_id,
  t.query_state_id,
  t.position,
  t.key,
  t.version,
  CASE WHEN t.value GLOB 'sha256:*' THEN (SELECT CAST(f.bytes AS TEXT) FROM content_full f WHERE f.hash = substr(t.value, 8)) ELSE t.value END AS value,
  t.created_at,
  t.tenant
FROM extension_state t;
