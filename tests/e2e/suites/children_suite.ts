import assert from "node:assert/strict";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import type { Launcher } from "../_launcher.ts";
import { descendants, runs, type Seen, survivors } from "../helpers/processes.ts";
import { launched } from "../helpers/together.ts";
import { type Running, User } from "../helpers/user.ts";

const TOKEN = "a-token-of-this-test";
const CALLS = 150, AT_ONCE = 25, LIVE = 3;

async function urlOf(running: Running): Promise<string> {
  await running.until("URL", () => running.stdout.includes("\n"));
  return running.stdout.split("\n")[0] ?? "";
}

/** Chat completions, a few at a time, each of which makes a conversation. */
async function chat(url: string, { calls, content }: { readonly calls: number; readonly content: string }) {
  const queue = Array.from({ length: calls }, (_, at) => `${content} ${at}`);
  const worker = async (): Promise<void> => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      const response = await fetch(new URL("v1/chat/completions", url), {
        method: "POST",
        headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "vis", messages: [{ role: "user", content: next }] }),
      });
      assert.equal((await response.json()).choices[0].message.content, "It is 7");
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** The children that are left once those are gone which were about to end. */
async function atRest(running: Running, most: number): Promise<readonly Seen[]> {
  const seen = descendants(running.pid);
  if (seen.length > most) await survivors(seen.slice(most));
  return descendants(running.pid).filter(runs);
}

/** What `sandbox.live` promises of the children of `vis serve`. */
export function childrenSuite(launcher: Launcher): void {
  launched(
    launcher,
    "vis serve keeps no child for chat calls that run no code, and sandbox.live of the others",
    async () => {
      await using user = await User.make(launcher, {
        handler: ({ texts }) =>
          texts.some((text) => text.startsWith("compute"))
            ? replyJson("const n = 3 + 4", { final: "It is {{n}}" })
            : final("It is 7"),
      });
      await Deno.mkdir(user.path("vis"));
      await Deno.writeTextFile(user.path("vis/config.jsonc"), JSON.stringify({ sandbox: { live: LIVE } }));
      const running = user.start(["serve", "--port", "0"], { env: { VIS_TOKEN: TOKEN } });
      const url = await urlOf(running);
      await chat(url, { calls: CALLS, content: "say" });
      assert.deepEqual(await atRest(running, 0), []);
      await chat(url, { calls: CALLS / 5, content: "compute" });
      const left = await atRest(running, LIVE);
      assert.ok(left.length > 0 && left.length <= LIVE, `${left.length} children`);
      running.kill("SIGTERM");
      assert.equal((await running.ended).code, 0);
      assert.deepEqual(await survivors(left), []);
    },
  );
}
