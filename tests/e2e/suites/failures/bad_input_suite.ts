import assert from "node:assert/strict";
import type { Launcher } from "../../_launcher.ts";
import { launched, together } from "../../helpers/together.ts";
import { type Ran, User } from "../../helpers/user.ts";

const NO_PROVIDER: Readonly<Record<string, string>> = { VIS_BASE_URL: "", VIS_API_KEY: "", VIS_MODEL: "" };

/** Asserts an empty stdout, and one message on stderr that starts with "vis: ". */
function refused(ran: Ran, { code, says }: { readonly code: number; readonly says: RegExp }): void {
  assert.deepEqual([ran.code, ran.stdout], [code, ""], ran.stderr);
  assert.match(ran.stderr, says);
  assert.equal(ran.stderr.match(/^vis: /gm)?.length, 1, ran.stderr);
}

export function badInputSuite(launcher: Launcher): void {
  const withUser = (work: (user: User) => Promise<void>) => async (): Promise<void> => {
    await using user = await User.make(launcher);
    await work(user);
  };

  launched(launcher, "vis run refuses what it cannot use, in one message", async (t) => {
    await together(t, {
      "no provider": withUser(async (user) => {
        await user.findNoServers();
        const ran = await user.run(["run", "hello"], { env: NO_PROVIDER });
        refused(ran, {
          code: 3,
          says: /^vis: Cannot choose a model: no provider is configured[\s\S]*VIS_BASE_URL, [\s\S]*vis demo\n$/,
        });
        assert.ok(ran.stderr.split("\n").length <= 4);
      }),
      "unknown log level": withUser(async (user) => {
        const { code, stderr } = await user.run(["conversations", "list"], { env: { VIS_LOG: "loud" } });
        assert.equal(code, 0);
        assert.match(stderr, /^vis: Cannot use VIS_LOG: loud is not a level; use debug, info, warn or error\n/);
      }),
      "unknown command": withUser(async (user) => {
        refused(await user.run(["rnu", "x"]), { code: 2, says: /^vis: unknown command 'rnu'\n\(Did you mean run\?\)/ });
      }),
      "unknown flag of an extension's command": withUser(async (user) => {
        refused(await user.run(["memo", "x", "--usr"]), {
          code: 2,
          says: /it has no option --usr \(did you mean --user\?\)/,
        });
      }),
      "unknown flag, json": withUser(async (user) => {
        const { code, stdout, stderr } = await user.run(["run", "--output", "json", "--fast", "x"]);
        const { error } = JSON.parse(stdout);
        assert.deepEqual([code, error], [2, { code: 2, message: "unknown option '--fast'" }]);
        assert.match(stderr, /^vis: unknown option '--fast'/);
      }),
      "empty prompt": withUser(async (user) => {
        refused(await user.run(["run"], { input: " \n" }), {
          code: 2,
          says: /^vis: Cannot read the request: its text is empty/,
        });
        assert.equal(user.mock.requests.length, 0);
      }),
      "binary on stdin": withUser(async (user) => {
        const input = Uint8Array.from({ length: 4096 }, (_, at) => at % 256);
        refused(await user.run(["run", "what is this"], { input }), {
          code: 2,
          says: /^vis: Cannot read stdin: it contains a NUL character, so it is not text; write it to a file/,
        });
        assert.equal(user.mock.requests.length, 0);
      }),
      "a conversation that is none": withUser(async (user) => {
        refused(await user.run(["run", "--conversation", "0123456789", "x"]), {
          code: 2,
          says: /^vis: Cannot find conversation 0123456789: /,
        });
      }),
      "a file that is no database": withUser(async (user) => {
        const text = "Dear diary, ".repeat(1000);
        const path = await user.write("diary.txt", text);
        const says = /^vis: Cannot use database .*diary\.txt: the file is not a database/;
        refused(await user.run(["run", "--db", path, "x"]), { code: 3, says });
        const { code, stdout } = await user.run(["run", "--output", "json", "x"], { env: { VIS_DB: path } });
        assert.deepEqual([code, JSON.parse(stdout).error.code], [3, 3]);
        assert.equal(await Deno.readTextFile(path), text);
        assert.equal(user.mock.requests.length, 0);
      }),
    });
  });

  launched(launcher, "vis run says what is wrong with the server", async (t) => {
    await together(t, {
      "connection refused": withUser(async (user) => {
        // No server listens there. A port that was free a moment ago may belong to another test by now.
        const env = { VIS_BASE_URL: "http://127.0.0.1:2/v1" };
        const ran = await user.run(["run", "hi"], { env });
        assert.deepEqual([ran.code, ran.stdout], [1, ""]);
        assert.match(ran.stderr, /^vis: Cannot reach http:\/\/127\.0\.0\.1:\d+\/v1: .*(refused|server)/m);
        const { queries } = await user.queries();
        assert.deepEqual(queries.map(({ status, reason }) => [status, reason]), [["error", "provider"]]);
      }),
      "a wrong key, which stays out of the database and of every file": withUser(async (user) => {
        const key = "sk-wrong-4711";
        const ran = await user.run(["run", "--quiet", "hi"], { env: { VIS_API_KEY: key } });
        refused(ran, { code: 1, says: /^vis: .*VIS_API_KEY/ });
        assert.ok(!ran.stderr.includes(key));
        assert.equal((await user.queries()).queries[0]?.reason, "provider");
        for await (const { name } of Deno.readDir(user.path("vis"))) {
          const text = new TextDecoder("latin1").decode(await Deno.readFile(user.path(`vis/${name}`)));
          assert.ok(!text.includes(key), name);
        }
      }),
    });
  });
}
