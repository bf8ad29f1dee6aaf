import assert from "node:assert/strict";
import shell from "../../../extensions/shell/mod.ts";
import { Job, JobInput, Jobs, jobsOf, runningIn } from "../../../extensions/shell/jobs.ts";
import type { Spawned, SpawnOptions } from "../../../src/extension/spawn_types.ts";

const ENDED: Spawned = {
  code: 0,
  signal: null,
  stdout: "",
  stderr: "",
  ms: 1,
  timedOut: false,
  truncated: false,
  notes: [],
};

class Program {
  readonly #end = Promise.withResolvers<Spawned>();
  options: SpawnOptions = {};
  readonly spawn = (options: SpawnOptions): Promise<Spawned> => {
    this.options = options;
    options.stop?.addEventListener("abort", () => this.end({ ...ENDED, code: 143, signal: "SIGTERM" }));
    return this.#end.promise;
  };

  print(text: string): void {
    this.options.onOutput?.("stdout", new TextEncoder().encode(text));
  }

  end(ended: Spawned | Error): void {
    if (ended instanceof Error) this.#end.reject(ended);
    else this.#end.resolve(ended);
  }
}

function started(jobs: Jobs): { readonly program: Program; readonly job: Job } {
  const program = new Program();
  return { program, job: jobs.add((id) => new Job({ id, command: "serve" }, program.spawn)) };
}

Deno.test("the input of a command that does not read it is bounded", async () => {
  const jobs = new Jobs();
  const input = new JobInput();
  jobs.add((id) => new Job({ id, command: "serve", input }, new Program().spawn));
  const large = /Cannot write to c1: the text has 1048577 bytes, and the limit is 1048576; write it in parts/;
  assert.throws(() => jobs.write("c1", "x".repeat((1 << 20) + 1), { end: false }), large);
  jobs.write("c1", "x".repeat(1 << 20), { end: false });
  const full = /Cannot write to c1: it has not read the earlier input, and Vis keeps at most 1 MiB/;
  assert.throws(() => jobs.write("c1", "x", { end: false }), full);
  await input.stream.getReader().read();
  jobs.write("c1", "x", { end: true });
  assert.throws(() => jobs.write("c1", "y", { end: false }), /Cannot write to c1: its input has ended/);
});

Deno.test("Jobs.read() returns new output, and the code once the command has ended", async () => {
  const jobs = new Jobs();
  const { program, job } = started(jobs);
  assert.equal(program.options.lifetime, "conversation");
  program.print("one\n");
  program.print("two\n");
  const first = await jobs.read(job.id, {});
  assert.deepEqual([first.running, first.code, first.output, first.left], [true, null, "one\ntwo\n", 0]);
  assert.equal((await jobs.read(job.id, {})).output, "");
  program.print("three");
  program.end({ ...ENDED, code: 3, notes: ["a note"] });
  await Promise.resolve();
  const last = await jobs.read(job.id, { waitMs: 1000 });
  assert.deepEqual([last.running, last.code, last.output, last.notes], [false, 3, "three", ["a note"]]);
  const read = shell.symbols?.find(({ name }) => name === "read");
  assert.ok(read?.kind === "function");
  const told: readonly string[] = read.returns.match(/\w+/g) ?? [];
  assert.deepEqual(Object.keys(last).filter((key) => !told.includes(key)), []);
});

Deno.test("Jobs.read() waits for the rest of a character", async () => {
  const jobs = new Jobs();
  const { program, job } = started(jobs);
  const [first = 0, second = 0] = new TextEncoder().encode("é");
  program.options.onOutput?.("stdout", Uint8Array.of(first));
  const reading = jobs.read(job.id, { waitMs: 60_000 });
  program.options.onOutput?.("stdout", Uint8Array.of(second));
  assert.equal((await reading).output, "é");
  program.end(ENDED);
});

Deno.test("Jobs.read() waits for new output, for a text, and at most for its time limit", async () => {
  const jobs = new Jobs();
  const { program, job } = started(jobs);
  const something = jobs.read(job.id, { waitMs: 60_000 });
  program.print("starting\n");
  assert.equal((await something).output, "starting\n");
  const text = jobs.read(job.id, { waitMs: 60_000, until: "listening" });
  program.print("list");
  program.print("ening on 1\n");
  assert.equal((await text).output, "listening on 1\n");
  assert.equal((await jobs.read(job.id, { waitMs: 5, until: "never" })).output, "");
  const given = new AbortController();
  const abandoned = jobs.read(job.id, { waitMs: 60_000, signal: given.signal });
  given.abort(new Error("Block is over"));
  await assert.rejects(abandoned, /Block is over/);
  assert.ok(job.running);
  const end = jobs.read(job.id, { waitMs: 60_000, until: "never" });
  program.end(ENDED);
  assert.equal((await end).running, false);
});

Deno.test("Jobs.read() limits the memory for a flood, and reports the dropped output", async () => {
  const jobs = new Jobs();
  const { program, job } = started(jobs);
  for (let at = 0; at < 100; at++) program.print("x".repeat(10_000));
  const { output, missed, left } = await jobs.read(job.id, {});
  assert.deepEqual([output.length, missed, left], [65_536, 1_000_000 - 262_144, 262_144 - 65_536]);
});

Deno.test("Jobs.stop() ends a command, and lists the known ids for an unknown one", async () => {
  const jobs = new Jobs();
  const { program, job } = started(jobs);
  program.print("bye");
  const { running, code, signal, output } = await jobs.stop(job.id);
  assert.deepEqual([running, code, signal, output], [false, 143, "SIGTERM", "bye"]);
  await assert.rejects(
    jobs.read("c9", {}),
    /Cannot find command c9: no command has this id; choose one of c1 \(serve\)/,
  );
});

Deno.test("Jobs.read() throws the reason why no program ran, and forgets it", async () => {
  const jobs = new Jobs();
  const { program, job } = started(jobs);
  program.end(new Error("Cannot run x: it is not there"));
  await assert.rejects(jobs.read(job.id, { waitMs: 1000 }), /Cannot run x: it is not there/);
  await assert.rejects(jobs.read(job.id, {}), /no command has this id; shell\.list\(\) is empty/);
});

Deno.test("Jobs.add() bounds how many run and how many that ended are kept", async () => {
  const jobs = new Jobs();
  const made = Array.from({ length: 8 }, () => started(jobs));
  assert.throws(
    () => started(jobs),
    /Cannot start another command: 8 commands are running, the limit; stop.* c5 \(serve\), c6 \(serve\), c7 \(serve\), c8 \(serve\)/,
  );
  for (const { program } of made) program.end(ENDED);
  await jobs.read("c8", { waitMs: 1000 });
  for (let at = 0; at < 20; at++) {
    const { program, job } = started(jobs);
    program.end(ENDED);
    await jobs.read(job.id, { waitMs: 1000 });
  }
  assert.equal(jobs.all.length, 9);
});

Deno.test("jobsOf() separates conversations, and forgets a closed one", () => {
  const end = new AbortController();
  const { program } = started(jobsOf({ envId: "with one", closed: end.signal }));
  assert.equal(runningIn("with one").length, 1);
  assert.equal(runningIn("another").length, 0);
  end.abort();
  assert.equal(runningIn("with one").length, 0);
  program.end(ENDED);
});

Deno.test("Jobs.lost() leaves out commands that another living process of Vis runs, and numbers new ones above them", async () => {
  await using other = new Deno.Command("sleep", { args: ["60"], stdin: "null" }).spawn();
  const ended = new Deno.Command("true").spawn();
  await ended.status;
  const entry = (command: string, pid?: number) => ({ command, branchId: "b", ...pid === undefined ? {} : { pid } });
  const kept = new Map<string, unknown>([
    ["running/c1", entry("of a killed process", ended.pid)],
    ["running/c4", entry("of a living process", other.pid)],
    ["running/c2", entry("of this process, which closed the conversation", Deno.pid)],
    ["running/c3", entry("of an earlier version")],
  ]);
  const store = {
    list: () => Promise.resolve([...kept.keys()].map((key) => ({ key }))),
    get: (key: string) => Promise.resolve(kept.get(key)),
  };
  const jobs = new Jobs();
  const lost = await jobs.lost({ store, branchId: "b" } as unknown as Parameters<Jobs["lost"]>[0]);
  assert.deepEqual(lost.map(({ id }) => id).sort(), ["c1", "c2", "c3"]);
  const { spawn } = new Program();
  assert.equal(jobs.add((id) => new Job({ id, command: "new" }, spawn)).id, "c5");
});
