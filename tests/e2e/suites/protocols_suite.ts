import assert from "node:assert/strict";
import { join } from "node:path";
import { client, methods, ndJsonStream } from "@agentclientprotocol/sdk";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { guarded } from "../../helpers/wires/authorization_server.ts";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { ROOT } from "../../../scripts/_project.ts";
import project from "../../../deno.json" with { type: "json" };
import { type Launcher, sourceLauncher } from "../_launcher.ts";
import { ENDLESS } from "../_endless.ts";
import { descendants, survivors } from "../helpers/processes.ts";
import { launched, together } from "../helpers/together.ts";
import { User } from "../helpers/user.ts";

export function protocolsSuite(launcher: Launcher): void {
  launched(launcher, "vis mcp stores what runs at SIGHUP as at SIGTERM", async (t) => {
    const steps = (["SIGTERM", "SIGHUP"] as const).map((signal) => [signal, async () => {
      await using user = await User.make(launcher, { reply: replyJson(ENDLESS) });
      const [command, ...before] = launcher.argv;
      const transport = new StdioClientTransport({
        command,
        args: [...before, "mcp", "--cwd", user.workspace],
        env: user.env,
        stderr: "ignore",
      });
      const client = new Client({ name: "e2e", version: "1.0.0" });
      await client.connect(transport);
      const asked = client.callTool({ name: "ask", arguments: { request: "x" } }).catch(() => {});
      await ends(user, { pid: transport.pid ?? 0, signal });
      await asked;
      await client.close();
    }]);
    await together(t, Object.fromEntries(steps));
  });

  launched(launcher, "vis acp stores what runs at SIGHUP as at SIGTERM", async (t) => {
    const steps = (["SIGTERM", "SIGHUP"] as const).map((signal) => [signal, async () => {
      await using user = await User.make(launcher, { reply: replyJson(ENDLESS) });
      const child = startAcp(user);
      const { agent: of } = methods;
      const asked = Promise.withResolvers<void>();
      const connected = client({ name: "e2e" }).connectWith(
        ndJsonStream(child.stdin, child.stdout),
        async (context) => {
          await context.request(of.initialize, { protocolVersion: 1, clientCapabilities: {} });
          const { sessionId } = await context.request(of.session.new, { cwd: user.workspace, mcpServers: [] });
          const prompt = [{ type: "text" as const, text: "x" }];
          asked.resolve();
          await context.request(of.session.prompt, { sessionId, prompt });
        },
      );
      connected.catch(asked.reject); // The connection is closed after the signal.
      await asked.promise;
      await ends(user, { pid: child.pid, signal });
      assert.equal((await child.status).code, 0);
    }]);
    await together(t, Object.fromEntries(steps));
  });

  launched(launcher, "acpx asks vis acp; a session that it makes can be loaded before it has a request", async () => {
    await using user = await User.make(launcher, { reply: [replyJson("const n = 6 * 7"), final("It is {{n}}")] });
    assert.equal(await acpx(user, ["--format", "quiet", "exec", "What is 6 * 7?"]), "It is 42\n");
    const sessionId = (await acpx(user, ["sessions", "new"])).trim();
    const child = startAcp(user);
    await client({ name: "e2e" }).connectWith(ndJsonStream(child.stdin, child.stdout), async (context) => {
      const { agent: of } = methods;
      await context.request(of.initialize, { protocolVersion: 1, clientCapabilities: {} });
      await context.request(of.session.load, { sessionId, cwd: user.workspace, mcpServers: [] });
      await context.request(of.session.close, { sessionId });
    });
    child.kill("SIGTERM");
    assert.equal((await child.status).code, 0);
  });

  launched(launcher, "vis mcp and vis acp end when their client leaves, and say what they cannot use", async () => {
    await using user = await User.make(launcher);
    for (const protocol of ["mcp", "acp"]) {
      const ended = await user.run([protocol], { input: "" });
      assert.deepEqual([ended.code, ended.stdout], [0, ""], protocol);
    }
    for (const protocol of ["mcp", "acp"]) {
      const nothing = await user.run([protocol, "--provider", "nobody"], { input: "" });
      assert.deepEqual([nothing.code, nothing.stdout], [3, ""], protocol);
      assert.match(nothing.stderr, /^vis: Cannot [^\n]*\n$/, protocol);
    }
  });

  launched(
    launcher,
    "vis run names the login that a server wants, and uses the server after vis mcp login",
    async () => {
      await using server = guarded();
      const use = 'await mcp.call("tracker", "twice", { n: 21 })';
      await using user = await User.make(launcher, {
        reply: [
          replyJson(use),
          final("None"),
          replyJson(`const twice = ${use}`),
          final("{{twice}}"),
          replyJson(use),
          final("None"),
        ],
      });
      assert.equal((await user.run(["mcp", "add", "tracker", server.url])).code, 0);
      assert.match((await user.run(["run", "x"])).stderr, /the server requires a login; run vis mcp login tracker,/);

      const login = user.start(["mcp", "login", "tracker"]);
      const address = (): string => /^http\S+$/m.exec(login.stderr)?.[0] ?? "";
      await login.until("address", () => address() !== "");
      const page = await fetch(await server.agree(address()));
      assert.match(await page.text(), /Go back to the terminal/);
      assert.equal((await login.ended).code, 0);
      server.valid.access = "expired";
      assert.equal((await user.run(["run", "x"])).stdout, "42\n");
      for (const token of server.given) assert.ok(!JSON.stringify(user.mock.requests).includes(token));

      assert.equal((await user.run(["mcp", "logout", "tracker"])).code, 0);
      assert.match((await user.run(["run", "x"])).stderr, /run vis mcp login tracker,/);
    },
  );
}

function startAcp(user: User) {
  const [command, ...args] = [...user.launcher.argv, "acp"];
  const options = { args, clearEnv: true, env: user.env, cwd: user.workspace } as const;
  return new Deno.Command(command, { ...options, stdin: "piped", stdout: "piped", stderr: "inherit" }).spawn();
}

async function acpx(user: User, args: readonly string[]): Promise<string> {
  const { env } = await sourceLauncher();
  const program = [...user.launcher.argv, "acp"].map((word) => JSON.stringify(word)).join(" ");
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", project.imports.acpx, "--cwd", user.workspace, "--agent", program, ...args],
    cwd: ROOT,
    env: { ...user.env, ...env },
    stdin: "null",
  }).output();
  const text = new TextDecoder();
  assert.ok(success, text.decode(stderr));
  return text.decode(stdout);
}

/** Tests that a signal in the endless block ends the program and all processes below it, and stores the query as
 * cancelled. */
async function ends(
  user: User,
  { pid, signal }: { readonly pid: number; readonly signal: Deno.Signal },
): Promise<void> {
  const mark = join(user.workspace, "mark");
  while (!await Deno.stat(mark).then(() => true, () => false)) await new Promise((resolve) => setTimeout(resolve, 10));
  const below = descendants(pid);
  assert.ok(below.length > 0);
  const itself = descendants(Deno.pid).filter((one) => one.pid === pid);
  Deno.kill(pid, signal);
  assert.deepEqual(await survivors([...itself, ...below]), []);
  assert.equal((await user.queries()).queries[0]?.reason, "cancelled");
}
