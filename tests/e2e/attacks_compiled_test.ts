import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { final, replyJson } from "../helpers/scripted_provider.ts";
import { ATTACKS, clear, ran } from "../extensions/git/_attacks.ts";
import { missing, repository } from "../extensions/git/_repository.ts";
import { compiledLauncher } from "./_launcher.ts";
import { client, urlOf } from "./helpers/server.ts";
import { launched, together } from "./helpers/together.ts";
import { checkClean, type Ran, User } from "./helpers/user.ts";

const launcher = await compiledLauncher();
const SECRET = "a-secret-of-somebody-else";

function answered({ code, stdout, stderr }: Ran, answer: string): void {
  assert.deepEqual([code, stdout], [0, `${answer}\n`], stderr);
}

function slowReply(code: string): string {
  return JSON.stringify({ code: [{ expr: code, timeMs: 120_000 }] });
}

launched(launcher, "links that change while files are read and written lead nowhere", async () => {
  const flips = "while :; do rm -rf d; ln -s ../outside d; rm -f d; mkdir d; done";
  await using user = await User.make(launcher, {
    reply: [
      slowReply(`
        const job = await shell.start(${JSON.stringify(flips)}, {timeoutMs: 600_000, waitMs: 1});
        let leaks = 0, reads = 0, writes = 0;
        for (let i = 0; i < 400; i++) {
          const text = await fs.readFile("d/secret.txt").catch(() => "");
          if (text.includes("secret")) leaks++;
          reads++;
          writes += await fs.writeFile("d/new.txt", "n" + i).then(() => 1, () => 0);
          leaks += (await fs.grep("secret", {path: "d"}).catch(() => [])).length;
          await fs.remove("d/secret.txt").catch(() => {});
          await fs.move("d/secret.txt", "got.txt").catch(() => {});
        }
        await shell.stop(job.id)`),
      final("{{leaks}} of {{reads}}"),
    ],
  });
  await Deno.mkdir(user.path("outside"));
  await Deno.writeTextFile(user.path("outside/secret.txt"), SECRET);
  answered(await user.run(["run", "x"]), "0 of 400");
  assert.deepEqual([...Deno.readDirSync(user.path("outside"))].map(({ name }) => name), ["secret.txt"]);
  assert.equal(await Deno.readTextFile(user.path("outside/secret.txt")), SECRET);
});

launched(launcher, "web reaches no server of the machine by redirects, names or spellings", async () => {
  let hits = 0;
  const secret = Deno.serve({ hostname: "0.0.0.0", port: 0, onListen: () => {} }, () => {
    hits++;
    return new Response(SECRET);
  });
  const allowed = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    const to = new URL(request.url).searchParams.get("to");
    return to === null ? new Response("fine") : new Response(null, { status: 307, headers: { location: to } });
  });
  const { port } = secret.addr, own = `127.0.0.1:${allowed.addr.port}`;
  const hosts = [
    ...["127.0.0.1", "localhost", "LOCALHOST.", "a.localhost", "[::1]", "2130706433", "0x7f.1", "0177.0.0.1", "127.1"],
    ...[
      "0.0.0.0",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "allowed.invalid@127.0.0.1",
      "127.0.0.1%2f.allowed.invalid",
    ],
  ];
  const urls = hosts.map((host) => `http://${host}:${port}/`);
  await using user = await User.make(launcher, {
    reply: [
      replyJson(`
        const own = "http://${own}/", got = [];
        const urls = ${JSON.stringify(urls)};
        for (const url of [...urls, ...urls.map((to) => own + "?to=" + encodeURIComponent(to)), "file:///etc/passwd"]) {
          for (const call of [() => web.get(url), () => web.readable(url), () => web.post(url, "x")]) {
            const answer = await call().then((r) => JSON.stringify(r), () => "");
            if (answer.includes("secret") || answer.includes("root:")) got.push(url);
          }
        }
        const fine = (await web.get(own)).text`),
      final("{{fine}}, {{got.length}}"),
    ],
  });
  await Deno.mkdir(user.path("vis"));
  await Deno.writeTextFile(
    user.path("vis/config.jsonc"),
    JSON.stringify({ web: { hosts: ["*.invalid"], local: [own] } }),
  );
  answered(await user.run(["run", "x"]), "fine, 0");
  assert.equal(hits, 0);
  await Promise.all([secret.shutdown(), allowed.shutdown()]);
});

const filtered = ATTACKS.filter(({ name }) => /filter/.test(name));
/** Each of these would keep git from reaching the other attacks. */
const alone = ATTACKS.filter(({ name }) => /to be fetched|every protocol|submodule/.test(name));
const others = ATTACKS.filter((attack) => !filtered.includes(attack) && !alone.includes(attack));

/** `deputy_test.ts` tries each attack alone, with and without precautions. The executable differs in its wall, and in
 * the environment that it passes on. */
Deno.test({
  name: `git obeys no repository [compiled]${missing ? ` (skipped: ${missing})` : ""}`,
  ignore: missing !== "" || launcher.missing !== "",
  fn: async (t) => {
    const calls = [
      "git.status({all: true})",
      'git.log({paths: "a.txt"})',
      'git.show("HEAD:a.txt")',
      'git.blame("a.txt")',
      'fs.writeFile("a.txt", "ONE\\ntwo\\nthree\\n")',
      "git.diff()",
      'git.diff({from: "HEAD"})',
      'git.add(["a.txt", ".gitattributes"])',
      "git.diff({staged: true})",
      'git.commit("second", {allowEmpty: true})',
      'git.branch("other", {from: "HEAD~1", switch: true})',
      'git.branch("main", {switch: true})',
      'git.worktree(".worktrees/x", {branch: "x"})',
      'git.merge("x", {noFf: true})',
      'git.revert("HEAD")',
      'git.cherryPick("HEAD~1")',
      'git.rebase("HEAD~1")',
      'fs.writeFile("a.txt", "one\\n")',
      "git.stash({untracked: true})",
      "git.stash({pop: true})",
      'git.restore("a.txt")',
      'git.reset("HEAD~1", {mode: "hard", force: true})',
      'git.tag("v1", {message: "x"})',
    ];
    const block = `let calls = 0; for (const call of [${
      calls.map((call) => `() => ${call}`).join(", ")
    }]) { await call().catch(() => {}); calls++ }`;
    const obeysNone = (attacks: typeof ATTACKS) => async (): Promise<void> => {
      await using user = await User.make(launcher, { reply: [slowReply(block), final("{{calls}}")] });
      await repository(async (there) => {
        for (const { set } of attacks) await set(there);
        await clear(there);
        answered(await user.run(["run", "x", "--cwd", there.workspace]), `${calls.length}`);
        assert.equal(ran(there), false);
      });
    };
    await together(t, {
      "every filter at once": obeysNone(filtered),
      "everything else that it can name at once": obeysNone(others),
      ...Object.fromEntries(alone.map((attack) => [attack.name, obeysNone([attack])])),
    });
  },
});

/** These texts have a meaning for a program that shows, parses or runs them. */
const HOSTILE = "\x1b[2J\x1b]0;owned\x07<script>x</script>{{gone}}\"}]}' OR 1=1; -- __proto__ ../../etc/passwd \u202e";

launched(launcher, "a database whose texts are hostile is told about, shown plainly, and runs nothing", async () => {
  await using user = await User.make(launcher, {
    handler: ({ context, texts }) =>
      texts.join("\n").includes("the first one") && !context.includes("kept")
        ? replyJson(["const kept = {a: [1, 2]}", "const twice = (n) => n * 2"])
        : final("At last"),
  });
  answered(await user.run(["run", "the first one"]), "At last");
  const whole = await Deno.readFile(user.database);
  const changed: string[] = [];
  let shown = "";
  /** Shows all of them at once. It shows them in parts if one is refused, which may have hidden the others. */
  const show = async (columns: readonly Column[]): Promise<void> => {
    await Deno.writeFile(user.database, whole);
    const set = withDatabase(user.database, (db) => changeStored(db, columns));
    if (set.length === 0) return;
    let refused = false;
    for (const args of [["conversations", "list"], ["vars"], ["run", "-c", "y"]]) {
      const ran = await user.run(args);
      checkClean(ran);
      const what = `${set.map(({ name, field }) => `${name}.${field}`)}: ${args.join(" ")}`;
      assert.ok([0, 1, 3].includes(ran.code), `${what} ended with ${ran.code}: ${ran.stderr}`);
      assert.doesNotMatch(ran.stdout + ran.stderr, /\u202e/);
      shown += ran.stdout;
      refused ||= ran.code !== 0;
    }
    if (!refused || set.length === 1) return void changed.push(...set.map(({ field }) => field));
    for (const part of partsOf(set)) await show(part);
  };
  const columns = withDatabase(user.database, columnsOf);
  await show(columns.filter(({ name }) => !VERIFIED.includes(name)));
  for (const column of columns.filter(({ name }) => VERIFIED.includes(name))) await show([column]);
  assert.ok(changed.length > 15, `${changed}`);
  assert.match(shown, /owned/, "what was stored is shown");
});

/** More than the checksum of a row protects these columns, so a change of them is refused. */
const VERIFIED = ["schema_migration", "expression_state"];

interface Column {
  readonly name: string;
  readonly field: string;
}

function columnsOf(db: DatabaseSync): readonly Column[] {
  const rows = db.prepare(
    "SELECT m.name AS name, p.name AS field FROM sqlite_master m, pragma_table_info(m.name) p " +
      "WHERE m.type = 'table' AND m.name NOT LIKE '%fts%' AND m.name NOT LIKE 'sqlite_%' " +
      "AND upper(p.type) = 'TEXT' AND p.pk = 0 AND p.name NOT LIKE '%\\_id' ESCAPE '\\' AND p.name <> 'tenant'",
  ).all();
  return rows.map(({ name, field }) => ({ name: String(name), field: String(field) }));
}

function partsOf(columns: readonly Column[]): readonly (readonly Column[])[] {
  const tables = [...Map.groupBy(columns, ({ name }) => name).values()];
  return tables.length > 1 ? tables : columns.map((column) => [column]);
}

/** Changes stored texts. Returns the columns whose change no constraint refuses. */
function changeStored(db: DatabaseSync, columns: readonly Column[]): readonly Column[] {
  return columns.filter(({ name, field }) => {
    try {
      return db.prepare(`UPDATE "${name}" SET "${field}" = ?`).run(HOSTILE).changes > 0;
    } catch {
      return false;
    }
  });
}

function withDatabase<T>(path: string, work: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(path);
  try {
    return work(db);
  } finally {
    db.close();
  }
}

launched(launcher, "vis acp outlives what no editor sends", async () => {
  await using user = await User.make(launcher);
  const lines = [
    "no JSON",
    "[]",
    "{}",
    "null",
    `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"../../etc/passwd","prompt":[]}}`,
    `{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"relative","mcpServers":[]}}`,
    `{"jsonrpc":"2.0","id":3,"method":"session/new","params":{"cwd":"/proc/self/root/nowhere","mcpServers":[]}}`,
    `{"jsonrpc":"2.0","id":4,"method":"__proto__","params":{"__proto__":{"polluted":true}}}`,
    `{"jsonrpc":"2.0","id":5,"method":"initialize","params":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
    `{"jsonrpc":"2.0","id":6,"method":"initialize","params":{"protocolVersion":"${"x".repeat(4_000_000)}"}}`,
    `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":1}}`,
  ];
  const [program, ...before] = launcher.argv;
  await using child = new Deno.Command(program ?? "", {
    args: [...before, "acp"],
    cwd: user.workspace,
    clearEnv: true,
    env: user.env,
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = child.stdin.getWriter();
  const written = writer.write(new TextEncoder().encode(`${lines.join("\n")}\n`));
  let stdout = "";
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    stdout += text;
    if (/"id":7[^]*\n/.test(stdout)) break;
  }
  await written;
  await writer.close();
  assert.equal((await child.status).code, 0);
  const answers = stdout.trim().split("\n").map((line) => JSON.parse(line));
  const last = answers.find(({ id }) => id === 7);
  assert.equal(last?.result?.agentInfo?.name, "vis");
  for (const id of [1, 2, 3, 4]) {
    assert.ok(answers.find((one) => one.id === id)?.error, `${id}: ${stdout.slice(0, 2_000)}`);
  }
});

launched(launcher, "no token gets answers or quota by the idempotency key of another", async () => {
  await using user = await User.make(launcher, { reply: [final("for ana"), final("for bob"), final("more")] });
  const [ana, bob] = ["a-token-that-ana-holds", "a-token-that-bob-holds"];
  const tokens = [{ name: "ana", token: ana, queriesPerDay: 1 }, { name: "bob", token: bob, queriesPerDay: 1 }];
  await Deno.writeTextFile(user.path("tokens.json"), JSON.stringify({ tokens }), { mode: 0o600 });
  const running = user.start(["serve", "--port", "0", "--tokens", user.path("tokens.json")]);
  const url = await urlOf(running);
  const key = { "idempotency-key": "the-same" };
  const send = async (token: string) => {
    const ask = client(url, token);
    const { conversationId } = await (await ask("/api/v1/conversations", {})).json();
    return await ask(`/api/v1/conversations/${conversationId}/messages`, { request: "x" }, key);
  };
  assert.equal((await (await send(ana)).json()).answer, "for ana");
  assert.equal((await (await send(bob)).json()).answer, "for bob");
  assert.deepEqual([(await send(ana)).status, (await send(bob)).status], [429, 429]);
  assert.equal(user.mock.requests.length, 2);
  running.kill("SIGTERM");
  await running.ended;
});
