import assert from "node:assert/strict";
import { stripTerminalSequences } from "@earendil-works/pi-tui";
import fc from "fast-check";
import { List, row } from "../../../../src/channels/tui/panels/widgets.ts";
import { amounts } from "../../../../src/channels/tui/text/one_line.ts";
import { ago } from "../../../../src/domain/kit/text.ts";

interface Item {
  readonly name: number;
  readonly lines: number;
  readonly heading: boolean;
}

function list(): List<Item> {
  return new List<Item>({
    key: ({ name }) => String(name),
    draw: ({ name, lines }, { selected }) =>
      Array.from({ length: lines }, (_, at) => `${selected ? "*" : " "}${name}.${at}`),
    heading: ({ heading }) => heading,
  });
}

const items = fc.array(fc.record({ lines: fc.integer({ min: 1, max: 3 }), heading: fc.boolean() }), { maxLength: 25 })
  .map((all) => all.map((one, name): Item => ({ ...one, name })));
const move = fc.constantFrom("up", "down", "pageUp", "pageDown", "home", "end" as const);

Deno.test("List.render() the selected one is always seen, is no heading, and the rows follow each other", () => {
  fc.assert(
    fc.property(items, fc.array(move, { maxLength: 30 }), fc.integer({ min: 3, max: 10 }), (all, moves, height) => {
      const shown = list();
      shown.set(all);
      for (const movement of moves) {
        shown.move(movement);
        const drawn = shown.render(80, height);
        assert.ok(drawn.length <= height);
        const rows = drawn.filter((line) => !line.includes("↓"));
        const { selected } = shown;
        if (all.some(({ heading }) => !heading)) {
          assert.ok(selected && !selected.heading);
          const marked = rows.filter((line) => line.startsWith("*"));
          assert.deepEqual(marked, Array.from({ length: selected.lines }, (_, at) => `*${selected.name}.${at}`));
        } else assert.equal(selected, undefined);
        const everything = all.flatMap(({ name, lines }) => Array.from({ length: lines }, (_, at) => `${name}.${at}`));
        assert.ok(
          `\n${everything.join("\n")}\n`.includes(`\n${rows.map((line) => line.slice(1)).join("\n")}\n`) ||
            rows.length === 0,
        );
      }
    }),
  );
});

Deno.test("List.render() counts the items that follow", () => {
  const shown = list();
  shown.set(Array.from({ length: 9 }, (_, name) => ({ name, lines: 1, heading: name === 7 })));
  const last = (height: number): string => stripTerminalSequences(shown.render(20, height).at(-1) ?? "").trimEnd();
  assert.deepEqual([last(6), last(8), last(9)], ["  ↓ 3 more", "  ↓ 1 more", " 8.0"]);
  shown.move("end");
  assert.equal(last(6), "*8.0");
});

Deno.test("List.set() keeps the selected one where it is still there", () => {
  const shown = list();
  const some = (names: readonly number[]): Item[] => names.map((name) => ({ name, lines: 1, heading: false }));
  shown.set(some([1, 2, 3]));
  shown.move("down");
  shown.set(some([9, 8, 2, 1]));
  assert.equal(shown.selected?.name, 2);
  shown.set(some([7, 6]));
  assert.equal(shown.selected?.name, 6);
  shown.set(some([5, 4, 3]), { from: "last" });
  assert.equal(shown.selected?.name, 3);
  shown.set([]);
  assert.deepEqual([shown.selected, shown.render(10, 5)], [undefined, []]);
  shown.select("none");
  shown.move("end");
  shown.set(some([1]));
  assert.equal(shown.selected?.name, 1);
});

Deno.test("row() facts give way to the name, the last one first", () => {
  const bare = (width: number): string =>
    // deno-lint-ignore no-control-regex
    row("a name of some length", { facts: ["first", "", "second"], width, selected: true }).replace(/\x1b\[\d+m/g, "");
  assert.equal(bare(50), "❯ a name of some length              first  second");
  assert.equal(bare(28), "❯ a name of some len…  first");
  assert.equal(bare(16), "❯ a name of som…");
  assert.equal(bare(1), "❯ …");
});

Deno.test("ago() and amounts are short", () => {
  const day = 86_400_000;
  assert.deepEqual([0, 61_000, 3 * 3_600_000, 2 * day, -5].map((passed) => ago(day * 100 - passed, day * 100)), [
    ...["now", "1 min", "3 h", "2 d", "now"],
  ]);
  assert.equal(ago(0, day * 100), "1970-01-01");
  assert.deepEqual([0, 1, 999, 1_000, 2_500_000].map(amounts.bytes), [
    "0 bytes",
    "1 byte",
    "999 bytes",
    "1.0 KB",
    "2.5 MB",
  ]);
  assert.deepEqual([amounts.count(1, "query"), amounts.count(1_200, "query")], ["1 query", "1,200 queries"]);
  assert.deepEqual([amounts.time(12.4), amounts.time(1_500)], ["12 ms", "1.5 s"]);
  assert.deepEqual([0, 0.00012, 1.5].map(amounts.cost), ["$0", "$0.000120", "$1.5000"]);
});
