import assert from "node:assert/strict";
import fc from "fast-check";
import { readArchive } from "../../../src/conversation/export/read_archive.ts";
import { ArchiveDigest } from "../../../src/conversation/export/write_archive.ts";
import { readRecording } from "../../../src/conversation/read_recording.ts";
import { UsageError } from "../../../src/domain/errors.ts";
import { valueOf } from "../../../src/environment/conversation_history.ts";
import type { ConversationArchive } from "../../../src/persistence/archive_schema.ts";
import { openStore } from "../../../src/persistence/open_store.ts";
import type { Store } from "../../../src/persistence/store.ts";
import { readAll, richConversation } from "../../conformance/store/archive.ts";
import { archiveTextOf } from "../../helpers/archive_of.ts";
import { runs } from "../../helpers/long_part.ts";

async function richText(store: Store): Promise<string> {
  const { conversationId } = await richConversation(store);
  return await archiveTextOf(store, conversationId);
}

function sealed(archive: unknown): string {
  const given = archive as ConversationArchive;
  try {
    return JSON.stringify({ ...given, sha256: ArchiveDigest.of(given) });
  } catch {
    return JSON.stringify(archive);
  }
}

Deno.test("readArchive() refuses a foreign file, another version and a damaged archive, and distinguishes them", async () => {
  const store = await openStore({ path: ":memory:" });
  const text = await richText(store);
  await store.close();
  const changed = (change: (archive: ConversationArchive) => void): string => {
    const archive: ConversationArchive = JSON.parse(text);
    change(archive);
    return sealed(archive);
  };
  const cases: readonly [string, RegExp][] = [
    ["", /the file is not JSON/],
    [text.slice(0, -100), /the file is not JSON/],
    [
      changed(({ tables: { extensionState: [first] } }) => first!.value = "{"),
      /the state of row .* is not JSON/,
    ],
    [
      changed(({ tables: { extensionState: [first] } }) => Reflect.set(first!, "conversationStateId", null)),
      /conversationStateId/,
    ],
    ["[]", /vis conversations export --format json did not write this file/],
    ['{"format":"other","version":1}', /vis conversations export --format json did not write this file/],
    [
      text.replace('"version": 2', '"version": 3'),
      /the archive has version 3, and this Vis reads version 2; update Vis/,
    ],
    [
      text.replace('"version": 2', '"version": 0'),
      /the archive has version 0, and this Vis reads version 2; export the conversation again$/,
    ],
    [
      text.replace(/,\n *"sha256": ".{64}"\n\}/, "}"),
      /its hash shows that the file was changed after the export; export the conversation again$/,
    ],
    [text.replace(/"sha256": ".{64}"\n\}/, '"sha257": ""}'), /the file is damaged.*sha257/],
    [
      text.replace('"position":0', '"position":7'),
      /its hash shows that the file was changed after the export; export the conversation again$/,
    ],
    ["[".repeat(200_000), /it is deeper than 500 levels/],
    [`[${"[],".repeat(2_000_000)}[]]`, /it has more than 2000000 values/],
    [
      changed((a) => void (a.tables.iteration[0]!.position = -1)),
      /the file is damaged \(tables\/iteration\/0\/position must be at least 0\)/,
    ],
    [changed((a) => Object.assign(a.tables, { extra: [] })), /damaged \(tables has the unknown key extra\)/],
    [changed((a) => Object.assign(a.tables.queryState[0]!, { status: "running" })), /queryState\/0\/status/],
    [
      changed((a) => Object.assign(a.contents.find((one) => "text" in one)!, { text: "other" })),
      /text \w+ does not have this hash/,
    ],
    [changed((a) => void a.contents.splice(0, 3)), /is missing/],
    [changed((a) => void (a.tables.expressionSoul[0]!.name = "a b")), /expressionSoul\/0\/name/],
    [changed((a) => variable(a).result = { base64: "AAAA" }), /Vis cannot decode the value of row/],
    [changed((a) => void (a.tables.iteration[0]!.llmUserPrompt = "{}")), /the messages of row/],
    [changed((a) => void (a.tables.querySoul[0]!.metadata.answerSchema = "{")), /the answer schema of row/],
    [
      changed((a) => fork(a).metadata.fork!.queryId = a.tables.queryState.at(-1)!.id),
      /the fork of branch .* does not fit its parent/,
    ],
    [changed((a) => void (fork(a).parentStateId = null)), /has a fork that does not match its parent/],
    [changed((a) => void (fork(a).version = 0)), /the fork of branch .* does not fit its parent/],
    [changed(childOfItself), /has more than 50 levels above it, or a cycle/],
  ];
  for (const [bad, why] of cases) {
    assert.throws(() => readArchive(bad), (error: Error) => {
      assert.ok(error instanceof UsageError, String(error));
      assert.match(error.message, why);
      return true;
    });
  }
});

const variable = ({ tables }: ConversationArchive) =>
  tables.expressionState.find(({ metadata }) => "kind" in metadata && metadata.kind === "data" && !metadata.large)!;
const fork = ({ tables }: ConversationArchive) => tables.conversationState.find(({ parentStateId }) => parentStateId)!;

function childOfItself({ tables }: ConversationArchive): void {
  const [child] = tables.childBranch;
  const query = tables.querySoul.find(({ conversationStateId }) => conversationStateId === child!.conversationStateId)!;
  const run = tables.queryState.find(({ querySoulId }) => querySoulId === query.id)!;
  child!.iterationId = tables.iteration.find(({ queryStateId }) => queryStateId === run.id)!.id;
}

const HOSTILE: readonly unknown[] = [
  null,
  "",
  "x\u0000\ud800",
  -1,
  1e300,
  true,
  [],
  {},
  { toString: 1 },
  "__proto__",
  "sha256:" + "0".repeat(64),
  { content: "0".repeat(64) },
];

function places(value: unknown, path: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== "object" || value === null) return [path];
  const entries = Array.isArray(value) ? value.map((item, at) => [at, item] as const) : Object.entries(value);
  return [path, ...entries.flatMap(([key, item]) => places(item, [...path, key]))];
}

function replaced(value: unknown, [key, ...rest]: readonly (string | number)[], now: unknown): unknown {
  if (key === undefined) return now;
  const copy: Record<string | number, unknown> = Array.isArray(value) ? [...value] as never : { ...value as object };
  copy[key] = replaced(copy[key], rest, now);
  return copy;
}

Deno.test("a changed archive is refused without a trace, or all readers understand it", async () => {
  const store = await openStore({ path: ":memory:" });
  const archive: unknown = JSON.parse(await richText(store));
  const all = places(archive);
  let imported = 0, refused = 0;
  const before = (await store.listConversations({ limit: 9999 })).length;
  const change = fc.tuple(fc.nat(all.length - 1), fc.oneof(fc.constantFrom(...HOSTILE), fc.jsonValue()));
  await fc.assert(
    fc.asyncProperty(change, async ([at, value]) => {
      const text = sealed(replaced(archive, all[at]!, value));
      try {
        const { conversationId } = await store.importConversation(readArchive(text), { workspace: "/mine" });
        imported++;
        for (const branch of await store.branches(conversationId)) {
          await readAll(store, branch.branchId);
          await readRecording(store, branch);
          for (const image of await store.liveImages(branch.branchId)) valueOf(image);
        }
        await archiveTextOf(store, conversationId);
      } catch (error) {
        assert.ok(error instanceof UsageError, `${all[at]} = ${JSON.stringify(value)}: ${(error as Error).stack}`);
        refused++;
      }
      assert.equal((await store.listConversations({ limit: 9999 })).length, before + imported);
    }),
    { numRuns: runs(50, 150) },
  );
  assert.ok(imported > 0 && refused > 0, `${imported} imported, ${refused} refused`);
  assert.deepEqual(await store.check(), []);
  await store.close();
});

Deno.test("writeArchive() writes nothing that commands a terminal, and reads back the same", async () => {
  const store = await openStore({ path: ":memory:" });
  const { branchId, conversationId } = await richConversation(store);
  await store.setTitle(branchId, "\x1b[2J\u202e\u009b\u2028 title");
  const text = await archiveTextOf(store, conversationId);
  // deno-lint-ignore no-control-regex
  assert.ok(!/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e]/.test(text));
  assert.deepEqual(JSON.parse(text), JSON.parse(sealed(JSON.parse(text))));
  await store.close();
});
