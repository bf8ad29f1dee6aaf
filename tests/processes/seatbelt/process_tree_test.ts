import assert from "node:assert/strict";
import {
  type LibProc,
  MacProcesses,
  type ProcessTable,
  ProcessTree,
} from "../../../src/processes/seatbelt/process_tree.ts";

interface Fake {
  parent: number;
  group: number;
  started: string;
}

class FakeTable implements ProcessTable {
  readonly processes = new Map<number, Fake>();
  readonly signals: (readonly [number, Deno.Signal])[] = [];
  onSignal = (_pid: number, _name: Deno.Signal): void => {};

  add(pid: number, parent: number, { group = 100, started = `at ${pid}` } = {}): void {
    this.processes.set(pid, { parent, group, started });
  }

  children = (pid: number): number[] => this.#where((one) => one.parent === pid);
  group = (pid: number): number[] => this.#where((one) => one.group === pid);
  started = (pid: number): string | null => this.processes.get(pid)?.started ?? null;

  signal(pid: number, name: Deno.Signal): void {
    this.signals.push([pid, name]);
    this.onSignal(pid, name);
    if (name !== "SIGKILL") return;
    this.processes.delete(pid);
    for (const one of this.processes.values()) if (one.parent === pid) one.parent = 1;
  }

  #where(wanted: (one: Fake) => boolean): number[] {
    return [...this.processes].flatMap(([pid, one]) => wanted(one) ? [pid] : []);
  }
}

Deno.test("ProcessTree remembers orphans, in other groups too, and ends them", async () => {
  const table = new FakeTable();
  table.add(100, 7);
  table.add(101, 100);
  table.add(102, 101, { group: 102 });
  const tree = new ProcessTree(100, table);
  table.processes.delete(101);
  table.processes.get(102)!.parent = 1;
  table.add(103, 102, { group: 103 });
  assert.deepEqual([...tree.look()].sort(), [100, 102, 103]);
  table.processes.delete(100);
  assert.equal(await tree.ended(), 2);
  assert.equal(table.processes.size, 0);
});

Deno.test("ProcessTree.kill() suspends all first, so that none starts another meanwhile", () => {
  const table = new FakeTable();
  table.add(100, 7);
  const tree = new ProcessTree(100, table);
  table.add(101, 100);
  table.onSignal = (pid, name) => pid === 101 && name === "SIGSTOP" && table.add(102, 101, { group: 9 });
  tree.kill();
  const firstKill = table.signals.findIndex(([, name]) => name === "SIGKILL");
  const stopped = table.signals.slice(0, firstKill).map(([pid]) => pid).sort();
  assert.deepEqual(stopped, [100, 101, 102]);
  assert.equal(table.processes.size, 0);
});

Deno.test("ProcessTree spares a process that reuses an id of its own, and the processes below it", async () => {
  const table = new FakeTable();
  table.add(100, 7);
  table.add(101, 100, { group: 101 });
  const tree = new ProcessTree(100, table);
  table.processes.delete(101);
  table.add(101, 1, { group: 101, started: "later" });
  table.add(200, 101, { group: 101 });
  assert.deepEqual(tree.look(), [100]);
  table.processes.delete(100);
  assert.equal(await tree.ended(), 0);
  assert.deepEqual([...table.processes.keys()], [101, 200]);
});

Deno.test("MacProcesses reads the structures of libproc", () => {
  let hasBoot = true;
  const ids = Array.from({ length: 300 }, (_, at) => at + 1);
  const libproc: LibProc = {
    proc_listpids: (kind, id, into, bytes) => {
      assert.ok(kind === 6 && id === 100 || kind === 2 && id === 101);
      const view = new DataView(into.buffer);
      const fitting = ids.slice(0, bytes / 4);
      fitting.forEach((pid, at) => view.setInt32(at * 4, pid, true));
      return fitting.length * 4;
    },
    proc_pidinfo: (pid, kind, argument, into, bytes) => {
      assert.deepEqual([kind, argument, bytes], [3, 0n, 136]);
      if (pid === 5) return 0;
      const view = new DataView(into.buffer);
      view.setUint32(4, pid === 6 ? 5 : 2, true);
      view.setBigUint64(120, 1_700_000_000n, true);
      view.setBigUint64(128, 250n, true);
      return 136;
    },
    sysctlbyname: (name, into, length, value, valueLength) => {
      assert.deepEqual([new TextDecoder().decode(name), value, valueLength], ["kern.bootsessionuuid\0", null, 0n]);
      if (!hasBoot) return -1;
      length[0] = BigInt(new TextEncoder().encodeInto("0A1B-2C3D\0", into).written);
      return 0;
    },
  };
  const processes = new MacProcesses(libproc);
  assert.deepEqual(processes.children(100), ids.slice(1), "the list that was cut is read again");
  assert.deepEqual(processes.group(101), ids.slice(1));
  assert.equal(processes.started(4), "1700000000.250");
  assert.equal(processes.started(5), null, "no process");
  assert.equal(processes.started(6), null, "one that has ended");
  assert.equal(processes.boot(), "0A1B-2C3D");
  hasBoot = false;
  assert.throws(() => processes.boot(), /Cannot identify this start of the system/);
});
