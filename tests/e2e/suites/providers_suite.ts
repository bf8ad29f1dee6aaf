import assert from "node:assert/strict";
import { startOpenAiMock } from "../../helpers/wires/openai_mock.ts";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import type { Launcher } from "../_launcher.ts";
import { descendants } from "../helpers/processes.ts";
import { launched, together } from "../helpers/together.ts";
import { answered, KEY, User, usersOf } from "../helpers/user.ts";

const NO_VARIABLES = { VIS_BASE_URL: "", VIS_API_KEY: "", VIS_MODEL: "" };

async function configure(user: User, config: object): Promise<void> {
  await Deno.mkdir(user.path("vis"), { recursive: true });
  await Deno.writeTextFile(user.path("vis/config.jsonc"), JSON.stringify({ localServers: false, ...config }));
}

/** Asserts that one file contains the key, and that only its owner can read the file. */
async function checkSecret(user: User): Promise<void> {
  for await (const { name, isFile } of Deno.readDir(user.path("vis"))) {
    if (!isFile) continue;
    const path = user.path(`vis/${name}`);
    const text = new TextDecoder("latin1").decode(await Deno.readFile(path));
    if (name === "auth.json") assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
    else assert.ok(!text.includes(KEY), name);
  }
}

export function providersSuite(launcher: Launcher): void {
  launched(launcher, "vis run plays the demo's replies under their own name", async () => {
    await using user = await User.make(launcher, { reply: replyJson([]) });
    await user.write("a.txt", "TODO\n");
    const ask = ["run", "--provider", "demo", "Which files here mention TODO, and how often?"];
    const { code, stdout, stderr } = await user.run(ask, { env: NO_VARIABLES });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /a\.txt/);
    assert.match(stderr, /^vis · demo /);
  });

  launched(launcher, "vis auth keeps a key that vis run uses and nothing shows", async () => {
    await using user = await User.make(launcher, { reply: final("Here I am") });
    const env = NO_VARIABLES;
    const models = [{ name: "mock-1", price: { input: 1000, output: 1000 } }];
    await configure(user, { providers: [{ name: "zai", baseUrl: user.mock.baseUrl, models }] });
    const kept = await user.run(["auth", "login", "zai", "--key-stdin"], { env, input: `${KEY}\n` });
    assert.deepEqual([kept.code, kept.stdout], [0, ""], kept.stderr);
    const ran = await user.run(["run", "hi"], { env });
    answered(ran, "Here I am\n");
    assert.match(ran.stderr, /^vis · zai mock-1 · conversation /);
    assert.match(ran.stderr, /\$\d+\.\d{4}/);
    const status = await user.run(["auth", "status"], { env });
    answered(status, `zai                ••••${KEY.slice(-4)} from auth.json\n`);
    const json = await user.run(["providers", "--check", "--output", "json"], { env });
    assert.deepEqual(JSON.parse(json.stdout).providers[0].reach, { ok: true, found: "1 model" });
    const list = await user.run(["models"], { env });
    assert.match(list.stdout, /^zai \(listed by the service; prices of [\d-]+\)\n\* mock-1 .*\$1000 in, \$1000 out/);
    await checkSecret(user);
    assert.equal((await user.run(["auth", "logout", "zai"], { env })).code, 0);
    answered(await user.run(["auth", "status"], { env }), "zai                not needed\n");
  });

  launched(launcher, "vis run goes on with the next provider when one refuses", async () => {
    await using user = await User.make(launcher, { reply: final("From the second") });
    const first = await startOpenAiMock({ reply: { text: "never", status: 401 } });
    try {
      await configure(user, {
        providers: [
          { name: "first", baseUrl: first.baseUrl, keyEnv: "FIRST", models: [{ name: "a" }] },
          { name: "second", baseUrl: user.mock.baseUrl, keyEnv: "SECOND", models: [{ name: "mock-1" }] },
        ],
      });
      const env = { ...NO_VARIABLES, FIRST: KEY, SECOND: KEY };
      answered(await user.run(["run", "hi"], { env }), "From the second\n");
      assert.equal(first.requests.length, 1);
      const only = await user.run(["run", "--provider", "first", "hi"], { env });
      assert.equal(only.code, 1);
      answered(await user.run(["run", "--model", "second/mock-1", "hi"], { env }), "From the second\n");
      assert.equal(first.requests.length, 2);
      await checkSecret(user);
    } finally {
      await first.close();
    }
  });

  launched(launcher, "vis run gives its keys to no sandbox, no model and no log", async () => {
    const children: { readonly command: string; readonly environment: string }[] = [];
    const pid = Promise.withResolvers<number>();
    const look = (path: string): string => {
      try {
        return Deno.readTextFileSync(path);
      } catch {
        return "";
      }
    };
    const replies = [replyJson("1"), replyJson("2"), final("Nothing to hide")];
    await using user = await User.make(launcher, {
      handler: async ({ index }) => {
        for (const { pid: child } of descendants(await pid.promise)) {
          const command = look(`/proc/${child}/cmdline`);
          if (/child/.test(command)) children.push({ command, environment: look(`/proc/${child}/environ`) });
        }
        return replies[index] ?? "";
      },
    });
    const models = [{ name: "mock-1" }];
    await configure(user, { providers: [{ name: "house", baseUrl: user.mock.baseUrl, keyEnv: "HOUSE_KEY", models }] });
    const env = { ...NO_VARIABLES, HOUSE_KEY: KEY, VIS_LOG: "debug" };
    const running = user.start(["run", "--output", "jsonl", "hi"], { env });
    pid.resolve(running.pid);
    const { code, stdout, stderr } = await running.ended;
    assert.equal(code, 0, stderr);
    for (const text of [stdout, stderr, ...user.mock.requests.flatMap(({ texts }) => texts)]) {
      assert.ok(!text.includes(KEY));
    }
    if (Deno.build.os === "linux") assert.ok(children.length > 0, "a sandbox was seen");
    for (const { command, environment } of children) {
      assert.ok(!command.includes(KEY) && !environment.includes(KEY) && !environment.includes("HOUSE_KEY"), command);
    }
    await checkSecret(user);
  });

  launched(launcher, "vis refuses providers and keys that it cannot use, and says the fix", async (t) => {
    const withUser = (work: (user: User) => Promise<void>) => usersOf(launcher)(work, { reply: final("x") });
    const env = NO_VARIABLES;
    await together(t, {
      "a key file that others can read": withUser(async (user) => {
        await configure(user, {});
        await Deno.writeTextFile(user.path("vis/auth.json"), "{}", { mode: 0o644 });
        const { code, stderr } = await user.run(["run", "hi"], { env });
        assert.equal(code, 3);
        assert.match(stderr, /^vis: Cannot use the keys in .*auth\.json: .*chmod 600 \S+auth\.json\n$/);
      }),
      "no key": withUser(async (user) => {
        await configure(user, {});
        const { code, stderr } = await user.run(["run", "--provider", "anthropic", "hi"], { env });
        assert.equal(code, 3);
        assert.match(stderr, /set ANTHROPIC_API_KEY or run vis auth login anthropic\n$/);
      }),
      "no terminal to ask for a key": withUser(async (user) => {
        await configure(user, {});
        const { code, stderr } = await user.run(["auth", "login", "anthropic"], { env });
        assert.deepEqual([code, /--key-stdin/.test(stderr)], [2, true]);
      }),
    });
  });
}
