import assert from "node:assert/strict";
import { numberOf, numbersOf, SYSTEM_CALLS } from "../../../src/sandbox/confine/libc.ts";
import { MORE_CALLS } from "../../helpers/system_calls.ts";

/** These headers of Debian's package linux-libc-dev are for x86-64, and for every architecture without its own
 * numbers. */
const HEADERS = ["/usr/include/x86_64-linux-gnu/asm/unistd_64.h", "/usr/include/asm-generic/unistd.h"] as const;
const texts = HEADERS.map((path) => {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return null;
  }
});
const missing = texts.includes(null) ? ": needs linux-libc-dev for x86-64" : "";

/** Returns names with their numbers. Some numbers have a name for 32-bit machines after the name for 64-bit machines. */
function numbersIn(header: string): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [, name = "", value = ""] of header.matchAll(/^#define[ \t]+(__NR\w+)[ \t]+(\w+)/gm)) {
    const number = /^\d+$/.test(value) ? Number(value) : found.get(value);
    if (number !== undefined && !found.has(name)) found.set(name, number);
  }
  return found;
}

Deno.test(
  { name: `the system calls have the numbers of the kernel's headers${missing}`, ignore: missing !== "" },
  () => {
    const [x86 = new Map(), arm = new Map()] = texts.map((text) => numbersIn(text ?? ""));
    const newest = Math.max(...x86.values());
    for (const [name, [onX86, onArm]] of Object.entries({ ...SYSTEM_CALLS, ...MORE_CALLS })) {
      const numbers = [x86.get(`__NR_${name}`), arm.get(`__NR_${name}`)];
      if (onX86 > newest && numbers[0] === undefined) {
        // The call is newer than the headers. Since 424, all architectures have the same numbers.
        assert.equal(onArm, onX86, name);
      } else {
        assert.deepEqual([onX86, onArm ?? undefined], numbers, name);
      }
    }
  },
);

Deno.test("a call that an architecture lacks has no number there", () => {
  assert.equal(numberOf("open", "x86_64"), 2);
  assert.throws(() => numberOf("open", "aarch64"), /^Error: Cannot find the system call open: aarch64 has none$/);
  assert.deepEqual(numbersOf(["open", "openat"], "x86_64"), [2, 257]);
  assert.deepEqual(numbersOf(["open", "openat"], "aarch64"), [56]);
});
