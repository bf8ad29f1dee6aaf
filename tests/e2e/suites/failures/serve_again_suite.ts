import assert from "node:assert/strict";
import { final, replyJson } from "../../../helpers/scripted_provider.ts";
import type { Launcher } from "../../_launcher.ts";
import { client, urlOf } from "../../helpers/server.ts";
import { launched } from "../../helpers/together.ts";
import { User } from "../../helpers/user.ts";

export function serveAgainSuite(launcher: Launcher): void {
  launched(
    launcher,
    "vis serve marks a query that it cannot wait for, and goes on with it when started again",
    async () => {
      await using user = await User.make(launcher, {
        reply: [replyJson("const kept = 7"), replyJson("await new Promise(() => {})"), final("still {{kept}}")],
      });
      await Deno.mkdir(user.path("vis"));
      await Deno.writeTextFile(user.path("vis/config.jsonc"), '{ "server": { "shutdownMs": 100, "port": 0 } }');
      const token = "an-operators-own-token";
      const first = user.start(["serve"], { env: { VIS_TOKEN: token } });
      let ask = client(await urlOf(first), token);
      const { conversationId } = await (await ask("/api/v1/conversations", {})).json();
      const messages = `/api/v1/conversations/${conversationId}/messages`;
      const stream = await ask(messages, { request: "x" }, { accept: "text/event-stream" });
      const text = stream.text();
      await first.until("second call", () => user.mock.requests.length === 2);
      first.kill("SIGTERM");
      assert.match(await text, /event: cancelled\n/);
      assert.equal((await first.ended).code, 0);
      assert.deepEqual((await user.queries()).queries.map(({ reason, running }) => [reason, running]), [
        ["cancelled", false],
      ]);
      const second = user.start(["serve"], { env: { VIS_TOKEN: token } });
      ask = client(await urlOf(second), token);
      assert.equal((await (await ask(messages, { request: "y" })).json()).answer, "still 7");
      second.kill("SIGINT");
      assert.equal((await second.ended).code, 0);
    },
  );

  launched(launcher, "vis serve says what it cannot use", async () => {
    await using user = await User.make(launcher);
    const short = await user.run(["serve", "--port", "0", "--token", "short"]);
    assert.deepEqual([short.code, short.stdout], [2, ""]);
    assert.match(short.stderr, /^vis: Cannot use the token of --token: it is not 16 to 512/);
    assert.equal((await user.run(["serve", "--port", "70000"])).code, 2);
    const host = await user.run(["serve", "--port", "0", "--host", "192.0.2.1"]);
    assert.equal(host.code, 3);
    assert.match(host.stderr, /^vis: Cannot listen on 192\.0\.2\.1:0: /m);
  });
}
