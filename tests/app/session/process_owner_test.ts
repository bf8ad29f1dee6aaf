import assert from "node:assert/strict";
import { isAlive, macFacts, OwnProcess, ownSession, thisProcess } from "../../../src/app/session/process_owner.ts";
import { runPermitted } from "../../helpers/run_permitted.ts";

const LINUX = Deno.build.os === "linux";

async function idle(): Promise<Deno.ChildProcess> {
  const child = new Deno.Command("sleep", { args: ["60"], stdin: "null", stdout: "null", stderr: "null" }).spawn();
  await Promise.resolve();
  return child;
}

Deno.test("isAlive() is true for this process, which identifies itself the same way every time", () => {
  assert.deepEqual(thisProcess(), thisProcess());
  assert.equal(thisProcess().pid, Deno.pid);
  assert.equal(isAlive(thisProcess()), true);
});

Deno.test("ownSession() is new each time, and alive until it is closed", () => {
  const [one, other] = [ownSession(), ownSession()];
  assert.equal(new Set([0, one.owner.session, other.owner.session]).size, 3);
  assert.deepEqual({ ...one.owner, session: 0 }, thisProcess());
  one.close();
  assert.deepEqual([one, other].map(({ owner }) => isAlive(owner)), [false, true]);
  other.close();
  assert.equal(isAlive(other.owner), false);
  assert.equal(isAlive(thisProcess()), true);
});

Deno.test("isAlive() is false for a process that has ended", async () => {
  const child = await idle();
  const owner = { ...thisProcess(), pid: child.pid, started: "" };
  assert.equal(isAlive(owner), true);
  child.kill("SIGKILL");
  await child.status;
  assert.equal(isAlive(owner), false);
});

Deno.test({
  name: "isAlive() does not take another process with the same pid for a lost one",
  ignore: !LINUX,
  fn: () => {
    const now = thisProcess();
    assert.match(now.started, /^\d+$/);
    assert.equal(isAlive({ ...now, started: String(Number(now.started) - 1) }), false);
  },
});

Deno.test({
  name: "thisProcess() knows its start time with the permissions of the program",
  ignore: !LINUX,
  fn: async () => {
    const module = import.meta.resolve("../../../src/app/session/process_owner.ts");
    const script =
      `import { isAlive, ownSession, thisProcess } from "${module}"; console.log(isAlive(thisProcess()), thisProcess().started);`;
    const { stdout, stderr } = await runPermitted(script);
    assert.match(stdout, /^true \d+\n$/, stderr);
  },
});

Deno.test({
  name: "isAlive() is false for an ended process that no parent has waited for",
  ignore: !LINUX,
  fn: async () => {
    // The shell starts a process that ends soon, becomes `sleep`, and never waits for that process.
    const args = ["-c", "sleep 0.03 & echo $!; exec sleep 60"];
    const parent = new Deno.Command("sh", { args, stdin: "null", stdout: "piped", stderr: "null" }).spawn();
    const reader = parent.stdout.getReader();
    const { value } = await reader.read();
    const pid = Number(new TextDecoder().decode(value));
    const stat = (): string => Deno.readTextFileSync(`/proc/${pid}/stat`);
    const end = performance.now() + 20_000;
    while (!stat().includes(") Z ") && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
    const started = stat().split(") ")[1]?.split(" ")[19] ?? "";
    assert.equal(isAlive({ ...thisProcess(), pid, started }), false);
    parent.kill("SIGKILL");
    await reader.cancel();
    await parent.status;
  },
});

Deno.test("isAlive() is null for a process of another machine, boot or namespace, whatever the name of its host", () => {
  const { space, ...rest } = thisProcess();
  assert.equal(isAlive({ ...rest, host: "another name", space }), true);
  for (const other of ["", `${space}0`]) assert.equal(isAlive({ ...rest, space: other }), null, other);
});

Deno.test({
  name:
    "thisProcess() names the boot of the kernel and the namespace of processes, with the permissions of the program",
  ignore: !LINUX,
  fn: async () => {
    const boot = (await Deno.readTextFile("/proc/sys/kernel/random/boot_id")).trim();
    const expected = `${boot} ${await Deno.readLink("/proc/self/ns/pid")}`;
    assert.equal(thisProcess().space, expected);
    const module = import.meta.resolve("../../../src/app/session/process_owner.ts");
    const { stdout, stderr } = await runPermitted(
      `import { thisProcess } from "${module}"; console.log(thisProcess().space);`,
    );
    assert.equal(stdout, `${expected}\n`, stderr);
  },
});

Deno.test("OwnProcess on macOS distinguishes a process from a later one with its id, and this boot from others", () => {
  const started = new Map([[Deno.pid, "10.1"], [700, "20.2"]]);
  const machine = { boot: () => "BOOT-1", started: (pid: number) => started.get(pid) ?? null };
  const self = new OwnProcess(macFacts(() => machine));
  assert.deepEqual([self.owner.space, self.owner.started], ["BOOT-1", "10.1"]);
  const other = { ...self.owner, pid: 700, started: "20.2" };
  assert.equal(self.isAlive(other), true);
  assert.equal(self.isAlive({ ...other, started: "19.9" }), false, "another process with its id");
  assert.equal(self.isAlive({ ...other, pid: 2 ** 30 }), false, "no such process");
  assert.equal(self.isAlive({ ...other, pid: 1 }), true, "of another user: nothing is said of it");
  assert.equal(self.isAlive({ ...other, space: "BOOT-0" }), null);
});

Deno.test("OwnProcess has a name of its own if the system reports none", () => {
  const silent = () =>
    new OwnProcess(macFacts(() => {
      throw new Error("no such library");
    }));
  const [one, other] = [silent(), silent()];
  assert.notEqual(one.owner.space, other.owner.space);
  assert.equal(one.owner.started, "");
  assert.equal(one.isAlive(other.owner), null);
});
