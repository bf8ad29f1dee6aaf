import assert from "node:assert/strict";
import { final, replyJson } from "../../../helpers/scripted_provider.ts";
import type { MockOptions } from "../../../helpers/wires/openai_mock.ts";
import { checkEvents } from "../../helpers/events.ts";
import type { Launcher } from "../../_launcher.ts";
import { ENDLESS, inBlock } from "../../_endless.ts";
import { descendants, survivors } from "../../helpers/processes.ts";
import { launched, together } from "../../helpers/together.ts";
import { User } from "../../helpers/user.ts";

/** Returns folders that sandboxes left behind. The runtime of an executable keeps a cache next to them. */
async function leftFolders(user: User): Promise<readonly string[]> {
  const names = await Array.fromAsync(Deno.readDir(user.temporary), ({ name }) => name);
  return names.filter((name) => name.startsWith("vis-"));
}

export function endSuite(launcher: Launcher): void {
  const withUser = (work: (user: User) => Promise<void>, model: MockOptions) => async (): Promise<void> => {
    await using user = await User.make(launcher, model);
    await work(user);
  };

  launched(launcher, "vis run leaves no process and no folder behind", async () => {
    await using user = await User.make(launcher, {
      reply: [replyJson(ENDLESS.split("\n")[0] ?? ""), final("Done with it")],
    });
    const running = user.start(["run", "x"]);
    const seen = await inBlock(user, running);
    assert.equal((await running.ended).code, 0);
    assert.deepEqual(await survivors(seen), []);
    assert.deepEqual(await leftFolders(user), []);
  });

  launched(launcher, "vis doctor leaves no process and no folder behind when it is interrupted", async () => {
    await using user = await User.make(launcher);
    const running = user.start(["doctor"]);
    const probes = async () => (await leftFolders(user)).filter((name) => name.startsWith("vis-sandbox-"));
    await running.until("probe that runs", async () => (await probes()).length > 0);
    const seen = descendants(running.pid);
    running.kill("SIGINT");
    const { code, stdout, stderr } = await running.ended;
    assert.deepEqual([code, stdout, stderr], [130, "", "vis: Cancelled\n"]);
    assert.deepEqual(await survivors(seen), []);
    assert.deepEqual(await leftFolders(user), []);
  });

  launched(launcher, "vis run ends cleanly when it is interrupted", async (t) => {
    const stops = (signal: Deno.Signal) =>
      withUser(async (user) => {
        const running = user.start(["run", "x"]);
        const seen = await inBlock(user, running);
        running.kill(signal);
        const { code, stdout, stderr } = await running.ended;
        assert.deepEqual([code, stdout], [130, ""]);
        assert.match(stderr, /^vis: Cancelled in step 2;/m);
        assert.deepEqual(await survivors(seen), []);
        assert.deepEqual(await leftFolders(user), []);
        const { branch, queries } = await user.queries();
        assert.deepEqual(queries.map(({ status, reason, running }) => [status, reason, running]), [
          ["interrupted", "cancelled", false],
        ]);
        const { iterations, names } = await user.look(async (store) => ({
          iterations: await store.iterations(queries[0]?.queryId ?? ""),
          names: (await store.variables(branch.branchId)).map(({ name }) => name),
        }));
        assert.deepEqual(iterations.map(({ status }) => status), ["done", "interrupted"]);
        assert.ok(names.includes("kept"));
        if (signal === "SIGINT") assert.equal((await user.run(["run", "-c", "and now?"])).stdout, "7\n");
      }, { reply: [replyJson("const kept = 7"), replyJson(ENDLESS), final("{{kept}}")] });
    await together(t, {
      "SIGINT in a block": stops("SIGINT"),
      "SIGTERM in a block": stops("SIGTERM"),
      "SIGHUP in a block": stops("SIGHUP"),
      "SIGINT while the model thinks": withUser(async (user) => {
        const running = user.start(["run", "--output", "jsonl", "x"]);
        await running.until("request", () => user.mock.requests.length === 1);
        running.kill("SIGINT");
        assert.equal((await running.ended).code, 130);
        assert.equal(checkEvents(running.stdout).at(-1)?.type, "cancelled");
        await user.mock.waitForLeft(1);
        assert.equal((await user.queries()).queries[0]?.reason, "cancelled");
      }, { reply: { fault: "no_token" } }),
      "SIGINT while the server is silent, json": withUser(async (user) => {
        const running = user.start(["run", "--output", "json", "x"]);
        await running.until("request", () => user.mock.requests.length === 1);
        running.kill("SIGINT");
        const { code, stdout } = await running.ended;
        const { status, reason } = JSON.parse(stdout);
        assert.deepEqual([code, status, reason], [130, "interrupted", "cancelled"]);
      }, { reply: { fault: "no_headers" } }),
      "SIGINT before the query begins": withUser(async (user) => {
        const running = user.start(["run"], { shell: 'sleep 30 | "$@"' });
        await new Promise((resolve) => setTimeout(resolve, 100));
        const below = descendants(running.pid);
        for (const { pid } of below) {
          try {
            Deno.kill(pid, "SIGINT");
          } catch (error) {
            // The process ended with the one before it.
            if (!(error instanceof Deno.errors.NotFound)) throw error;
          }
        }
        const { code, stdout } = await running.ended;
        assert.deepEqual([code !== 0, stdout], [true, ""]);
        assert.deepEqual(await survivors(below), []);
      }, {}),
    });
  });

  launched(launcher, "vis run ends quietly when nobody reads its output", async (t) => {
    const lines = Array.from({ length: 20_000 }, (_, at) => `line ${at}`).join("\n");
    await together(t, {
      "an answer": withUser(async (user) => {
        const ran = await user.run(["run", "x"], { shell: '"$@" | head -c 1' });
        assert.deepEqual([ran.stdout, ran.signal], ["l", null]);
        assert.equal((await user.queries()).queries[0]?.status, "done");
      }, { reply: { text: final(lines), chunk: 4_000 } }),
      "events: the query is cancelled": withUser(async (user) => {
        const ran = await user.run(["run", "--output", "jsonl", "x"], {
          shell: '{ "$@"; echo "code $?" >&2; } | head -c 1',
        });
        assert.equal(ran.stdout, "{");
        assert.match(ran.stderr, /^code 141$/m);
        assert.deepEqual(await leftFolders(user), []);
        assert.deepEqual((await user.queries()).queries.map(({ reason }) => reason), ["cancelled"]);
      }, { reply: replyJson("1 + 1", { final: "Nobody will know" }) }),
      "progress": withUser(async (user) => {
        const ran = await user.run(["run", "x"], { shell: '{ "$@" 2>&1 >&3 | head -c 1 >&2; } 3>&1' });
        assert.deepEqual([ran.stdout, ran.stderr], ["Here I am\n", "v"]);
      }, { reply: [replyJson("1 + 1"), final("Here I am")] }),
      "help": withUser(async (user) => {
        assert.equal((await user.run(["help"], { shell: '"$@" | head -c 1' })).stdout.length, 1);
      }, {}),
    });
  });

  launched(launcher, "vis run -c after kill -9 in a block goes on from the last finished iteration", async () => {
    await using user = await User.make(launcher, {
      reply: [
        replyJson("const list = [1]\nfunction size() { return list.length }", { thinking: "first step" }),
        replyJson("list.push(2)", { thinking: "second step" }),
        replyJson(`list.push(3)\nconst halfway = true\n${ENDLESS}`, { thinking: "third step" }),
        replyJson("const now = [size(), typeof halfway, typeof begun].join()", { final: "now" }),
      ],
    });
    const running = user.start(["run", "work"]);
    const seen = await inBlock(user, running);
    running.kill("SIGKILL");
    assert.equal((await running.ended).signal, "SIGKILL");
    assert.deepEqual(await survivors(seen), []);

    const next = await user.run(["run", "-c", "go on"]);
    assert.deepEqual([next.code, next.stdout], [0, "2,undefined,undefined\n"], next.stderr);
    assert.match(next.stderr, /^The last request was interrupted: .*2 finished steps are kept/m);
    const { queries } = await user.queries();
    assert.deepEqual(queries.map(({ status, reason }) => [status, reason]), [
      ["interrupted", "process_lost"],
      ["done", "answered"],
    ]);
    const iterations = await user.look((store) => store.iterations(queries[0]?.queryId ?? ""));
    assert.deepEqual(iterations.map(({ status, thinking }) => [status, thinking]), [
      ["done", "first step"],
      ["done", "second step"],
      ["interrupted", "third step"],
    ]);
    assert.equal(iterations[1]?.blocks[0]?.code, "list.push(2)");
    assert.match(user.mock.requests[3]?.context ?? "", /second step[\s\S]*third step|third step/);
    assert.deepEqual(await user.look((store) => store.check()), []);
  });

  launched(launcher, "vis run survives kill -9 of its sandbox in a block", async () => {
    await using user = await User.make(launcher, {
      reply: [
        replyJson("const list = [1]\nclass Box { constructor(public n: number) {} }\nconst box = new Box(5)"),
        replyJson(["list.push(2)", ENDLESS, "list.push(3)"]),
        replyJson("const now = [list.join('+'), box instanceof Box, box.n, typeof begun].join()", { final: "now" }),
      ],
    });
    const running = user.start(["run", "work"]);
    const seen = await inBlock(user, running);
    for (const { pid } of seen) Deno.kill(pid, "SIGKILL");
    const { code, stdout, stderr } = await running.ended;
    assert.deepEqual([code, stdout], [0, "1+2+3,true,5,undefined\n"], stderr);
    // The mark appears as a finished call, or as code if the answer of the call had not arrived.
    assert.match(stderr, /(✓ wrote mark .*\n +✗|✗ .*mark.*\n) +SandboxEnded: .*killed/);
    assert.match(user.mock.requests[2]?.context ?? "", /<journal>[\s\S]*(killed|ended|gone)[\s\S]*<\/journal>/i);
    assert.deepEqual(await leftFolders(user), []);
  });
}
