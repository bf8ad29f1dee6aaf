import assert from "node:assert/strict";
import { execRules } from "../../../src/sandbox/exec/exec_rules.ts";

const POLICY = {
  read: [{ path: "/r", folder: true }, { path: "/r/f", folder: false }],
  list: ["/l"],
  write: [{ path: "/w", folder: true }, { path: "/w/f", folder: false }],
  devices: ["/dev/null"],
  network: "none",
  namespaces: null,
} as const;
const WRITE_FILE = 1n << 1n, TRUNCATE = 1n << 14n;

for (let abi = 1; abi <= 7; abi++) {
  Deno.test(`execRules() has rules that a kernel with ABI ${abi} takes, and opens nothing else for writing`, () => {
    const { paths, handledFiles, unsafe } = execRules(abi, POLICY);
    assert.deepEqual(unsafe, []);
    for (const { path, rights } of paths) {
      assert.equal(rights & ~handledFiles, 0n, path);
      assert.equal((rights & (WRITE_FILE | TRUNCATE)) !== 0n, ["/w", "/w/f", "/dev/null"].includes(path), path);
    }
  });
}
