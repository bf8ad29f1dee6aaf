import assert from "node:assert/strict";
import fc from "fast-check";
import { restoreOrder } from "../../../src/persistence/variables.ts";
import { cpuMs } from "../../helpers/cpu_ms.ts";

function order(spec: string): string {
  const nodes = spec.split(" ").map((part) => {
    const [name = "", requires = "", reads = ""] = part.split(":");
    return { name, requires: [...requires], reads: [...reads] };
  });
  return restoreOrder(nodes).map(({ name }) => name).join("");
}

Deno.test("restoreOrder() puts required and read variables first and keeps the order otherwise", () => {
  assert.equal(order("c:b b:a a d"), "adbc");
  assert.equal(order("a b c"), "abc");
  assert.equal(order("b::a a"), "ab");
  assert.equal(order("a:xyz"), "a");
  assert.equal(order("a:a:a"), "a");
});

Deno.test("restoreOrder() gives a requirement way before something that was read", () => {
  // The variable b requires a, and a has only read b.
  assert.equal(order("b:a a::b"), "ab");
});

Deno.test("restoreOrder() breaks a cycle of requirements at one of its members", () => {
  assert.equal(order("x:a a:b b:a"), "axb");
});

Deno.test("restoreOrder() keeps every node once, and requirements first unless they form a cycle", () => {
  const names = [..."abcdefgh"];
  const some = fc.subarray(names);
  fc.assert(
    fc.property(
      fc.shuffledSubarray(names),
      fc.array(some, { minLength: 8, maxLength: 8 }),
      some,
      (kept, lists, reads) => {
        // Requirements name earlier letters only, so they have no cycle. Reads may name any letter.
        const nodes = kept.map((name) => {
          const at = names.indexOf(name);
          return { name, requires: (lists[at] ?? []).filter((other) => other < name), reads };
        });
        const ordered = restoreOrder(nodes);
        assert.deepEqual(
          ordered.map(({ name }) => name).sort(),
          [...kept].sort(),
        );
        for (const [at, node] of ordered.entries()) {
          const later = ordered.slice(at).map(({ name }) => name);
          assert.deepEqual(node.requires.filter((name) => later.includes(name)), []);
        }
        assert.deepEqual(restoreOrder(nodes), ordered);
      },
    ),
  );
});

Deno.test("restoreOrder() of ten thousand nodes that all read one another's list is done at once", () => {
  const nodes = Array.from({ length: 10_000 }, (_, at) => ({ name: `v${at}`, requires: [], reads: ["list"] }));
  const list = { name: "list", requires: [], reads: nodes.map(({ name }) => name) };
  const start = cpuMs();
  assert.equal(restoreOrder([list, ...nodes])[0], list);
  assert.ok(cpuMs() - start < 1000);
});
