-- Each row belongs to a tenant. A session sees the rows of the tenant that `vis.tenant` names, of all tenants with '*',
-- and none if it is not set. `content` is read by hashes that only these rows name, and `search` has words, which lead to
-- these rows.

-- What is stored with '*' has the tenant of the row that it belongs to.
CREATE FUNCTION take_tenant() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  cells jsonb := to_jsonb(new);
BEGIN
  EXECUTE format('SELECT tenant FROM %I WHERE id = $1', coalesce(cells ->> 'owner_table', TG_ARGV[0]))
  INTO new.tenant USING cells ->> TG_ARGV[1];
  RETURN new;
END
$$;

DO $$
DECLARE
  names text[];
BEGIN
  -- A table, and the table and column by which its rows belong to others.
  FOREACH names SLICE 1 IN ARRAY ARRAY[
    ['conversation_soul', '', ''],
    ['conversation_state', 'conversation_soul', 'conversation_soul_id'],
    ['lease', 'conversation_state', 'conversation_state_id'],
    ['query_soul', 'conversation_state', 'conversation_state_id'],
    ['query_state', 'query_soul', 'query_soul_id'],
    ['iteration', 'query_state', 'query_state_id'],
    ['expression_soul', 'conversation_state', 'conversation_state_id'],
    ['expression_dependency', 'conversation_state', 'conversation_state_id'],
    ['expression_state', 'iteration', 'iteration_id'],
    ['child_branch', 'conversation_state', 'conversation_state_id'],
    ['sub_call', 'iteration', 'iteration_id'],
    ['scope_change', 'expression_soul', 'expression_soul_id'],
    ['extension_state', 'conversation_state', 'conversation_state_id'],
    ['request_key', 'conversation_state', 'conversation_state_id'],
    ['job', 'conversation_state', 'conversation_state_id'],
    ['warm', 'conversation_state', 'conversation_state_id'],
    ['search', '', 'owner_id']
  ] LOOP
    EXECUTE format(
      'ALTER TABLE %I ADD tenant text COLLATE "C" NOT NULL DEFAULT ''default'' CHECK (tenant <> ''*'')', names[1]
    );
    EXECUTE format('ALTER TABLE %I ALTER tenant SET DEFAULT current_setting(''vis.tenant'')', names[1]);
    IF names[3] <> '' THEN
      EXECUTE format(
        'CREATE TRIGGER take_tenant BEFORE INSERT ON %I FOR EACH ROW WHEN (new.tenant = ''*'')
          EXECUTE FUNCTION take_tenant(%L, %L)', names[1], names[2], names[3]
      );
    END IF;
    -- A policy would keep `search` from being read by its words: their operator may leak what it compares.
    CONTINUE WHEN names[1] = 'search';
    EXECUTE format(
      'CREATE POLICY tenant ON %I USING (
        tenant = current_setting(''vis.tenant'', true) OR current_setting(''vis.tenant'', true) = ''*''
      )', names[1]
    );
    -- References alone would lead to rows of others too.
    IF names[2] <> '' THEN
      EXECUTE format(
        'CREATE POLICY within ON %1$I AS RESTRICTIVE FOR INSERT WITH CHECK (
          %3$I IS NULL OR EXISTS (SELECT FROM %2$I belongs WHERE belongs.id = %1$I.%3$I)
        )', names[1], names[2], names[3]
      );
    END IF;
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', names[1]);
  END LOOP;
END
$$;

-- What nodes tell each other is not read for a tenant.
CREATE POLICY tenant ON event USING (current_setting('vis.tenant', true) = '*');
ALTER TABLE event ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON command USING (current_setting('vis.tenant', true) = '*');
ALTER TABLE command ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

-- An entry about no conversation belongs to the operator.
CREATE POLICY tenant ON log USING (
  current_setting('vis.tenant', true) = '*' OR EXISTS (SELECT FROM conversation_soul WHERE id = conversation_soul_id)
);
ALTER TABLE log ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE INDEX idx_conv_soul_tenant ON conversation_soul (tenant, activity);
DROP INDEX uq_extension_state_global;
CREATE UNIQUE INDEX uq_extension_state_global ON extension_state (namespace, tenant, key, version)
WHERE conversation_state_id IS NULL;

-- An index of an expression could not be used behind a policy.
DROP INDEX idx_conv_soul_chat;
ALTER TABLE conversation_soul ADD external_id text COLLATE "C"
  GENERATED ALWAYS AS (json_of(metadata) ->> 'externalId') STORED;
CREATE INDEX idx_conv_soul_chat ON conversation_soul (external_id) WHERE external_id IS NOT NULL;
