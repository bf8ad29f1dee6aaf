import assert from "node:assert/strict";
import { noPostgres, type Postgres, startPostgres } from "../../helpers/postgres.ts";
import { replyJson } from "../../helpers/scripted_provider.ts";
import type { MockReply, MockRequest } from "../../helpers/wires/openai_mock.ts";
import type { Launcher } from "../_launcher.ts";
import { client, urlOf } from "../helpers/server.ts";
import { eventsUntil } from "../helpers/events_until.ts";
import { launched } from "../helpers/together.ts";
import { type Running, User } from "../helpers/user.ts";

const TOKEN = "a-token-of-this-test";
const STREAM = { accept: "text/event-stream" };

/** A model whose calls can be held. "say x 2" is the second iteration of the request "say x". */
class Model {
  readonly calls: { readonly name: string; readonly context: string }[] = [];
  readonly #held = new Map<string, PromiseWithResolvers<void>>();
  readonly #seen = new Map<string, PromiseWithResolvers<void>>();

  readonly answer = async ({ texts }: MockRequest): Promise<MockReply> => {
    const request = /(?:say|ask) \w+/.exec(texts[1] ?? "")?.[0] ?? "";
    const context = texts.at(-1) ?? "";
    const iteration = Number(/iter (\d+)/.exec(context)?.[1] ?? 1);
    const name = `${request} ${iteration}`;
    this.calls.push({ name, context });
    of(this.#seen, name).resolve();
    await this.#held.get(name)?.promise;
    const word = JSON.stringify(request.split(" ").at(-1));
    // This call waits for a message.
    if (name.startsWith("say until") && iteration > 1 && !context.includes("French")) return { text: replyJson("1") };
    if (iteration > 1) return { text: replyJson('var said = list.join("+")', { final: "{{said}}" }) };
    const code = `var list = [...(typeof list === "undefined" ? [] : list), ${word}]`;
    return { text: replyJson(code) };
  };

  /** Holds calls of this name until they are released. */
  hold(name: string): void {
    of(this.#held, name);
  }

  letGo(name: string): void {
    this.#held.get(name)?.resolve();
    this.#held.delete(name);
  }

  async asked(name: string): Promise<void> {
    await of(this.#seen, name).promise;
  }

  count(name: string): number {
    return this.calls.filter((call) => call.name === name).length;
  }
}

function of(all: Map<string, PromiseWithResolvers<void>>, name: string): PromiseWithResolvers<void> {
  const known = all.get(name) ?? Promise.withResolvers<void>();
  all.set(name, known);
  return known;
}

interface Started {
  readonly running: Running;
  readonly ask: ReturnType<typeof client>;
}

interface Rig {
  readonly model: Model;
  readonly start: () => Promise<Started>;
  readonly conversation: (node: Started) => Promise<string>;
}

function end(running: Running): void {
  try {
    running.kill("SIGKILL");
  } catch {
    // The node has ended.
  }
}

export function nodesSuite(launcher: Launcher): void {
  const missing = launcher.missing || noPostgres;
  const postgres: Promise<Postgres | null> = missing === "" ? startPostgres() : Promise.resolve(null);
  const test = (name: string, work: (rig: Rig) => Promise<void>): void =>
    launched({ ...launcher, missing }, name, async () => {
      const model = new Model();
      await using user = await User.make(launcher, { handler: model.answer });
      const url = await (await postgres)?.createDatabase() ?? assert.fail();
      const started: Running[] = [];
      const start = async (): Promise<Started> => {
        const env = { VIS_TOKEN: TOKEN, VIS_DATABASE_URL: url, VIS_LOG: "warn" };
        const running = user.start(["serve", "--port", "0"], { env });
        started.push(running);
        return { running, ask: client(await urlOf(running), TOKEN) };
      };
      const conversation = async ({ ask }: Started): Promise<string> => {
        const { conversationId } = await (await ask("/api/v1/conversations", { title: "t" })).json();
        return `/api/v1/conversations/${conversationId}`;
      };
      try {
        await work({ model, start, conversation });
      } finally {
        for (const running of started) end(running);
        await Promise.all(started.map(({ over }) => over));
      }
    });

  test("a node that is killed is replaced: another one continues the same query", async (rig) => {
    const { model } = rig;
    const one = await rig.start();
    const path = await rig.conversation(one);
    model.hold("say two 2");
    const stream = await one.ask(`${path}/messages`, { request: "say two" }, STREAM);
    const seen = await eventsUntil(stream, ({ type, iteration }) => type === "iteration_started" && iteration === 2);
    await model.asked("say two 2");
    const two = await rig.start();
    one.running.kill("SIGKILL");
    await one.running.over;
    model.letGo("say two 2");
    const last = seen.at(-1) ?? assert.fail();
    const rest = await two.ask(`${path}/queries/${last.data.queryId}/events`, undefined, { "last-event-id": last.id });
    const events = [...seen, ...await eventsUntil(rest)].map(({ data }) => data);
    assert.deepEqual(events.map(({ seq }) => seq), events.map((_, at) => at + 1), "no event is missing or repeated");
    const end = events.at(-1);
    assert.ok(end?.type === "final");
    assert.deepEqual([end.result.answer, end.queryId], ["two", last.data.queryId]);
    assert.deepEqual([model.count("say two 1"), model.count("say two 2")], [1, 2]);
    const { items } = await (await two.ask(`${path}/queries`)).json();
    assert.deepEqual(items.map(({ status }: { readonly status: string }) => status), ["done"]);
    const metrics = await (await two.ask("/metrics")).text();
    assert.match(metrics, /^vis_takeovers_total 1$/m);
    assert.match(metrics, /^vis_queue_depth 0$/m);
  });

  test("a node that stops hands its queries over: nothing is repeated or lost", async (rig) => {
    const { model } = rig;
    const one = await rig.start();
    const path = await rig.conversation(one);
    model.hold("say on 1");
    const stream = await one.ask(`${path}/messages`, { request: "say on" }, STREAM);
    await model.asked("say on 1");
    const two = await rig.start();
    one.running.kill("SIGTERM");
    await one.running.until("word that it stops", () => one.running.stderr.includes("shutting down"));
    model.letGo("say on 1");
    const events = (await eventsUntil(stream)).map(({ data }) => data);
    assert.deepEqual(events.map(({ seq }) => seq), events.map((_, at) => at + 1));
    const end = events.at(-1);
    assert.ok(end?.type === "final");
    assert.equal(end.result.answer, "on");
    assert.deepEqual(model.calls.map(({ name }) => name), ["say on 1", "say on 2"]);
    assert.equal((await one.running.over).code, 0);
    assert.match(await (await two.ask("/metrics")).text(), /^vis_takeovers_total 0$/m);
  });

  test("requests of a conversation run in order on any node, each once for its key", async (rig) => {
    const { model } = rig;
    const [one, two] = [await rig.start(), await rig.start()];
    const path = await rig.conversation(one);
    model.hold("say a 1");
    const post = (at: Started, request: string, more: object = {}, headers = {}) =>
      at.ask(`${path}/messages`, { request, ...more }, headers);
    const no = (sent: Promise<Response>) => (sent.catch(() => {}), sent);
    const a = no(post(one, "say a"));
    await model.asked("say a 1");
    assert.equal((await post(two, "say x", { whenBusy: "refuse" })).status, 409);
    const key = { "idempotency-key": "the-key" };
    const b = no(post(two, "say b", { whenBusy: "wait" }, key));
    const answers = [one, two].map(({ ask }) => ask(`${path}/messages`, { request: "say x", whenBusy: "refuse" }));
    assert.deepEqual((await Promise.all(answers)).map(({ status }) => status), [409, 409]);
    model.letGo("say a 1");
    assert.equal((await (await a).json()).answer, "a");
    assert.equal((await (await b).json()).answer, "a+b");
    assert.equal((await (await post(one, "say b", { whenBusy: "wait" }, key)).json()).answer, "a+b");
    assert.equal(model.count("say b 1"), 1);
  });

  test("messages, answers and cancels reach the node that runs a query from any other", async (rig) => {
    const { model } = rig;
    const [one, two] = [await rig.start(), await rig.start()];
    const path = await rig.conversation(one);
    const until = one.ask(`${path}/messages`, { request: "say until", maxIterations: 500 });
    await model.asked("say until 1");
    assert.equal((await two.ask(`${path}/messages`, { request: "say it in French", whenBusy: "steer" })).status, 202);
    assert.equal((await (await until).json()).answer, "until");
    assert.match(model.calls.at(-1)?.context ?? "", /say it in French/);
    model.hold("say b 1");
    const b = one.ask(`${path}/messages`, { request: "say b" });
    await model.asked("say b 1");
    assert.deepEqual(await (await two.ask(`${path}/cancel`, {})).json(), { cancelled: 1 });
    assert.equal((await (await b).json()).reason, "cancelled");
    assert.deepEqual(await (await two.ask(`${path}/cancel`, {})).json(), { cancelled: 0 });
  });
}
