import assert from "node:assert/strict";
import { NO_ACCESS } from "../../../src/sandbox/confine/access.ts";
import { rulesFor } from "../../../src/sandbox/confine/landlock.ts";

/** LANDLOCK_ACCESS_FS_* of include/uapi/linux/landlock.h, with the ABI that introduced each (docs.kernel.org,
 * landlock). */
const FILES: readonly (readonly [name: string, bit: number, abi: number])[] = [
  ["EXECUTE", 0, 1],
  ["WRITE_FILE", 1, 1],
  ["READ_FILE", 2, 1],
  ["READ_DIR", 3, 1],
  ["REMOVE_DIR", 4, 1],
  ["REMOVE_FILE", 5, 1],
  ["MAKE_CHAR", 6, 1],
  ["MAKE_DIR", 7, 1],
  ["MAKE_REG", 8, 1],
  ["MAKE_SOCK", 9, 1],
  ["MAKE_FIFO", 10, 1],
  ["MAKE_BLOCK", 11, 1],
  ["MAKE_SYM", 12, 1],
  ["REFER", 13, 2],
  ["TRUNCATE", 14, 3],
  ["IOCTL_DEV", 15, 5],
];
const NET = [["BIND_TCP", 0, 4], ["CONNECT_TCP", 1, 4]] as const;
const SCOPED = [["ABSTRACT_UNIX_SOCKET", 0, 6], ["SIGNAL", 1, 6]] as const;

const bits = (table: readonly (readonly [string, number, number])[], abi: number): bigint =>
  table.filter(([, , since]) => since <= abi).reduce((all, [, bit]) => all | 1n << BigInt(bit), 0n);
const bit = (name: string): bigint => 1n << BigInt(FILES.find(([it]) => it === name)?.[1] ?? 63);

for (let abi = 1; abi <= 9; abi++) {
  Deno.test(`rulesFor() handles exactly the rights of ABI ${abi}`, () => {
    const rules = rulesFor(abi, NO_ACCESS);
    assert.equal(rules.handledFiles, bits(FILES, abi));
    assert.equal(rules.handledNet, bits(NET, abi));
    assert.equal(rules.scoped, bits(SCOPED, abi));
    assert.equal(rules.attributeBytes, abi < 4 ? 8 : abi < 6 ? 16 : 24);
    assert.deepEqual([rules.paths, rules.ports, rules.unsafe], [[], [], []]);
    const lacks = [["emptying", 3], ["TCP", 4], ["devices", 5], ["signals", 6]] as const;
    assert.equal(rules.missing.length, lacks.filter(([, since]) => abi < since).length);
    for (const [word, since] of lacks) assert.equal(rules.missing.some((it) => it.includes(word)), abi < since);
  });

  Deno.test(`rulesFor() grants only rights that ABI ${abi} handles`, () => {
    const rules = rulesFor(abi, {
      read: [{ path: "/d", folder: true }, { path: "/f", folder: false }],
      write: [{ path: "/w", folder: true }, { path: "/g", folder: false }],
      ports: [443],
    });
    const truncate = abi < 3 ? 0n : bit("TRUNCATE");
    assert.deepEqual(rules.paths, [
      { path: "/d", rights: bit("READ_FILE") | bit("READ_DIR") },
      { path: "/f", rights: bit("READ_FILE") },
      { path: "/w", rights: bit("WRITE_FILE") | bit("MAKE_REG") | truncate },
      { path: "/g", rights: bit("WRITE_FILE") | truncate },
    ]);
    assert.deepEqual(rules.ports, abi < 4 ? [] : [{ port: 443, rights: 2n }]);
    for (const { rights } of rules.paths) assert.equal(rights & ~rules.handledFiles, 0n);
    assert.deepEqual(rules.unsafe.map((it) => it.split(" ")[0]), [
      ...abi < 3 ? ["paths"] : [],
      ...abi < 4 ? ["net"] : [],
    ]);
  });
}

Deno.test("without Landlock, rulesFor() calls every grant unsafe", () => {
  const { unsafe } = rulesFor(0, { read: [], write: [{ path: "/w", folder: true }], ports: [1] });
  assert.equal(unsafe.length, 2);
});
