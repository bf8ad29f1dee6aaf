import assert from "node:assert/strict";
import { ProcessLimits } from "../../../src/sandbox/confine/confinement.ts";
import { Libc } from "../../../src/sandbox/confine/libc.ts";

const RLIMIT_DATA = 2;

/** Reads this text instead of a file of /proc, and sets no limit. */
class PretendingLibc extends Libc {
  readonly limits: (readonly [resource: number, value: number])[] = [];

  constructor(readonly text: string) {
    super();
  }

  override readStart(_descriptor: number, maxBytes: number): string {
    return this.text.slice(0, maxBytes);
  }

  override setrlimit(resource: number, value: number): number {
    this.limits.push([resource, value]);
    return 0;
  }

  override closeDescriptor(): void {}
}

Deno.test({
  name: "the memory limit is in bytes whatever the size of a page, also for a user with many groups",
  ignore: Deno.build.os !== "linux",
  fn: () => {
    const groups = Array.from({ length: 20_000 }, (_, at) => 100_000 + at).join(" ");
    const libc = new PretendingLibc(`Name:\tvis\nGroups:\t${groups} \nVmPeak:\t  999999 kB\nVmData:\t  123456 kB\n`);
    assert.deepEqual(new ProcessLimits(libc).setMemory(1000), []);
    assert.deepEqual(libc.limits, [[RLIMIT_DATA, 123_456 * 1024 + 1000]]);
    const none = new PretendingLibc("Name:\tvis\n");
    assert.deepEqual(new ProcessLimits(none).setMemory(1000), ["memory limit: Vis cannot read /proc/self/status"]);
    assert.deepEqual(none.limits, []);
    libc.close();
    none.close();
  },
});
