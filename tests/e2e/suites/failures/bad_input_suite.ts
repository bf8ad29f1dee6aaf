import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { replyJson } from "../../../helpers/scripted_provider.ts";
import type { MockOptions } from "../../../helpers/wires/openai_mock.ts";
import type { Launcher } from "../../_launcher.ts";
import { launched, together } from "../../helpers/together.ts";
import { KEY, type Ran, User } from "../../helpers/user.ts";

const NO_PROVIDER: Readonly<Record<string, string>> = { VIS_BASE_URL: "", VIS_API_KEY: "", VIS_MODEL: "" };

/** Nothing on stdout, and on stderr one message that starts with "vis: ". */
function refused(ran: Ran, { code, says }: { readonly code: number; readonly says: RegExp }): void {
  assert.deepEqual([ran.code, ran.stdout], [code, ""], ran.stderr);
  assert.match(ran.stderr, says);
  assert.equal(ran.stderr.match(/^vis: /gm)?.length, 1, ran.stderr);
}

/** Everything that is wrong before a model is asked. */
export function badInputSuite(launcher: Launcher): void {
  const withUser = (work: (user: User) => Promise<void>, model?: MockOptions) => async (): Promise<void> => {
    await using user = await User.make(launcher, model);
    await work(user);
  };

  launched(launcher, "vis run refuses what it cannot use, in one message", async (t) => {
    await together(t, {
      "no provider": withUser(async (user) => {
        await user.findNoServers();
        const ran = await user.run(["run", "hello"], { env: NO_PROVIDER });
        refused(ran, { code: 3, says: /^vis: No provider is configured[\s\S]*VIS_BASE_URL, [\s\S]*vis demo\n$/ });
        assert.ok(ran.stderr.split("\n").length <= 4);
      }),
      "no model": withUser(async (user) => {
        refused(await user.run(["run", "x"], { env: { VIS_MODEL: "" } }), { code: 3, says: /^vis: No model is set/ });
      }),
      "unknown provider": withUser(async (user) => {
        refused(await user.run(["run", "x", "--provider", "acme"]), {
          code: 3,
          says: /provider: acme \(.*openai.*demo/,
        });
      }),
      "a base URL that is none": withUser(async (user) => {
        const ran = await user.run(["run", "x"], { env: { VIS_BASE_URL: "127.0.0.1:8080" } });
        refused(ran, { code: 3, says: /^vis: Cannot use VIS_BASE_URL: 127\.0\.0\.1:8080 is not/ });
      }),
      "a config file that is wrong": withUser(async (user) => {
        await Deno.mkdir(user.path("vis"));
        await Deno.writeTextFile(user.path("vis/config.jsonc"), '{ "budget": { "iterations": "four" } }');
        refused(await user.run(["run", "x"]), {
          code: 3,
          says: /^vis: Cannot use .*config\.jsonc: budget\.iterations: /,
        });
      }),
      "unknown flag": withUser(async (user) => {
        refused(await user.run(["run", "--fast", "x"]), { code: 2, says: /^vis: unknown option '--fast'/ });
      }),
      "a flag that is nearly right": withUser(async (user) => {
        refused(await user.run(["run", "--modle", "m", "x"]), { code: 2, says: /--modle[\s\S]*--model/ });
      }),
      "a flag of an extension's command that is nearly right": withUser(async (user) => {
        refused(await user.run(["memo", "x", "--usr"]), {
          code: 2,
          says: /unknown option --usr; did you mean --user\?/,
        });
      }),
      "a command of a group that is nearly right": withUser(async (user) => {
        refused(await user.run(["conversations", "shwo"]), { code: 2, says: /'shwo'\n\(Did you mean show\?\)/ });
        refused(await user.run(["config", "list", "--al"]), { code: 2, says: /'--al'\n\(Did you mean --all\?\)/ });
      }),
      "a flag without its value": withUser(async (user) => {
        refused(await user.run(["run", "x", "--db"]), { code: 2, says: /--db <path>.*argument missing/ });
      }),
      "an output that is none": withUser(async (user) => {
        refused(await user.run(["run", "--output", "xml", "x"]), { code: 2, says: /xml.*text, json, jsonl/ });
      }),
      "iterations that are no number": withUser(async (user) => {
        for (const told of ["0", "two"]) {
          const ran = await user.run(["run", `--max-iterations=${told}`, "x"]);
          refused(ran, { code: 2, says: /--max-iterations.*whole number of at least 1/ });
        }
      }),
      "unknown command": withUser(async (user) => {
        refused(await user.run(["rnu", "x"]), { code: 2, says: /^vis: unknown command 'rnu'\n\(Did you mean run\?\)/ });
      }),
      "empty prompt": withUser(async (user) => {
        for (const args of [["run"], ["run", ""], ["run", "  \n "]]) {
          refused(await user.run(args), { code: 2, says: /^vis: Cannot run an empty request/ });
        }
        refused(await user.run(["run"], { input: " \n" }), { code: 2, says: /^vis: Cannot run an empty request/ });
        assert.equal(user.mock.requests.length, 0);
      }),
      "binary on stdin": withUser(async (user) => {
        const input = Uint8Array.from({ length: 4096 }, (_, at) => at % 256);
        refused(await user.run(["run", "what is this"], { input }), {
          code: 2,
          says: /^vis: Cannot read stdin as text/,
        });
        assert.equal(user.mock.requests.length, 0);
        const noZero = Uint8Array.from({ length: 4096 }, (_, at) => 128 + at % 128);
        refused(await user.run(["run", "x"], { input: noZero }), { code: 2, says: /^vis: Cannot read stdin as text/ });
      }),
      "a workspace that is none": withUser(async (user) => {
        const file = await user.write("file.txt", "x");
        refused(await user.run(["run", "--cwd", file, "x"]), { code: 2, says: /is not a folder\n$/ });
        refused(await user.run(["run", "--cwd", `${file}2`, "x"]), { code: 2, says: /does not exist\n$/ });
      }),
      "a conversation that is none": withUser(async (user) => {
        refused(await user.run(["run", "--conversation", "0123456789", "x"]), { code: 2, says: /0123456789\n$/ });
      }),
      "json asked for": withUser(async (user) => {
        await user.findNoServers();
        const { code, stdout, stderr } = await user.run(["run", "--output", "json", "x"], { env: NO_PROVIDER });
        assert.equal(code, 3);
        const { error } = JSON.parse(stdout);
        assert.equal(error.code, 3);
        assert.match(error.message, /^No provider is configured/);
        assert.match(stderr, /^vis: No provider/);
        const usage = await user.run(["run", "--output=json", ""]);
        assert.deepEqual([usage.code, JSON.parse(usage.stdout).error.code], [2, 2]);
        const flag = await user.run(["run", "--output", "json", "--fast", "x"]);
        assert.deepEqual([flag.code, JSON.parse(flag.stdout).error.code], [2, 2]);
      }),
    });
  });

  launched(launcher, "vis run refuses a database that it cannot use, and leaves it as it is", async (t) => {
    const bad = (make: (path: string) => Promise<unknown>, says: RegExp) =>
      withUser(async (user) => {
        const path = user.path("other.db");
        await make(path);
        const before = await contentOf(path);
        refused(await user.run(["run", "--db", path, "x"]), { code: 3, says });
        const { code, stdout } = await user.run(["run", "--output", "json", "x"], { env: { VIS_DB: path } });
        assert.deepEqual([code, JSON.parse(stdout).error.code], [3, 3]);
        assert.deepEqual(await contentOf(path), before);
        assert.equal(user.mock.requests.length, 0);
      });
    await together(t, {
      "a folder": bad((path) => Deno.mkdir(path), /^vis: Cannot use database .*other\.db: it is a folder/),
      "not a database": bad(
        (path) => Deno.writeTextFile(path, "Dear diary, ".repeat(1000)),
        /^vis: Cannot use database .*: the file is not a database/,
      ),
      "unreadable": bad(
        (path) => Deno.writeTextFile(path, "", { mode: 0o400 }),
        /^vis: Cannot use database .*(read-only|denied)/,
      ),
      "newer": bad(async (path) => {
        await using maker = await User.make(launcher, { reply: replyJson([], { final: "It is made" }) });
        assert.equal((await maker.run(["run", "--db", path, "x"])).code, 0);
        using db = new DatabaseSync(path);
        db.exec("INSERT INTO schema_migration VALUES (999, 'V999__future.sql', 'x', 0)");
      }, /^vis: Cannot use database .*: a newer Vis wrote it/),
      "of another program": bad((path) => {
        using db = new DatabaseSync(path);
        db.exec("CREATE TABLE notes (text TEXT)");
        return Promise.resolve();
      }, /^vis: Cannot use database .*: it belongs to another program/),
      "a part of its path is a file": withUser(async (user) => {
        const file = await user.write("file", "x");
        const ran = await user.run(["run", "--db", `${file}/x.db`, "x"]);
        refused(ran, { code: 3, says: /a part of its path is not a folder/ });
      }),
    });
  });

  launched(launcher, "vis run says what is wrong with the server", async (t) => {
    await together(t, {
      "connection refused": withUser(async (user) => {
        // Nobody listens there. A port that was free a moment ago may be another test's by now.
        const env = { VIS_BASE_URL: "http://127.0.0.1:2/v1" };
        const ran = await user.run(["run", "hi"], { env });
        assert.deepEqual([ran.code, ran.stdout], [1, ""]);
        assert.match(ran.stderr, /^vis: Cannot reach http:\/\/127\.0\.0\.1:\d+\/v1: .*(refused|server)/m);
        const { queries } = await user.queries();
        assert.deepEqual(queries.map(({ status, reason }) => [status, reason]), [["error", "provider"]]);
      }),
      "a path that is none": withUser(async (user) => {
        const ran = await user.run(["run", "hi"], { env: { VIS_BASE_URL: user.mock.baseUrl.replace("/v1", "/api") } });
        assert.deepEqual([ran.code, ran.stdout], [1, ""]);
        assert.match(ran.stderr, /^vis: .*404/m);
      }),
      "wrong key": withUser(async (user) => {
        const ran = await user.run(["run", "--quiet", "hi"], { env: { VIS_API_KEY: "sk-wrong-4711" } });
        refused(ran, { code: 1, says: /^vis: .*VIS_API_KEY/ });
        assert.doesNotMatch(ran.stderr, /sk-wrong/);
        assert.equal((await user.queries()).queries[0]?.reason, "provider");
      }),
      "wrong key, json": withUser(async (user) => {
        const { code, stdout } = await user.run(["run", "--output", "json", "hi"], {
          env: { VIS_API_KEY: "wrong-4711" },
        });
        const result = JSON.parse(stdout);
        assert.deepEqual([code, result.status, result.reason], [1, "error", "provider"]);
        assert.match(result.answer, /VIS_API_KEY/);
        assert.doesNotMatch(stdout, /wrong-4711/);
      }),
      "a page in place of an answer": withUser(async (user) => {
        const ran = await user.run(["run", "hi"]);
        assert.deepEqual([ran.code, ran.stdout], [1, ""]);
        assert.match(ran.stderr, /^vis: /m);
      }, { reply: { fault: "html" } }),
    });
  });

  launched(launcher, "vis run keeps the key out of the database and of every file it makes", async () => {
    await using user = await User.make(launcher, { reply: replyJson([], { final: "Nothing to hide" }) });
    await user.run(["run", "hi"]);
    await user.run(["run", "-c", "and with a server that repeats it"], { env: { VIS_API_KEY: `${KEY}2` } });
    for await (const { name } of Deno.readDir(user.path("vis"))) {
      const text = new TextDecoder("latin1").decode(await Deno.readFile(user.path(`vis/${name}`)));
      assert.ok(!text.includes(KEY), name);
    }
  });
}

/** Mode and content. */
async function contentOf(path: string): Promise<string> {
  const { isDirectory, mode } = await Deno.stat(path);
  if (isDirectory) return (await Array.fromAsync(Deno.readDir(path), ({ name }) => name)).join();
  const bytes = await Deno.readFile(path);
  return `${mode} ${new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex()}`;
}
