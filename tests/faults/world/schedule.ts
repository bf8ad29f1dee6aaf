import { type Actor, canBeApart, client, command, type Ongoing } from "./actor.ts";
import { Expected } from "./expected.ts";
import { type Said, saidByRun } from "./said.ts";
import { Service } from "./service.ts";
import { requestOf } from "./token_model.ts";
import { Stop } from "./trial.ts";
import { viewOf } from "./view_of.ts";
import { shortened, type World } from "./world.ts";

export interface ScheduleOptions {
  readonly servers: number;
  readonly commands?: boolean;
}

export class Schedule {
  readonly branches: Expected[] = [];
  readonly services: Service[] = [];
  #group = 0;
  #keys = 0;
  #apart = false;

  protected constructor(readonly world: World, readonly commands: boolean) {}

  static async begin(world: World, { servers, commands = true }: ScheduleOptions): Promise<Schedule> {
    const schedule = new Schedule(world, commands);
    schedule.#apart = await canBeApart();
    for (const name of ["server A", "server B"].slice(0, servers)) {
      const service = new Service(world, name);
      await service.start();
      schedule.services.push(service);
    }
    await schedule.#converse();
    return schedule;
  }

  async end(): Promise<void> {
    for (const branch of this.branches) {
      await this.check(branch, null);
      if (this.services[0]) await this.check(branch, this.services[0]);
      await this.#checkVersions(branch);
    }
    for (const service of this.services) await service.end("SIGTERM");
    const { code, stdout } = await this.world.run(["db", "check"]);
    if (code !== 0) this.world.trial.found("half", `vis db check ended with ${code}: ${shortened(stdout)}`);
  }

  async #converse(): Promise<void> {
    const { trial } = this.world;
    const { random } = trial;
    const [service] = this.services;
    if (service && (!this.commands || random.chance(0.5))) {
      const { branchId } = await service.read("conversations", { title: "Trial" });
      this.branches.push(new Expected(branchId));
      trial.note("0. conversation by server A");
      return;
    }
    const token = this.world.token();
    const ran = await this.world.run(["run", "--json", requestOf(token, 1)]);
    const said = saidByRun(ran);
    if (said.how !== "done") throw new Error(`No conversation: ${JSON.stringify(ran)}`);
    const shown = await this.world.run(["conversations", "show", JSON.parse(ran.stdout).conversationId, "--json"]);
    const branch = new Expected(JSON.parse(shown.stdout).branchId);
    trial.note(`0. conversation by run: ${said.answer}`);
    this.settle(branch, { token, parts: 1 }, said);
    this.branches.push(branch);
  }

  get branch(): Expected {
    return this.world.trial.random.pick(this.branches);
  }

  /** Whether -c means the only branch. A branch without a query does not count. */
  get #hasOne(): boolean {
    return this.branches.length === 1 && this.branches.some(({ turns }) => turns.some(({ answer }) => answer !== null));
  }

  get signals(): "SIGINT" | "SIGTERM" {
    return this.world.trial.random.pick(["SIGINT", "SIGTERM"]);
  }

  request(): { readonly token: string; readonly parts: number } {
    return { token: this.world.token(), parts: 1 + this.world.trial.random.below(3) };
  }

  /** Later turns come after the turns of this group. */
  nextGroup(): void {
    this.#group++;
  }

  /** Returns a client that may ask now. It does not use the server `other`. With `apart`, it may be a command in a
   * namespace. */
  actor({ other, apart = true }: { readonly other?: Service | null; readonly apart?: boolean } = {}): Actor {
    const { random } = this.world.trial;
    const servers = this.services.filter((one) => one.up && one !== other);
    if (servers.length === 0 || this.commands && random.chance(0.45)) {
      return command(this.world, {
        apart: apart && this.#apart && random.chance(0.25),
        newest: this.#hasOne && random.chance(0.3),
        signals: this.signals,
      });
    }
    return client(random.pick(servers), {
      stream: random.chance(0.4),
      key: random.chance(0.5) ? `k${++this.#keys}` : null,
      whenBusy: random.chance(0.3) ? "wait" : "refuse",
    });
  }

  settle(branch: Expected, { token, parts }: { readonly token: string; readonly parts: number }, said: Said): void {
    if (said.how === "refused") {
      branch.refused.add(token);
      // A command also reports how the query before ended, which is true of an interrupted one.
      const before = branch.turns.findLast(({ group }) => group !== this.#group);
      if (before?.answer !== null && /was interrupted/.test(said.text)) {
        this.world.trial.found("unclear", `${token} was refused because a query runs, with "${shortened(said.text)}"`);
      }
      return;
    }
    const answer = said.how === "done" ? said.answer : null;
    const known = branch.turns.find((turn) => turn.token === token);
    if (known) known.answer = answer ?? known.answer;
    else branch.turns.push({ token, parts, group: this.#group, answer, kept: null });
    if (said.how === "failed") {
      this.world.trial.found("unclear", `${requestOf(token, parts)} failed, with nothing in its way: ${said.text}`);
    }
  }

  /** Compares a branch with its expected content, through a server that is up, or by commands. */
  async check(branch: Expected, through?: Service | null): Promise<void> {
    const { trial } = this.world;
    const any = trial.random.pick([...this.services.filter(({ up }) => up), null]);
    const service = (through === undefined ? any : through) ?? undefined;
    const view = await this.#settled(branch, service);
    trial.note(`   ${service?.name ?? "vis vars"} ${branch.id.slice(-6)}: [${view.log.join(" ")}]`);
    for (const { word, what } of branch.compare(view)) trial.found(word, `branch ${branch.id.slice(-6)}: ${what}`);
  }

  /** The process of a running query may be gone. The query ends when a process opens the database, and a server may
   * show it as running until then. */
  async #settled(branch: Expected, service: Service | undefined): ReturnType<typeof viewOf> {
    const view = await viewOf(branch.id, { world: this.world, service });
    if (!service || !view.queries.some(({ running }) => running)) return view;
    return await viewOf(branch.id, { world: this.world });
  }

  /** Each version of the list must be the one before with an addition at its end. */
  async #checkVersions(branch: Expected): Promise<void> {
    const args = ["vars", "--history", "log", "--json", "--limit", "1000", "--conversation", branch.id];
    const { code, stdout } = await this.world.run(args);
    const versions: { readonly value: readonly string[] }[] = code === 0 ? JSON.parse(stdout) : [];
    const texts = versions.map(({ value }) => value.map((entry) => `${entry} `).join(""));
    const at = texts.findIndex((text, n) => n > 0 && !text.startsWith(texts[n - 1] ?? ""));
    if (at === -1) return;
    const what = `branch ${branch.id.slice(-6)}: version ${at} of log is [${texts[at - 1]}], the next one [${
      texts[at]
    }]`;
    this.world.trial.found("lost", what);
  }

  /** Checks that another process shows a running query as running. */
  async checkRunning(
    branch: Expected,
    { token, ongoing }: { readonly token: string; readonly ongoing: Ongoing },
  ): Promise<void> {
    const { trial } = this.world;
    const others = this.services.filter((one) => one.up && one.running !== ongoing.running);
    const service = trial.random.pick([...others, null]) ?? undefined;
    const { queries } = await viewOf(branch.id, { world: this.world, service });
    const query = queries.find(({ text }) => text.startsWith(`turn ${token} `));
    if (query?.running) return;
    const shown = query ? `${query.status} (${query.reason})` : "not there";
    trial.found("unclear", `${token} runs, and ${service?.name ?? "vis conversations show"} says that it is ${shown}`);
  }

  async quiet(branch: Expected, service: Service): Promise<void> {
    const { trial } = this.world;
    await trial.within(`the query that a client left on ${service.name}`, this.#quiet(branch, service));
  }

  async #quiet(branch: Expected, service: Service): Promise<void> {
    for (;;) {
      const { items } = await service.read(`conversations/${branch.id}/queries`);
      if (!items.some(({ running }: { readonly running: boolean }) => running)) return;
      if (this.world.trial.findings.some(({ word }) => word === "hung")) throw new Stop("Hung");
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
