import assert from "node:assert/strict";
import { join } from "node:path";
import { client, methods, ndJsonStream } from "@agentclientprotocol/sdk";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import type { Launcher } from "../_launcher.ts";
import { noPty, Pty } from "../helpers/pty.ts";
import { launched, together } from "../helpers/together.ts";
import { User, usersOf } from "../helpers/user.ts";

const NO_PROVIDER: Readonly<Record<string, string>> = { VIS_BASE_URL: "", VIS_API_KEY: "", VIS_MODEL: "" };
const WALLS = ["realm", "permissions", "process", "kernel"];

/** Tests that the program starts as a command, on a terminal and for other programs, finds all its parts and sets its
 * walls. These may differ between an executable and the sources. Other suites test its later work. */
export function startsSuite(launcher: Launcher): void {
  const withUser = usersOf(launcher);

  launched(launcher, "vis says what it is, and which walls stand", async (t) => {
    await together(t, {
      "version": withUser(async (user) => {
        const { code, stdout, stderr } = await user.run(["version"], { env: NO_PROVIDER });
        assert.deepEqual([code, stderr], [0, ""]);
        assert.match(stdout, /^vis \d+\.\d+\.\d+ \(deno \d+\.\d+\.\d+, v8 \S+, \S+\)\n$|, compiled\)\n$/);
        assert.equal(stdout.includes("compiled"), launcher.name === "compiled");
        assert.equal((await user.run(["--version"])).stdout, stdout);
        assert.deepEqual(await homeOf(user), []);
        await assert.rejects(Deno.stat(user.path("vis")), Deno.errors.NotFound);
      }),
      "the child's door is not a user's": withUser(async (user) => {
        const { code, stdout, stderr } = await user.run(["__sandbox_child"], { input: "" });
        assert.deepEqual([code, stdout, stderr.trimEnd().split("\n").length], [1, "", 1]);
      }),
      "doctor": withUser(async (user) => {
        const { code, stdout, stderr } = await user.run(["doctor"]);
        assert.equal(stderr, "");
        for (const wall of WALLS) assert.match(stdout, new RegExp(`^[✓!✗] wall: ${wall} +\\S`, "m"));
        for (const name of ["runtime", "home", "database", "provider"]) {
          assert.match(stdout, new RegExp(`^[✓!] ${name} +\\S`, "m"), stdout);
        }
        if (/^✓ wall: kernel/m.test(stdout)) assert.match(stdout, /^✓ commands /m, stdout);
        assert.match(stdout, /^✓ provider +127\.0\.0\.1-\d+ mock-1$/m);
        assert.equal(code, stdout.includes("✗") ? 1 : 0);
        assert.ok(user.mock.modelRequests > 0);
        assert.equal(user.mock.requests.length, 0);
      }),
    });
  });

  launched(launcher, "vis demo does the main job with no key and no network", async () => {
    await using user = await User.make(launcher);
    const { code, stdout, stderr } = await user.run(["demo"], { env: NO_PROVIDER, cwd: user.home });
    assert.deepEqual([code, stderr], [0, ""], stdout);
    const [, first = "", second = "", third = "", fourth = "", fifth = ""] = stdout.split(/^> /m);
    assert.match(first, /^ {4}✓ searched for TODO · 4 matches [\d.]+ m?s$[^]*^2 steps · /m);
    assert.doesNotMatch(first, /const lines/);
    assert.match(second, /mean/i);
    assert.match(third, /1[.,\s]?234[.,]56/);
    assert.match(third, /a new one continues/);
    assert.match(fourth, /987[.,]65/);
    assert.match(fifth, /^-.*0\.9\b[\s\S]*^\+.*0\.85/m);
    assert.equal(stdout.match(/^.{42}\d+ +\d+( \d+)*$/gm)?.length, 5, stdout);
    assert.doesNotMatch(stdout.slice(stdout.indexOf("\nrequest ")), /^(?!Database|You may).{81}/m);
    assert.match(stdout, /^Active sandbox walls: realm, permissions, process/m);
    assert.match(stdout, /^Next: run vis in a folder of your own\.\n.*\n$/m);
    const database = /^Database: (.+)$/m.exec(stdout)?.[1] ?? "";
    assert.ok(database.startsWith(user.temporary) && (await Deno.stat(database)).isFile);
    assert.deepEqual(await homeOf(user), []);
    assert.match(await Deno.readTextFile(join(database, "../workspace/src/discount.ts")), /0\.85/);
    assert.equal(user.mock.requests.length, 0);
  });

  const onTerminal = { ...launcher, missing: launcher.missing || noPty };
  launched(onTerminal, "vis on a terminal asks, answers, leaves, and goes on with -c", async () => {
    await using user = await User.make(launcher, {
      reply: [replyJson("6 * 7", { thinking: "I multiply." }), final("It makes 42"), final("Once more: 42")],
    });
    const pty = new Pty(user, []);
    await pty.until("mock-1");
    pty.type("What is 6 * 7?\r");
    const text = await pty.until(/It makes 42[^]*2 steps/);
    assert.match(text, /→ 42/);
    pty.type("\x04");
    assert.equal((await pty.ended).code, 0);
    assert.equal(pty.alternate, false);
    assert.match(pty.screen(), /Resume with: vis --conversation [0-9a-f-]{13}\n(?:.*\n)*as it was/);
    const again = new Pty(user, ["-c"]);
    await again.until("It makes 42");
    again.type("Again?\r");
    await again.until("Once more: 42");
    again.type("\x03\x03");
    assert.equal((await again.ended).code, 0);
    assert.equal((await user.queries()).queries.length, 2);
  });

  launched(launcher, "vis mcp serves a client on its stdin and stdout, over two starts", async () => {
    await using user = await User.make(launcher, {
      reply: [replyJson("const kept = 7"), final("{{kept}}"), replyJson("const more = kept + 1"), final("{{more}}")],
    });
    const [command, ...before] = launcher.argv;
    const start = async (): Promise<Client> => {
      const client = new Client({ name: "e2e", version: "1.0.0" });
      const args = [...before, "mcp", "--cwd", user.workspace];
      await client.connect(new StdioClientTransport({ command, args, env: user.env, stderr: "ignore" }));
      return client;
    };
    const first = await start();
    const asked = await first.callTool({ name: "ask", arguments: { request: "Keep seven" } });
    assert.deepEqual(asked.content, [{ type: "text", text: "7" }]);
    await first.close();
    const second = await start();
    const next = await second.callTool({ name: "continue", arguments: { request: "One more" } });
    assert.deepEqual(next.content, [{ type: "text", text: "8" }]);
    await second.close();
  });

  launched(launcher, "vis acp serves an editor on its stdin and stdout, and ends at SIGTERM", async () => {
    await using user = await User.make(launcher, { reply: [replyJson("const kept = 7"), final("It is {{kept}}")] });
    const [command, ...before] = launcher.argv;
    const child = new Deno.Command(command, {
      args: [...before, "acp"],
      clearEnv: true,
      env: user.env,
      cwd: user.workspace,
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    const texts: string[] = [];
    const editor = client({ name: "e2e" }).onNotification(methods.client.session.update, ({ params: { update } }) => {
      if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text") {
        texts.push(update.content.text);
      }
    });
    const { agent: of } = methods;
    await editor.connectWith(ndJsonStream(child.stdin, child.stdout), async (context) => {
      await context.request(of.initialize, { protocolVersion: 1, clientCapabilities: {} });
      const { sessionId } = await context.request(of.session.new, { cwd: user.workspace, mcpServers: [] });
      const prompt = [{ type: "text" as const, text: "Keep seven" }];
      assert.deepEqual(await context.request(of.session.prompt, { sessionId, prompt }), { stopReason: "end_turn" });
    });
    assert.deepEqual(texts, ["It is 7"]);
    child.kill("SIGTERM");
    assert.equal((await child.status).code, 0);
    const { queries } = await user.queries();
    assert.deepEqual(queries.map(({ answer }) => answer), ["It is 7"]);
  });
}

/** Returns the files of the home. From source, `bin/deno` makes the folder for its own Deno. */
async function homeOf(user: User): Promise<readonly string[]> {
  const names = await Array.fromAsync(Deno.readDir(user.home), ({ name }) => name);
  return names.filter((name) => user.launcher.name === "compiled" || name !== ".cache");
}
