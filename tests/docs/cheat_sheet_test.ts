import assert from "node:assert/strict";
import { commandsOf, keyRows } from "../../src/channels/tui/commands.ts";

const PAGE = new URL("../../docs/guide/cheat-sheet.md", import.meta.url);

Deno.test("the cheat sheet has 25 entries of at most five words, with keys and commands that exist", async () => {
  const page = await Deno.readTextFile(PAGE);
  const commands = [...page.matchAll(/^(vis\b[^#\n]*?) +# (.+)$/gm)].map(([, entry = "", effect = ""]) =>
    [entry, effect] as const
  );
  const rows = [...page.matchAll(/^\| (\S+) +\| (.*\S) +\|$/gm)].map(([, entry = "", effect = ""]) =>
    [entry.replaceAll("`", ""), effect] as const
  ).filter(([entry]) => !/^-/.test(entry));
  const all = [...commands, ...rows];
  assert.deepEqual(all.filter(([, effect]) => effect.split(" ").length > 5), []);
  assert.equal(all.length, 25);
  const items = commandsOf(
    { panels: { act: {} }, prefs: { get: () => ({ keys: {} }) }, prompts: [], added: [] } as never,
  );
  const known = [
    ...items.map(({ name }) => `/${name}`),
    ...items.map(({ keys }) => keys),
    ...keyRows({}).map(([key]) => key),
  ];
  // These entries stand for a name and a command line.
  const stands: Readonly<Record<string, string>> = { "@path": "@letters", "!command": "!npm test" };
  assert.deepEqual(rows.map(([entry]) => stands[entry] ?? entry).filter((entry) => !known.includes(entry)), []);
});
