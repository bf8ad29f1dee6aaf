import assert from "node:assert/strict";
import fs from "../../extensions/fs/mod.ts";
import rlm from "../../extensions/rlm/mod.ts";
import type { QueryEvent } from "../../src/domain/query/query_schemas.ts";
import { type ModelEvent, type Provider, UNKNOWN_MODEL } from "../../src/providers/provider.ts";
import { openSandbox } from "../../src/sandbox/host/open_sandbox.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { type Picture, pictureOf } from "../helpers/conversation_picture.ts";
import { type Engine, startEngine } from "../helpers/engine.ts";
import { CALL, contextSource, replyBelow, replyOf, REQUESTS, STEPS } from "../helpers/kill_script.ts";
import { buildSandbox } from "../helpers/sandbox.ts";
import { replyJson } from "../helpers/scripted_provider.ts";
import { until } from "../helpers/until.ts";
import { inPlace, type Place } from "./_place.ts";

/** The last block of these steps can be cut. The others have a final that would still be accepted, or fail. */
const CUT = [1, 2, 3, 5, 7, 10, 11];

/** Plays the script. A killed block is sent again, as a model would do. */
class Player {
  readonly #killsAt: (site: string, step: number) => boolean;
  readonly #children: Sandbox[] = [];
  readonly #ending = new Set<Sandbox>();
  #step = 1;
  #again: string[] | null = null;
  #killed: string[] = [];
  #replies = 0;
  #ends = 0;
  kills = 0;

  constructor(killsAt: (site: string, step: number) => boolean) {
    this.#killsAt = killsAt;
  }

  readonly open: typeof openSandbox = async (options, test) => {
    const child = await openSandbox(options, test);
    this.#children.push(child);
    return child;
  };

  readonly provider: Provider = {
    models: () => Promise.resolve(["script"]),
    name: "scripted",
    defaultModel: "script",
    capabilities: () => UNKNOWN_MODEL,
    stream: ({ messages, model }) => this.#stream(messages.slice(0, 2).map(({ text }) => text).join("\n"), model),
  };

  async *#stream(request: string, model: string): AsyncGenerator<ModelEvent> {
    const below = replyBelow(request);
    if (below === null) {
      // The call arrives while the previous iteration is stored, and its end determines the reply.
      await until(() => this.#ends === this.#replies);
      this.#replies++;
      this.#at("request");
    }
    const final = STEPS[this.#step - 1]?.final;
    const again = this.#again && replyJson(this.#again, final === undefined ? {} : { final });
    // A model takes longer than a process needs to notice the end of its child.
    await until(() => this.#children.every((child) => child.ended || !this.#ending.has(child)));
    yield { type: "text", delta: below ?? again ?? replyOf(this.#step) };
    yield { type: "end", usage: { ...CALL, cached: 0, reasoning: 0, calls: 1 }, model, finish: "stop" };
  }

  readonly emit = (event: QueryEvent): void => {
    if (event.parentQueryId !== undefined) return;
    this.#at("block" in event ? `${event.type} ${event.block}` : event.type);
    if (event.type === "block_finished" && event.result.outcome === "killed") {
      this.#killed.push((this.#again ?? STEPS[this.#step - 1]?.blocks ?? [])[event.block] ?? "");
    }
    if (event.type !== "iteration_finished") return;
    this.#ends++;
    this.#again = this.#killed.length > 0 ? this.#killed : null;
    this.#killed = [];
    if (this.#again === null) this.#step++;
  };

  async play(engine: Engine): Promise<void> {
    for (const { text, first } of REQUESTS) {
      const options = { signal: new AbortController().signal, emit: this.emit };
      const given = first === 1 ? { context: contextSource() } : {};
      const { status, answer } = await engine.conversations.ask(engine.branch, text, { ...options, ...given });
      assert.equal(status, "done", answer);
    }
    assert.equal(this.#step, STEPS.length + 1);
  }

  /** Cuts a step once at each site. A repeated block runs to its end. */
  #at(site: string): void {
    if (this.#again !== null || !this.#killsAt(site, this.#step)) return;
    for (const child of this.#children) {
      if (child.ended || this.#ending.has(child)) continue;
      Deno.kill(child.pid, "SIGKILL");
      this.#ending.add(child);
      this.kills++;
    }
  }
}

async function played({ path, workspace }: Place, player: Player): Promise<Picture> {
  const engine = await startEngine([], {
    path,
    workspace,
    extensions: [fs, rlm],
    openSandbox: player.open,
    settings: { budget: 2 * STEPS.length },
    provider: player.provider,
  });
  await player.play(engine);
  await engine.close();
  return (await pictureOf({ path, workspace })).picture;
}

const lastOf = (step: number): number => (STEPS[step - 1]?.blocks.length ?? 0) - 1;

const RUNS: Readonly<Record<string, { readonly kills: number; readonly at: (site: string, step: number) => boolean }>> =
  {
    "when the request is sent": { kills: 10, at: (site) => site === "request" },
    "when the reply is complete": { kills: 4, at: (site, step) => [1, 3, 5, 7, 11].includes(step) && site === "usage" },
    "after its first block": {
      kills: 8,
      at: (site, step) => [...CUT, 12].includes(step) && site === "block_finished 0",
    },
    "after its last block": { kills: 11, at: (site, step) => site === `block_finished ${lastOf(step)}` },
    "when the iteration is stored": { kills: 12, at: (site) => site === "iteration_finished" },
    "under its last block": {
      kills: CUT.length,
      at: (site, step) => CUT.includes(step) && site === `block_started ${lastOf(step)}`,
    },
    "under a host call of its last block": {
      kills: 4,
      at: (site, step) => [2, 5, 10, 11].includes(step) && site === `host_call ${lastOf(step)}`,
    },
  };

Deno.test("a sandbox killed at any point is restored with the variables of the last finished block", async (t) => {
  await buildSandbox();
  let whole: Picture | null = null;
  await inPlace(async (place) => {
    whole = await played(place, new Player(() => false));
  });
  for (const [when, { kills, at }] of Object.entries(RUNS)) {
    await t.step(when, () =>
      inPlace(async (place) => {
        const player = new Player(at);
        const picture = await played(place, player);
        assert.ok(player.kills >= kills, `${player.kills} kills`);
        assert.ok(whole);
        for (const part of ["variables", "answers", "files"] as const) {
          assert.deepEqual(picture[part], whole[part], part);
        }
        // A killed block adds an iteration, and no other block does.
        assert.equal(picture.spent.calls, 14 + picture.spent.iterations - 12);
      }));
  }
});
