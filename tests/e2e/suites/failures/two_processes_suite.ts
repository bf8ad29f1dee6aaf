import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { replyJson } from "../../../helpers/scripted_provider.ts";
import type { MockReply, MockRequest } from "../../../helpers/wires/openai_mock.ts";
import { descendants } from "../../helpers/processes.ts";
import type { Launcher } from "../../_launcher.ts";
import { launched } from "../../helpers/together.ts";
import { type Running, User } from "../../helpers/user.ts";
import { archiveOf } from "../../../helpers/archive_of.ts";

const TOKEN = "a-token-of-this-test";
const KEY = { "idempotency-key": "the-key" };

const PROBE = new Deno.Command("unshare", {
  args: ["--pid", "--fork", "--mount-proc", "true"],
  stderr: "null",
});
const NAMESPACES = await Promise.try(() => PROBE.output()).then(({ success }) => success, () => false);

/** A model that adds the last word of a request to `list`. A request with the word "slowly" has two iterations, and the
 * second waits until `go` is called. */
class Model {
  readonly #go = Promise.withResolvers<void>();
  readonly asked: string[] = [];

  readonly answer = async ({ texts }: MockRequest): Promise<MockReply> => {
    const request = /say(?: slowly)? \w+/.exec(texts[1] ?? "")?.[0] ?? "";
    const word = request.split(" ").at(-1);
    const code = `var list = [...(typeof list === "undefined" ? [] : list), ${JSON.stringify(word)}]`;
    const before = this.asked.filter((one) => one === request).length;
    this.asked.push(request);
    if (!request.includes("slowly")) return { text: replyJson(code, { final: "{{list}}" }) };
    if (before === 0) return { text: replyJson(code) };
    if (before === 1) await this.#go.promise;
    return { text: replyJson("var seen = list.length", { final: `said {{seen}}` }) };
  };

  go(): void {
    this.#go.resolve();
  }
}

interface Rig {
  readonly user: User;
  readonly model: Model;
  serve(): Promise<Server>;
  versions(): Promise<readonly unknown[]>;
}

class Server {
  readonly #url: string;
  readonly running: Running;

  constructor(running: Running, url: string) {
    this.running = running;
    this.#url = url;
  }

  async ask(path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return await fetch(new URL(`api/v1/conversations${path}`, this.#url), {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  async conversation(): Promise<string> {
    return (await (await this.ask("", { title: "of several" })).json()).conversationId;
  }
}

async function withRig(launcher: Launcher, work: (rig: Rig) => Promise<void>): Promise<void> {
  const model = new Model();
  await using user = await User.make(launcher, { handler: model.answer });
  const servers: Running[] = [];
  const serve = async (): Promise<Server> => {
    const running = user.start(["serve", "--port", "0"], { env: { VIS_TOKEN: TOKEN } });
    servers.push(running);
    await running.until("URL", () => running.stdout.includes("\n"));
    return new Server(running, running.stdout.split("\n")[0] ?? "");
  };
  const versions = (): Promise<readonly unknown[]> =>
    user.look(async (store) => {
      const branch = await store.latestConversation(user.workspace);
      const found = await store.variableVersions(branch?.branchId ?? "", "list");
      return found.map(({ image: { summary } }) => JSON.parse(summary.inline ?? "null"));
    });
  try {
    await work({ user, model, serve, versions });
  } finally {
    model.go();
    for (const running of servers) tryKill(running);
    await Promise.all(servers.map(({ ended }) => ended));
  }
}

function tryKill(running: Running): void {
  try {
    running.kill("SIGKILL");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // The process has ended.
  }
}

/** Makes the owner of the lease look silent for a long time, in a namespace whose processes are invisible here. */
function silence(user: User, space: string): void {
  using db = new DatabaseSync(user.database);
  db.exec(`PRAGMA busy_timeout = 5000; UPDATE lease SET space = ${space}, heartbeat_at = heartbeat_at - 600000`);
}

export function twoProcessesSuite(launcher: Launcher): void {
  launched(launcher, "a server sees what another process did in its conversation between two queries", async () => {
    await withRig(launcher, async ({ user, serve, versions }) => {
      const server = await serve();
      const id = await server.conversation();
      const say = async (word: string) => {
        return await (await server.ask(`/${id}/messages`, { request: `say ${word}` })).json();
      };
      assert.equal((await say("s1")).status, "done");
      const ran = await user.run(["run", "--conversation", id, "say c1"]);
      assert.equal(ran.code, 0, ran.stderr);
      assert.equal((await say("s2")).status, "done");
      assert.deepEqual(await versions(), [["s1"], ["s1", "c1"], ["s1", "c1", "s2"]]);
      const again = await user.run(["conversations", "retry", id]);
      assert.equal(again.code, 0, again.stderr);
      assert.equal((await say("s3")).status, "done");
      assert.deepEqual((await versions()).at(-1), ["s1", "c1", "s2", "s3"]);
    });
  });

  launched(launcher, "a query of another process is running, and never interrupted, for whoever looks", async () => {
    await withRig(launcher, async ({ user, model, serve }) => {
      const running = user.start(["run", "say slowly a"]);
      await running.until("second call", () => model.asked.length === 2);
      const beside = await user.run(["run", "-c", "say b"]);
      assert.deepEqual([beside.code, beside.stdout], [1, ""]);
      assert.match(beside.stderr, /still running in another process/);
      assert.match(beside.stderr, /^vis: Cannot start the request: .*request in this conversation/m);
      assert.doesNotMatch(beside.stderr, /interrupted/);
      const listed = JSON.parse((await user.run(["conversations", "list", "--json"])).stdout);
      assert.equal(listed[0].running, true);
      assert.match((await user.run(["conversations", "list"])).stdout, /· running/);
      const id = listed[0].conversationId;
      const shown = await user.run(["conversations", "show", id]);
      assert.match(shown.stdout, /^still running$/m);
      assert.doesNotMatch(shown.stdout, /interrupted/);
      const [query] = JSON.parse((await user.run(["conversations", "show", id, "--json"])).stdout).queries;
      assert.deepEqual([query.status, query.reason], ["running", null]);
      const server = await serve();
      const detail = await (await server.ask(`/${id}`)).json();
      assert.equal(detail.running, query.queryId);
      const { items } = await (await server.ask(`/${id}/queries`)).json();
      assert.deepEqual([items[0].status, items[0].running], ["running", true]);
      assert.equal((await server.ask(`/${id}/messages`, { request: "say c" })).status, 409);
      const events = (await server.ask(`/${id}/queries/${query.queryId}/events`)).text();
      model.go();
      assert.equal((await running.ended).stdout, "said 1\n");
      assert.match(await events, /event: final\n/);
      assert.equal((await (await server.ask(`/${id}`)).json()).running, null);
    });
  });

  launched(
    launcher,
    "a second server gives the key of a query that the first one runs the outcome of that",
    async () => {
      await withRig(launcher, async ({ model, serve }) => {
        const [one, two] = [await serve(), await serve()];
        const id = await one.conversation();
        const send = async (server: Server) => {
          const response = await server.ask(`/${id}/messages`, { request: "say slowly a" }, KEY);
          return [response.status, await response.json()];
        };
        const first = send(one);
        await one.running.until("second call", () => model.asked.length === 2);
        const second = send(two);
        await two.running.until("look at the queries", async () => (await two.ask(`/${id}/queries`)).ok);
        model.go();
        const [status, result] = await first;
        assert.deepEqual([status, result.status, result.answer], [200, "done", "said 1"]);
        assert.deepEqual((await second)[1], { ...result, ms: (await second)[1].ms });
        assert.deepEqual((await send(two))[1].queryId, result.queryId);
        assert.equal(model.asked.length, 2);
      });
    },
  );

  launched(launcher, "after a crash a key says what is true, and runs the rest where that is asked", async () => {
    await withRig(launcher, async ({ user, model, serve, versions }) => {
      const [one, two] = [await serve(), await serve()];
      const id = await one.conversation();
      const send = async (server: Server, headers = {}) => {
        return await (await server.ask(`/${id}/messages`, { request: "say slowly a" }, { ...KEY, ...headers })).json();
      };
      const first = send(one).catch(() => null);
      await one.running.until("second call", () => model.asked.length === 2);
      await one.running.until("stored iteration", () => hasIteration(user));
      one.running.kill("SIGKILL");
      await one.running.ended;
      await first;
      for (const server of [two, await serve()]) {
        const lost = await send(server);
        assert.deepEqual([lost.status, lost.reason, lost.iterations], ["interrupted", "process_lost", 1]);
      }
      const rest = await send(two, { "x-vis-resume": "true" });
      assert.deepEqual([rest.status, rest.answer], ["done", "said 1"]);
      assert.deepEqual(await versions(), [["a"]]);
      for (const headers of [{}, { "x-vis-resume": "true" }]) {
        assert.equal((await send(two, headers)).queryId, rest.queryId, "it is done once");
      }
      assert.equal(model.asked.length, 3);
    });
  });

  /** `shell` starts the first process. `space` is the later value in its lease (SQL). */
  const takenOver = async ({ shell, space }: { readonly shell: string; readonly space: string }): Promise<void> => {
    await withRig(launcher, async ({ user, model, versions }) => {
      const stopped = user.start(["run", "say slowly a"], { shell });
      await stopped.until("second call", () => model.asked.length === 2);
      await stopped.until("stored iteration", () => hasIteration(user));
      const its = [stopped, ...descendants(stopped.pid)].map(({ pid }) => pid);
      for (const pid of its) Deno.kill(pid, "SIGSTOP");
      const early = await user.run(["run", "-c", "say b"]);
      assert.equal(early.code, 1, early.stderr);
      assert.match(early.stderr, /^vis: Cannot start the request: .*request in this conversation/m);
      silence(user, space);
      const next = await user.run(["run", "-c", "say b"]);
      assert.equal(next.code, 0, next.stderr);
      const before = await pictureOf(user);
      model.go();
      for (const pid of its.toReversed()) Deno.kill(pid, "SIGCONT");
      const { code, stdout, stderr } = await stopped.ended;
      assert.deepEqual([code, stdout], [1, ""], stderr);
      assert.match(stderr, /^vis: Cannot continue request .*: another process ended it or took it over/m);
      assert.deepEqual(await pictureOf(user), before);
      assert.deepEqual(await versions(), [["a"], ["a", "b"]]);
      const last = await user.run(["run", "-c", "say c"]);
      assert.equal(last.stdout, "a, b, c\n", last.stderr);
    });
  };

  launched(
    launcher,
    "a process that was stopped writes nothing once another one took over",
    () => takenOver({ shell: 'exec "$@"', space: "'another'" }),
  );
  const missing = launcher.missing || (NAMESPACES ? "" : "no namespaces of processes can be made");
  launched(
    { ...launcher, missing },
    "a process of another namespace is not looked for by its number, and writes nothing once another one took over",
    () => takenOver({ shell: 'exec unshare --pid --fork --kill-child --mount-proc "$@"', space: "space" }),
  );
}

/** Returns whether the end of an iteration is stored. The model gets its next call before that. */
async function hasIteration(user: User): Promise<boolean> {
  return await user.look(async (store) => {
    const branch = await store.latestConversation(user.workspace);
    const [query] = await store.queries(branch?.branchId ?? "");
    return (query?.iterations ?? 0) > 0;
  });
}

async function pictureOf(user: User): Promise<unknown> {
  return await user.look(async (store) => {
    const branch = await store.latestConversation(user.workspace);
    return await archiveOf(store, branch?.conversationId ?? "");
  });
}
