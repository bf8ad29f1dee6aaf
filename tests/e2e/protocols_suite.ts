import assert from "node:assert/strict";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { replyJson } from "../helpers/scripted_provider.ts";
import type { Launcher } from "./_launcher.ts";
import { launched } from "./_together.ts";
import { User } from "./_user.ts";

const final = (answer: string): string => replyJson([], { final: answer });

/** `vis mcp` and `vis acp` as programs that start them see them. */
export function protocolsSuite(launcher: Launcher): void {
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

  launched(launcher, "vis mcp ends when its client leaves, and says what it cannot use", async () => {
    await using user = await User.make(launcher);
    const ended = await user.run(["mcp"], { input: "" });
    assert.deepEqual([ended.code, ended.stdout], [0, ""]);
    const nothing = await user.run(["mcp", "--provider", "nobody"], { input: "" });
    assert.deepEqual([nothing.code, nothing.stdout], [3, ""]);
    assert.match(nothing.stderr, /^vis: Cannot /);
  });
}
