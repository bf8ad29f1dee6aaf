import assert from "node:assert/strict";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import type { Launcher } from "../_launcher.ts";
import { descendants, runs, type Seen, survivors } from "../helpers/processes.ts";
import { launched } from "../helpers/together.ts";
import { type Running, User } from "../helpers/user.ts";

const TOKEN = "a-token-of-this-test";
const CALLS = 50, AT_ONCE = 25, LIVE = 3;

async function urlOf(running: Running): Promise<string> {
  await running.until("URL", () => running.stdout.includes("\n"));
  return running.stdout.split("\n")[0] ?? "";
}

/** Sends chat completions, a few at a time, each of which makes a conversation. */
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

/** Returns the children that remain once the ending ones have ended. */
async function atRest(running: Running, most: number): Promise<readonly Seen[]> {
  const seen = descendants(running.pid);
  if (seen.length > most) await survivors(seen.slice(most));
  return descendants(running.pid).filter(runs);
}

function inTemporary(user: User): readonly string[] {
  const pids = [...Deno.readDirSync("/proc")].map(({ name }) => name).filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => {
    try {
      return Deno.readLinkSync(`/proc/${pid}/cwd`).startsWith(user.temporary);
    } catch {
      return false;
    }
  });
}

/** Waits until the killed children are gone. */
async function leavesNothing(user: User): Promise<void> {
  const end = performance.now() + 20_000;
  while (inTemporary(user).length > 0 && performance.now() < end) await new Promise((done) => setTimeout(done, 20));
  assert.deepEqual(inTemporary(user), []);
  assert.deepEqual([...Deno.readDirSync(user.temporary)].map(({ name }) => name), []);
}

/** Tests that a run has one child, and the promises of `sandbox.live` for the children of `vis serve`. */
export function childrenSuite(launcher: Launcher): void {
  launched(launcher, "vis run has one child, and leaves neither it nor its folder behind", async () => {
    const seen: number[] = [];
    let pid = 0;
    await using user = await User.make(launcher, {
      handler: ({ index }) => {
        if (index > 0) seen.push(descendants(pid).length);
        return index === 0 ? replyJson("const n = 3 + 4") : final("It is 7");
      },
    });
    const running = user.start(["run", "How much is it?"]);
    pid = running.pid;
    assert.equal((await running.ended).stdout, "It is 7\n");
    assert.deepEqual(seen, [1]);
    await leavesNothing(user);
    assert.equal((await user.run(["run", "Say it again"])).stdout, "It is 7\n"); // The reply has no block.
    await leavesNothing(user);
    assert.equal((await user.run(["run", "--no-such-flag"])).code, 2);
    await leavesNothing(user);
    await Deno.writeTextFile(
      user.path("vis/config.jsonc"),
      JSON.stringify({ sandbox: { launcher: ["/usr/bin/env"] } }),
    );
    assert.equal((await user.run(["run", "And again"])).stdout, "It is 7\n");
    await leavesNothing(user);
  });

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
