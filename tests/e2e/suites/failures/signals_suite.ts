import assert from "node:assert/strict";
import type { MockOptions, MockReply } from "../../../helpers/wires/openai_mock.ts";
import { final, replyJson } from "../../../helpers/scripted_provider.ts";
import { ENDLESS, inBlock } from "../../_endless.ts";
import type { Launcher } from "../../_launcher.ts";
import { descendants, runs, type Seen, survivors } from "../../helpers/processes.ts";
import { client, urlOf } from "../../helpers/server.ts";
import { launched, together } from "../../helpers/together.ts";
import { type Running, User } from "../../helpers/user.ts";

const SIGNALS: readonly Deno.Signal[] = ["SIGINT", "SIGTERM", "SIGHUP"];
/** The output is longer than a pipe's buffer. */
const LINES = Array.from({ length: 20_000 }, (_, at) => `line ${at}`).join("\n");
const LARGE: MockReply = { text: final(LINES), chunk: 4_000 };
const LARGE_THINKING: MockReply = { text: replyJson(ENDLESS, { thinking: LINES }), chunk: 4_000 };

/** Returns the end of a query in the newest conversation; "" while it runs. */
async function endOf(user: User): Promise<string> {
  const found = await Deno.stat(user.database).catch(() => null);
  if (found === null) return "";
  return await user.look(async (store) => {
    const branch = await store.latestConversation(user.workspace);
    const query = branch && (await store.queries(branch.branchId)).at(-1);
    return !query || query.running ? "" : query.reason;
  });
}

/** Returns a line for `StartOptions.shell`, in which `target` of the program ("1" or "2") is a pipe without a reader. */
function unread(target: string): string {
  return `mkfifo pipe; sleep 1000 < pipe > /dev/null 2>&1 & exec "$@" ${target}> pipe`;
}

async function endAll(seen: readonly Seen[]): Promise<void> {
  for (const { pid } of seen.filter(runs)) Deno.kill(pid, "SIGKILL");
  assert.deepEqual(await survivors(seen), []);
}

export function signalsSuite(launcher: Launcher): void {
  const withUser = (work: (user: User) => Promise<void>, model: MockOptions) => async (): Promise<void> => {
    await using user = await User.make(launcher, model);
    await work(user);
  };

  launched(launcher, "vis run with a full pipe ends at the second Ctrl-C, and what ran is stored", async (t) => {
    const stuck = (args: readonly string[], target: string, reason: string) => async (user: User): Promise<void> => {
      const running = user.start(["run", ...args, "x"], { shell: unread(target) });
      const wanted = reason === "cancelled" ? inBlock(user, running) : endIs(user, running, reason);
      await wanted;
      const below = descendants(running.pid);
      running.kill("SIGINT");
      if (reason === "cancelled") {
        await endIs(user, running, reason);
        running.kill("SIGINT");
      }
      const { code } = await running.ended;
      assert.equal(code, 130);
      await endAll(below);
      assert.equal(await endOf(user), reason);
    };
    await together(t, {
      "an answer": withUser(stuck([], "1", "answered"), { reply: LARGE }),
      "events": withUser(stuck(["--output", "jsonl"], "1", "cancelled"), { reply: LARGE_THINKING }),
      "progress": withUser(stuck(["--trace"], "2", "cancelled"), { reply: LARGE_THINKING }),
    });
  });

  launched(launcher, "vis run without any reader ends quietly, with the code of a closed pipe", async (t) => {
    const closed = (args: readonly string[]) => async (user: User): Promise<void> => {
      const ran = await user.run(["run", ...args, "x"], {
        shell: '{ "$@"; echo "code $?" >&2; } | { exec <&-; sleep 0; }',
      });
      assert.match(ran.stderr, /^code 141$/m);
      assert.doesNotMatch(ran.stderr, /^vis: Cannot/m);
    };
    await together(t, {
      "an answer": withUser(closed([]), { reply: LARGE }),
      "events": withUser(closed(["--output", "jsonl"]), { reply: LARGE_THINKING }),
      "a disk that takes nothing": withUser(async (user) => {
        const ran = await user.run(["run", "x"], { shell: 'exec "$@" > /dev/full' });
        assert.equal(ran.code, 1);
        assert.match(ran.stderr, /^vis: Cannot write to stdout: the disk is full/m);
        assert.equal(await endOf(user), "answered");
      }, { reply: final("Here I am") }),
    });
  });

  launched(
    launcher,
    "vis run stores what ran at each signal that ends it, and ends at once at the second",
    async (t) => {
      const steps: Record<string, () => Promise<void>> = {};
      for (const signal of SIGNALS) {
        steps[`${signal} twice in a block`] = withUser(async (user) => {
          const running = user.start(["run", "x"]);
          const below = await inBlock(user, running);
          running.kill(signal);
          running.kill(signal);
          assert.equal((await running.ended).code, 130);
          assert.deepEqual(await survivors(below), []);
          // A terminal that is gone sends SIGHUP more than once, so one SIGHUP must not interrupt the storing.
          if (signal === "SIGHUP") assert.equal(await endOf(user), "cancelled");
          if (signal !== "SIGINT") return;
          const next = await user.run(["run", "-c", "x"]);
          assert.equal(next.stdout, "Here I am\n", next.stderr);
          assert.deepEqual((await user.queries()).queries.map(({ status }) => status), ["interrupted", "done"]);
        }, { reply: [replyJson(ENDLESS), final("Here I am")] });
      }
      await together(t, {
        ...steps,
        "SIGTERM at the end of a query": atTheEnd(launcher, ["SIGTERM"]),
        "SIGINT twice at the end of a query": atTheEnd(launcher, ["SIGINT", "SIGINT"]),
        "SIGHUP twice at the end of a query": atTheEnd(launcher, ["SIGHUP", "SIGHUP"]),
      });
    },
  );

  launched(launcher, "vis run under nohup is not ended by SIGHUP", async () => {
    let running: Running | null = null;
    await using user = await User.make(launcher, {
      handler: () => {
        running?.kill("SIGHUP");
        return final("Here I am");
      },
    });
    running = user.start(["run", "x"], { shell: `trap '' HUP; exec "$@"` });
    const { code, stdout } = await running.ended;
    assert.deepEqual([code, stdout], [0, "Here I am\n"]);
  });

  launched(
    launcher,
    "vis serve stores what runs at SIGHUP as at SIGTERM, and ends at once at SIGINT after it",
    async (t) => {
      const steps: Record<string, () => Promise<void>> = {};
      for (const signal of SIGNALS) {
        steps[signal] = withUser(async (user) => {
          const { running, below } = await serving(user, '{ "server": { "shutdownMs": 50 } }');
          running.kill(signal);
          assert.equal((await running.ended).code, 0);
          assert.deepEqual(await survivors(below), []);
          assert.equal(await endOf(user), "cancelled");
        }, { reply: [replyJson("const kept = 7"), replyJson(ENDLESS)] });
      }
      await together(t, {
        ...steps,
        "SIGHUP twice, then SIGINT": withUser(async (user) => {
          const { running, below } = await serving(user, '{ "server": { "shutdownMs": 600000 } }');
          running.kill("SIGHUP");
          await running.until("notice", () => running.stderr.includes("shutting down"));
          running.kill("SIGHUP");
          assert.equal((await fetch(`${await urlOf(running)}healthz`)).status, 200, "it waits for what runs");
          running.kill("SIGINT");
          assert.equal((await running.ended).code, 130);
          assert.deepEqual(await survivors(below), []);
        }, { reply: [replyJson("const kept = 7"), replyJson(ENDLESS)] }),
      });
    },
  );
}

async function serving(user: User, config: string) {
  await Deno.mkdir(user.path("vis"));
  await Deno.writeTextFile(user.path("vis/config.jsonc"), config);
  const token = "an-operators-own-token";
  const running = user.start(["serve", "--port", "0"], { env: { VIS_TOKEN: token } });
  const ask = client(await urlOf(running), token);
  const { conversationId } = await (await ask("/api/v1/conversations", {})).json();
  void ask(`/api/v1/conversations/${conversationId}/messages`, { request: "x" })
    .then((response) => response.body?.cancel(), () => {});
  return { running, below: await inBlock(user, running) };
}

async function endIs(user: User, running: Running, reason: string): Promise<void> {
  await running.until(`end as ${reason}`, async () => await endOf(user) === reason);
}

/** The signals arrive when the last reply has left the model. The reported result must be the stored one. */
function atTheEnd(launcher: Launcher, signals: readonly Deno.Signal[]) {
  return async (): Promise<void> => {
    let running: Running | null = null;
    await using user = await User.make(launcher, {
      reply: [final("Here I am"), final("Here I am")],
      onReplied: () => {
        for (const signal of signals) {
          try {
            running?.kill(signal);
          } catch { /* The process has ended. */ }
        }
        running = null;
      },
    });
    running = user.start(["run", "x"]);
    const { code, stdout } = await running.ended;
    const found = await endOf(user);
    assert.ok(code === 0 || code === 130, `${code}`);
    if (code === 0) assert.deepEqual([stdout, found], ["Here I am\n", "answered"]);
    else if (signals.length === 1 || signals[0] === "SIGHUP") assert.match(found, /^(answered|cancelled)$/);
    const next = await user.run(["run", "-c", "x"]);
    assert.deepEqual([next.code, next.stdout], [0, "Here I am\n"], next.stderr);
  };
}
