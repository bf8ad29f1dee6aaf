import assert from "node:assert/strict";
import { ApprovalFolder } from "../../src/app/session/approval_folder.ts";
import { AnswerSchema } from "../../src/prompt/answer_schema.ts";
import { noPostgres, startPostgres } from "../helpers/postgres.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { Commands, commandsLauncher } from "./helpers/commands.ts";
import { User } from "./helpers/user.ts";

interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
  readonly anyOf?: readonly Node[];
  readonly additionalProperties?: unknown;
}

const PUBLISHED = new URL("../../docs/generated/outputs.schema.json", import.meta.url);

/** Returns the names of fields that the schema does not describe, with their place. */
function untold(value: unknown, node: Node): string[] {
  const { anyOf, items, properties, additionalProperties: others } = node;
  if (anyOf) return anyOf.map((one) => untold(value, one)).reduce((a, b) => a.length <= b.length ? a : b);
  if (Array.isArray(value)) return items ? value.flatMap((one) => untold(one, items)) : [];
  if (!properties || typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, one]) => {
    const child = properties[key];
    if (child) return untold(one, child).map((below) => `${key}.${below}`);
    return others === undefined || others === false ? [key] : [];
  });
}

const without = noPostgres && ` (without db copy: ${noPostgres})`;

/** Tests all JSON that commands print. The commands run in one process, because the way of building and starting the
 * program does not change the JSON. */
Deno.test(`the JSON of commands matches docs/generated/outputs.schema.json${without}`, async () => {
  const schemas: Readonly<Record<string, Node>> = JSON.parse(await Deno.readTextFile(PUBLISHED)).$defs;
  const met = new Set<string>();
  const check = (name: string, value: unknown): void => {
    const schema = schemas[name] ?? assert.fail(`${name} has no schema`);
    const judged = new AnswerSchema(schema).judge({ value });
    assert.ok(judged.ok, `${name}: ${judged.ok ? "" : judged.reason}`);
    assert.deepEqual(untold(value, schema), [], name);
    met.add(name);
  };
  const reply = [
    replyJson(["// Rows of it\nconst rows = [1, 2]", "nowhere", "await fs.writeFile('new.txt', 'x')"]),
    replyJson([], { final: "It is {{rows}}" }),
    replyJson("rows.push(3)"),
    replyJson([], { final: "more" }),
  ];
  await using user = await User.make(await commandsLauncher(), { reply });
  await using commands = await Commands.of(user);
  const run = async (line: string, more: readonly string[] = []) => await commands.run([...line.split(" "), ...more]);
  const told = async (name: string, line: string, more: readonly string[] = []): Promise<unknown> => {
    const { stdout, stderr } = await run(line, more);
    assert.notEqual(stdout, "", `${line}: ${stderr}`);
    const value: unknown = JSON.parse(stdout);
    check(name, value);
    return value;
  };
  await told("run", "run --trace --json", ["what?"]);
  for (const line of (await run("run -c --output jsonl", ["more?"])).stdout.trimEnd().split("\n")) {
    check("run jsonl", JSON.parse(line));
  }
  const { branch: { conversationId: id } } = await user.queries();
  for (const more of [[], ["rows"], ["--history", "rows"], ["--diff", "rows"]]) {
    await told("vars", "vars --json", more);
  }
  await told("conversations list", "conversations --json");
  await told("conversations show", `conversations show ${id} --output json`);
  await told("conversations retry", `conversations retry ${id} --json`);
  for (const line of (await run(`conversations retry ${id} --output jsonl`)).stdout.trimEnd().split("\n")) {
    check("conversations retry jsonl", JSON.parse(line));
  }
  await told("conversations fork", `conversations fork ${id} --json`);
  await told("replay", `replay ${id} --json`);
  await told("prompt", "prompt --json", ["what would it be?"]);
  await told("search", "search --json what");
  const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
  for (const args of [["init", "-q", "-b", "main"], [...who, "commit", "-q", "--allow-empty", "-m", "first"]]) {
    const { success } = await new Deno.Command("git", { args, cwd: user.workspace }).output();
    assert.ok(success, args.join(" "));
  }
  await told("review", "review --json main");
  for (const line of (await run("review --output jsonl")).stdout.trimEnd().split("\n")) {
    check("review jsonl", JSON.parse(line));
  }
  for (const line of (await run("logs --level trace --json")).stdout.trimEnd().split("\n")) {
    check("logs jsonl", JSON.parse(line));
  }
  await told("undo", "undo --list --json");
  const archive = user.path("all.json");
  await run(`conversations export ${id} --format json -o`, [archive]);
  await told("conversations import", "conversations import --json", [archive]);
  for (const name of ["check", "stats", "vacuum"]) await told(`db ${name}`, `db ${name} --json`);
  await told("db prune", "db prune --json --older-than 1h");
  const backup = user.path("copy.db");
  await told("db backup", "db backup --json", [backup]);
  await told("db restore", "db restore --json", [backup]);
  if (without === "") {
    const postgres = await startPostgres(); // The server ends with the file of tests.
    await told("db copy", "db copy --json", [backup, await postgres.createDatabase()]);
  }
  for (const name of ["providers", "models", "auth status", "version"]) await told(name, `${name} --json`);
  for (const action of ["set", "unset", "get", "explain"]) {
    await told(`config ${action}`, `config ${action} --json budget.tokens`, action === "set" ? ["900000"] : []);
  }
  await told("config set", "config set --json model mock-1");
  for (const action of ["list --all", "path", "trust"]) {
    await told(`config ${action.split(" ")[0]}`, `config ${action} --json`);
  }
  await told("config schema", "config schema");
  await user.write("plain.txt", "");
  for (
    const line of ["list", "show fs", "new mine", "check mine", "test mine", "add mine", "remove my.mine", "trust"]
  ) {
    await told(`extensions ${line.split(" ")[0]}`, `extensions ${line} --json`);
  }
  await told("mcp add", "mcp add --json --no-check files files-server -- --root x");
  await told("mcp list", "mcp list --json");
  await told("mcp remove", "mcp remove --json files");
  const { workspace } = user;
  const rule = { tenant: "default", workspace, conversationId: null, extension: "vis.shell", scope: "network" };
  await new ApprovalFolder(user.path("vis")).add(rule);
  await told("approvals list", "approvals list --json");
  await told("approvals remove", "approvals remove --all --json");
  // Other tests check the walls. This launcher starts no child, which ends their checks at once.
  await told("config set", "config set --json sandbox.launcher", ['["/bin/false"]']);
  await told("doctor", "doctor --json");
  await told("update", "update --check --json");
  await told("error", "run --json --nope");
  const printed = Object.keys(schemas).filter((name) => without === "" || name !== "db copy");
  assert.deepEqual([...met].sort(), printed.sort());
});
