import type { Launcher } from "../../e2e/_launcher.ts";
import { descendants, type Seen, survivors } from "../../e2e/helpers/processes.ts";
import { client, urlOf } from "../../e2e/helpers/server.ts";
import { type Running, User } from "../../e2e/helpers/user.ts";
import type { Postgres } from "../../helpers/postgres.ts";
import { type Relay, relay } from "../../persistence/postgres/_relayed.ts";
import type { Random } from "../world/random.ts";
import { chaosReply } from "./chaos_model.ts";

const TOKEN = "a-token-of-this-test";
const CONFIG = { server: { requestsPerMinute: 1_000_000, burst: 100_000, shutdownMs: 20_000 }, sandbox: { live: 24 } };
const STOPPED_MS = 9_000;

interface Place {
  readonly running: Running;
  readonly ask: ReturnType<typeof client>;
  down: boolean;
  ends: boolean;
}

export class ChaosCluster implements AsyncDisposable {
  readonly url: string;
  readonly #user: User;
  readonly #postgres: Postgres;
  readonly #relay: Relay;
  readonly #places: Place[] = [];
  readonly #all: Place[] = [];
  readonly #below: Seen[] = [];
  readonly ended: string[] = [];
  readonly faults = new Map<string, number>();

  get started(): number {
    return this.#all.length;
  }

  get processes(): number {
    return this.#below.length;
  }

  protected constructor(
    user: User,
    { postgres, between, url }: { readonly postgres: Postgres; readonly between: Relay; readonly url: string },
  ) {
    this.#user = user;
    this.#postgres = postgres;
    this.#relay = between;
    this.url = url;
  }

  static async start(launcher: Launcher, postgres: Postgres, nodes: number): Promise<ChaosCluster> {
    const user = await User.make(launcher, { handler: chaosReply });
    await Deno.mkdir(user.path("vis"));
    await Deno.writeTextFile(user.path("vis/config.jsonc"), JSON.stringify(CONFIG));
    const cluster = new ChaosCluster(user, {
      ...{ postgres, between: await relay(postgres), url: await postgres.createDatabase() },
    });
    for (let at = 0; at < nodes; at++) cluster.#places.push(await cluster.#start());
    return cluster;
  }

  /** Sends a request to a node that seems to work, as a load balancer does. Rejects if that node is lost meanwhile. */
  async ask(
    random: Random,
    path: string,
    { body, headers = {} }: { readonly body?: unknown; readonly headers?: Readonly<Record<string, string>> } = {},
  ): Promise<Response> {
    for (;;) {
      const up = this.#places.filter(({ down }) => !down);
      if (up.length > 0) return await random.pick(up).ask(path, body, headers);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** Makes one of the parts fail, and waits until the fault is over. Returns its name. */
  async fault(random: Random): Promise<string> {
    const name = random.pick(["kill", "stop", "term", "cut", "hush", "crash", "restart"] as const);
    this.faults.set(name, (this.faults.get(name) ?? 0) + 1);
    await this.#do(name, random);
    return name;
  }

  async #do(name: "kill" | "stop" | "term" | "cut" | "hush" | "crash" | "restart", random: Random): Promise<void> {
    if (name === "cut") return await this.#cut();
    if (name === "hush") return this.#relay.hush();
    if (name === "crash" || name === "restart") {
      await this.#postgres.stop(name === "crash" ? "immediate" : "fast");
      return await this.#postgres.start();
    }
    const place = random.pick(this.#places);
    this.#below.push(...descendants(place.running.pid));
    place.down = true;
    if (name === "stop") {
      Deno.kill(place.running.pid, "SIGSTOP");
      await new Promise((resolve) => setTimeout(resolve, STOPPED_MS));
      Deno.kill(place.running.pid, "SIGCONT");
      place.down = false;
      return;
    }
    this.#tell(place, name === "kill" ? "SIGKILL" : "SIGTERM");
    await place.running.over;
    this.#places.splice(this.#places.indexOf(place), 1, await this.#start());
  }

  /** Ends all nodes. Returns their unexpected output, and processes that they left. */
  async end(): Promise<{ readonly printed: string; readonly left: readonly Seen[] }> {
    for (const place of this.#places) {
      this.#below.push(...descendants(place.running.pid));
      this.#tell(place, "SIGTERM");
    }
    for (const { running } of this.#places) await running.over;
    const printed = this.#all.map(({ running }) => running.stderr).join("");
    return { printed, left: await survivors(this.#below) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const place of this.#all) {
      this.#tell(place, "SIGKILL");
      await place.running.over;
    }
    await this.#relay[Symbol.asyncDispose]();
    await this.#user[Symbol.asyncDispose]();
  }

  #tell(place: Place, signal: Deno.Signal): void {
    place.ends = true;
    try {
      place.running.kill(signal);
    } catch {
      // The process has ended.
    }
  }

  async #cut(): Promise<void> {
    await this.#postgres.sql(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'vis %' AND random() < 0.5",
      this.url,
    );
  }

  async #start(): Promise<Place> {
    const env = { VIS_TOKEN: TOKEN, VIS_DATABASE_URL: this.#relay.url(this.url), VIS_LOG: "error" };
    const running = this.#user.start(["serve", "--port", "0"], { env });
    const place: Place = { running, ask: client(await urlOf(running), TOKEN), down: false, ends: false };
    this.#all.push(place);
    void running.over.then(({ code, signal, stderr }) => {
      if (place.ends && (code === 0 || signal === "SIGKILL")) return;
      this.ended.push(`a node ended by itself with ${signal ?? code}: ${stderr}`);
      place.down = true;
    });
    return place;
  }
}
