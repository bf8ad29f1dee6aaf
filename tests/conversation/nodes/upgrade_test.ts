/** Runs nodes of two versions on one database. The older nodes continue after the newer one has changed the schema. */
import assert from "node:assert/strict";
import { migrations } from "../../../migrations/postgres/mod.ts";
import { StoreError } from "../../../src/domain/errors.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import { type Postgres, postgresTests } from "../../helpers/postgres.ts";
import { replyJson, type ScriptedRequest } from "../../helpers/scripted_provider.ts";
import { startNode, type TestNode } from "./_nodes.ts";

const test = await postgresTests();

/** A migration may add columns, a table, an index and a trigger. */
const NEXT = {
  version: migrations.length + 1,
  name: "next.sql",
  sql: `
DO $$
DECLARE name text;
BEGIN
  FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_migration' LOOP
    EXECUTE format('ALTER TABLE %I ADD COLUMN next text NOT NULL DEFAULT ''next''', name);
  END LOOP;
END $$;
CREATE TABLE next_begun (query_id text PRIMARY KEY);
CREATE INDEX idx_job_next ON job (next);
CREATE FUNCTION next_begun() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO next_begun VALUES (new.id);
  RETURN NULL;
END $$;
CREATE TRIGGER next_begun AFTER INSERT ON query_state FOR EACH ROW EXECUTE FUNCTION next_begun();`,
};

async function inNextVersion<T>(work: () => Promise<T>): Promise<T> {
  const known = migrations as unknown as (typeof NEXT)[];
  known.push(NEXT);
  try {
    return await work();
  } finally {
    known.pop();
  }
}

/** The model of all nodes. A request "add x" appends x to a list and then answers with it. */
class Model {
  #held: { readonly asked: () => void; readonly go: Promise<void> } | null = null;

  readonly reply = ({ texts, context }: ScriptedRequest) => {
    const [, word = ""] = /\badd (\w+)/.exec(texts[1] ?? "") ?? [];
    if (/^\[iter 1\//.test(context)) {
      return replyJson(`var list = [...(typeof list === "undefined" ? [] : list), "${word}"]`);
    }
    const text = replyJson('var said = list.join("+")', { final: "{{said}}" });
    const held = this.#held;
    this.#held = null;
    held?.asked();
    return held ? { text, after: held.go } : text;
  };

  /** Holds the next second call until it is released. `asked` resolves once it was made. */
  hold() {
    const [asked, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    this.#held = { asked: asked.resolve, go: go.promise };
    return { asked: asked.promise, letGo: go.resolve };
  }
}

interface Rig {
  readonly server: Postgres;
  readonly url: string;
  readonly model: Model;
  start(name: string): Promise<TestNode>;
  only(node: TestNode): Promise<void>;
}

async function rigOf(server: Postgres): Promise<Rig> {
  const [url, model] = [await server.createDatabase(), new Model()];
  return {
    ...{ server, url, model },
    start: (name) => startNode(server, { url, name, replies: [], scripted: { otherwise: model.reply } }),
    only: async ({ name }) => void await server.sql(`UPDATE node SET draining = id <> '${name}'`, url),
  };
}

const quiet = { signal: new AbortController().signal, emit: () => {} };
const ask = ({ engine: { conversations, branch } }: TestNode, request: string) =>
  conversations.ask(branch, request, quiet);

/** One node takes a request and another one continues it, while a third one waits for its answer. */
async function takenOver(
  { model, only }: Rig,
  { from, to, request, asker }: {
    readonly from: TestNode;
    readonly to: TestNode;
    readonly request: string;
    readonly asker: TestNode;
  },
): Promise<string> {
  await only(from);
  const { asked } = model.hold();
  const result = ask(asker, request);
  await asked;
  await only(to);
  await from.die();
  return (await result).answer;
}

async function useRecords({ engine: { conversations, branch, store } }: TestNode): Promise<void> {
  const [first] = await conversations.queries(branch);
  const fork = await conversations.fork({ queryId: first?.queryId ?? "", position: null });
  assert.equal((await conversations.ask(fork, "add fork", quiet)).answer, "a+fork");
  assert.equal((await conversations.list({ limit: 9 })).length, 1);
  assert.ok((await conversations.stored.search("add", { limit: 9 })).length > 0);
  assert.equal((await conversations.recording(fork)).queries.length, 2);
  assert.equal((await store.variableVersions(branch.branchId, "list", { newest: 9 })).length, 3);
  const other = await conversations.create({ title: "other", channel: "test", workspace: "/other" });
  await conversations.ask(other, "add x", quiet);
  await conversations.delete(other);
}

// A dead process leaves its pool of connections.
test("nodes of two versions share a database until the older ones are replaced", async (server) => {
  const rig = await rigOf(server);
  const { start, only, model, url } = rig;
  await using first = await start("first");
  // Old nodes prepare their statements before the schema changes.
  assert.equal((await ask(first, "add a")).answer, "a");
  await using second = await start("second");
  await only(second);
  assert.equal((await ask(second, "add b")).answer, "a+b");
  const { asked, letGo } = model.hold();
  const during = ask(first, "add c");
  await asked;
  await using next = await inNextVersion(() => start("next"));
  const version = await server.sql("SELECT max(version) FROM schema_migration", url);
  assert.equal(version, String(NEXT.version));

  letGo();
  assert.equal((await during).answer, "a+b+c", "the old node ends what it runs");
  await only(second);
  await useRecords(second);
  assert.equal((await ask(first, "add d")).answer, "a+b+c+d", "old nodes accept and run more");
  const [old, newer] = [{ from: second, to: next, asker: first }, { from: next, to: first, asker: first }];
  assert.equal(await takenOver(rig, { ...old, request: "add e" }), "a+b+c+d+e", "a new node continues");
  assert.equal(await takenOver(rig, { ...newer, request: "add f" }), "a+b+c+d+e+f", "an old node continues");
  assert.equal(
    await server.sql("SELECT count(*) FROM next_begun n JOIN query_state s ON s.id = n.query_id", url),
    "4",
  );

  await assert.rejects(openStore({ path: url }), (error) => {
    assert.ok(error instanceof StoreError && error.code === "newer");
    const [wrote, knows] = [NEXT.version, migrations.length];
    assert.match(
      error.message,
      new RegExp(`newer Vis wrote it \\(schema V${wrote}, this Vis knows V${knows}\\); update`),
    );
    return true;
  });
}, { sanitizeOps: false, sanitizeResources: false });
