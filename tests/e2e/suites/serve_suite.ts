import assert from "node:assert/strict";
import OpenAI from "openai";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { raw, statusOf } from "../../channels/http/_raw.ts";
import type { Launcher } from "../_launcher.ts";
import { descendants, survivors } from "../helpers/processes.ts";
import { launched } from "../helpers/together.ts";
import { client, urlOf } from "../helpers/server.ts";
import { User } from "../helpers/user.ts";

export function serveSuite(launcher: Launcher): void {
  launched(launcher, "vis serve answers over HTTP, keeps its token to its owner and ends at SIGTERM", async () => {
    await using user = await User.make(launcher, {
      reply: [replyJson("const kept = 7"), final("{{kept}}"), final("8")],
    });
    const running = user.start(["serve", "--port", "0"], { env: { VIS_LOG: "debug" } });
    const url = await urlOf(running);
    const path = user.path("vis/server-token");
    const token = (await Deno.readTextFile(path)).trim();
    assert.ok(token.length >= 32);
    assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
    const ask = client(url, token);
    assert.equal((await client(url, "wrong-token-0123456789")("/api/v1")).status, 401);
    const { conversationId } = await (await ask("/api/v1/conversations", { title: "e2e" })).json();
    const result = await (await ask(`/api/v1/conversations/${conversationId}/messages`, { request: "x" })).json();
    assert.deepEqual([result.status, result.answer], ["done", "7"]);
    const openai = new OpenAI({ baseURL: `${url}v1`, apiKey: token, maxRetries: 0 });
    const done = await openai.chat.completions.create({ model: "vis", messages: [{ role: "user", content: "y" }] });
    assert.equal(done.choices[0]?.message.content, "8");
    for (const asset of ["", "assets/app.js", "assets/base.css"]) {
      const response = await fetch(new URL(asset, url));
      assert.equal(response.status, 200, asset);
      assert.ok((await response.text()).length > 500);
    }
    const below = descendants(running.pid);
    running.kill("SIGTERM");
    const { code, stdout, stderr } = await running.ended;
    assert.deepEqual([code, stdout], [0, `${url}\n`]);
    assert.ok(!stderr.includes(token) && !stdout.includes(token), "the token is in no log");
    assert.deepEqual(await survivors(below), []);
  });

  launched(
    launcher,
    "vis serve refuses a body that two servers would see end in different places, and answers nothing behind it",
    async () => {
      await using user = await User.make(launcher);
      const token = "a-token-of-this-test";
      const running = user.start(["serve", "--port", "0"], { env: { VIS_TOKEN: token } });
      const url = await urlOf(running);
      const head = `Host: ${new URL(url).host}\r\nAuthorization: Bearer ${token}\r\n`;
      const post = `POST /api/v1/conversations HTTP/1.1\r\n${head}Content-Type: application/json\r\n`;
      const behind = `\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\n${head}\r\n`;
      const first = await raw(url, `${post}Content-Length: 5\r\nTransfer-Encoding: chunked${behind}`, { moreMs: 300 });
      const last = await raw(url, `${post}Transfer-Encoding: chunked\r\nContent-Length: 5${behind}`, { moreMs: 300 });
      assert.equal(statusOf(first), 400);
      assert.ok([400, 411].includes(statusOf(last)), last);
      for (const text of [first, last]) assert.equal(text.match(/^HTTP\/1\.1 /gm)?.length, 1, text);
      running.kill("SIGTERM");
      await running.ended;
    },
  );
}
