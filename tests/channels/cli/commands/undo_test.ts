import assert from "node:assert/strict";
import type { Session } from "../../../../src/channels/channel.ts";
import { runCli } from "../../../../src/channels/cli/cli.ts";
import type { Conversations } from "../../../../src/conversation/conversations.ts";
import { UsageError } from "../../../../src/domain/errors.ts";
import { localTime } from "../../../../src/domain/kit/text.ts";
import { fakeIo, fakeServices } from "../_fakes.ts";

const fakeSession = (conversations: Partial<Conversations>): Session =>
  ({ conversations, close: () => Promise.resolve() }) as Session;

const CHANGE = { id: "1", at: 0, change: "edit", conversationId: "0193abcd-11", paths: ["a.txt", "b.txt"] };

/** A conversation of another database. */
const OTHER = "0193abcd-1111-7111-8111-111111111111";

const EMPTY = fakeSession({ byId: (id) => Promise.reject(new UsageError(`No conversation ${id}`)) });

async function run(
  args: readonly string[],
  { answer, code = 0, session = EMPTY }: { answer: unknown; code?: number | null; session?: Session },
) {
  const io = fakeIo({ args });
  const services = fakeServices({ open: () => Promise.resolve(session) });
  const asked: { args: readonly string[]; cwd: string | undefined }[] = [];
  const admin = await services.extensionAdmin({});
  const told = await runCli({
    ...services,
    extensionAdmin: ({ cwd }) =>
      Promise.resolve({
        ...admin,
        run: (args, { print }) => {
          asked.push({ args, cwd });
          const told = typeof answer === "function" ? answer({ args, cwd }) : answer;
          if (code !== null) print(`${JSON.stringify(told)}\n`);
          return Promise.resolve(code);
        },
      }),
  }, io);
  return { code: told, out: io.out, err: io.err, asked };
}

Deno.test("vis undo passes its flags on, and shows the diffs and the number of changes", async () => {
  const diff = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-two\n+one \u001b[2J\n";
  const { code, out, err, asked } = await run([
    "undo",
    "--last",
    "2",
    "--conversation",
    OTHER.toUpperCase(),
    "--force",
    "--cwd",
    "/ws",
  ], {
    answer: { changes: [CHANGE, CHANGE], files: [{ path: "a.txt", diff }] },
  });
  assert.equal(code, 0);
  assert.deepEqual(asked, [
    { args: ["undo", "--list", `--conversation=${OTHER}`], cwd: "/ws" },
    { args: ["undo", "--steps=2", `--conversation=${OTHER}`, "--force"], cwd: "/ws" },
  ]);
  assert.match(out, /^a\.txt \+1 −1\n1 - two\n1 \+ one /);
  assert.ok(!out.includes("\u001b"));
  assert.equal(err, "Undid 2 changes in 1 file (vis undo --redo reapplies them)\n");
});

Deno.test("vis undo refuses an unknown or ambiguous conversation, and undoes nothing", async () => {
  for (const id of ["0193abcd", "01", OTHER]) {
    for (const more of [[], ["--list"]]) {
      const { code, err, asked } = await run(["undo", "--conversation", id, ...more], { answer: { changes: [] } });
      assert.deepEqual([code, err], [2, `vis: No conversation ${id}\n`]);
      assert.ok(asked.every(({ args }) => args.includes("--list")), "nothing is undone");
    }
  }
});

Deno.test("vis undo names the request that it undid, if later ones changed no file", async () => {
  const queries = ["q1", "q2", "q3"].map((queryId) => ({ queryId, text: `Ask ${queryId}`, createdAt: 0 }));
  const session = fakeSession({
    byId: () => Promise.resolve({ conversationId: CHANGE.conversationId, branchId: "b" } as never),
    queries: () => Promise.resolve(queries as never),
  });
  const files = [{ path: "a.txt", diff: "" }];
  const told = async (queryId: string) =>
    (await run(["undo"], { session, answer: { changes: [{ ...CHANGE, queryId }], files } })).err.split("\n").slice(1);
  assert.deepEqual(await told("q1"), [
    'vis: No later request has changes to undo: this is request 1 of 3, "Ask q1"',
    "",
  ]);
  assert.deepEqual(await told("q3"), [`vis: This was the request "Ask q3" of ${localTime(0)}`, ""]);
});

Deno.test("vis undo without changes names the folder below or above that has the latest changes", async () => {
  const folders = ["/other", "/ws2", "/ws/packages/b", "/ws/packages/my a", "/"];
  const session = {
    ...fakeSession({ list: () => Promise.resolve(folders.map((workspace) => ({ workspace })) as never) }),
    workspace: "/ws",
  };
  const told = async (words: readonly string[], { of, change = "edit" }: { of: string; change?: string }) => {
    const answer = ({ args, cwd = "/ws" }: { args: readonly string[]; cwd?: string | undefined }) =>
      args.includes("--list")
        ? { changes: cwd === of ? [{ ...CHANGE, change, undone: false }] : [] }
        : { error: "Nothing to undo", nothing: true };
    const { code, err, asked } = await run(["undo", ...words], { answer, session });
    assert.equal(code, words.includes("--list") ? 0 : 1);
    assert.ok(asked.every(({ cwd }) => cwd !== "/other" && cwd !== "/ws2"));
    return err;
  };
  const below = "vis: The latest file changes are of packages/my a; run vis undo --cwd 'packages/my a'\n";
  assert.equal(await told([], { of: "/ws/packages/my a" }), `vis: Nothing to undo\n${below}`);
  assert.equal(
    await told(["--list"], { of: "/ws/packages/my a" }),
    `No file changes are recorded for this workspace\n${below}`,
  );
  assert.match(await told([], { of: "/" }), /The latest file changes are of \/; run vis undo --cwd \/\n$/);
  assert.match(
    await told(["--redo"], { of: "/ws/packages/b", change: "undo" }),
    /run vis undo --redo --cwd packages\/b\n$/,
  );
  assert.equal(await told([], { of: "/other" }), "vis: Nothing to undo\n");
});

Deno.test("vis undo explains why it undid nothing, and how to do it nevertheless", async () => {
  const error = "Cannot undo: a.txt got other changes since";
  const told = async (words: readonly string[], more: object) => {
    const { code, out, err } = await run(["undo", ...words], { answer: { error, ...more }, code: 1 });
    assert.deepEqual([code, out], [1, ""]);
    return err;
  };
  assert.equal(await told([], { code: "files_changed" }), `vis: ${error} (--force undoes it anyway)\n`);
  assert.equal(await told(["--redo"], { code: "files_changed" }), `vis: ${error} (--force redoes it anyway)\n`);
  assert.equal(await told([], {}), `vis: ${error}\n`);
  const kept = [{ path: "a.txt", reason: "got other changes since" }];
  const ways = "(--rest undoes the 2 other files; --force undoes all files)";
  assert.equal(await told([], { code: "files_changed", others: 2, kept }), `vis: ${error} ${ways}\n`);
  const folder = `vis: ${error} (--rest undoes the 2 other files and the other folder)\n`;
  assert.equal(await told([], { others: 2, otherFolders: 1, kept }), folder);
  assert.equal(await told(["--redo"], { others: 1, kept }), `vis: ${error} (--rest redoes the other file)\n`);
  const rest = await run(["undo", "--rest"], { answer: { changes: [CHANGE], files: [] } });
  assert.deepEqual(rest.asked.map(({ args }) => args), [["undo", "--rest"]]);
  const json = await run(["undo", "--json"], { answer: { error, code: "files_changed", others: 2, kept }, code: 1 });
  assert.deepEqual(JSON.parse(json.out), { error: { code: 1, message: error, reason: "files_changed", kept } });
});

Deno.test("vis undo names the files that it kept, and then exits with 1", async () => {
  const kept = [{ path: "b.txt", reason: "got other changes since" }];
  const told = await run(["undo"], {
    answer: { changes: [CHANGE], files: [{ path: "a.txt", diff: "" }], kept, code: "files_changed" },
    code: 1,
  });
  assert.equal(told.code, 1);
  assert.equal(
    told.err,
    "Undid 1 change in 1 file (vis undo --redo reapplies them)\n" +
      "vis: Kept b.txt (got other changes since); --force undoes it there too\n",
  );
  const lost = await run(["undo", "--rest"], { answer: { changes: [CHANGE], files: [], kept }, code: 1 });
  assert.match(lost.err, /vis: Kept b\.txt \(got other changes since\)\n$/);
  const list = await run(["undo", "--list"], { answer: { changes: [{ ...CHANGE, undone: true, kept: ["b.txt"] }] } });
  assert.match(list.out, /a\.txt b\.txt {2}undone except b\.txt\n$/);
});

Deno.test("vis undo --list shows changes, and which of them are undone", async () => {
  const many = { ...CHANGE, paths: ["1", "2", "3", "4", "5", "6"], undone: true };
  const { out } = await run(["undo", "--list"], { answer: { changes: [CHANGE, many] } });
  assert.equal(
    out,
    `${localTime(0, "second")}  0193abcd-11    edit       a.txt b.txt\n` +
      `${localTime(0, "second")}  0193abcd-11    edit       1 2 3 4 (+2)  undone\n`,
  );
  const lines = async (committed: readonly string[]) =>
    (await run(["undo", "--list"], { answer: { changes: [{ ...CHANGE, committed }] } })).out.split("edit       ")[1];
  const why = "went into a git commit since (--force undoes it)";
  assert.equal(await lines(["a.txt", "b.txt"]), `a.txt b.txt  ${why}\n`);
  assert.equal(await lines(["b.txt"]), `a.txt b.txt  b.txt ${why}\n`);
  const none = await run(["undo", "--list"], { answer: { changes: [] } });
  assert.deepEqual([none.out, none.err], ["", "No file changes are recorded for this workspace\n"]);
});

Deno.test("vis undo --json prints the result, and errors too", async () => {
  const answer = { changes: [CHANGE], files: [] };
  assert.deepEqual(JSON.parse((await run(["undo", "--json"], { answer })).out), answer);
  const failed = await run(["undo", "--json"], { answer: { error: "Cannot undo: x" }, code: 1 });
  assert.deepEqual([failed.code, JSON.parse(failed.out)], [1, { error: { code: 1, message: "Cannot undo: x" } }]);
  const changed = { error: "Cannot undo: y", code: "files_changed" };
  const { out } = await run(["undo", "--json"], { answer: changed, code: 1 });
  assert.deepEqual(JSON.parse(out), { error: { code: 1, message: "Cannot undo: y", reason: "files_changed" } });
});

Deno.test("vis undo refuses flags that contradict each other, and names the setting that switches fs off", async () => {
  assert.equal((await run(["undo", "--last", "0"], { answer: {} })).code, 2);
  assert.equal((await run(["undo", "--scope", "all"], { answer: {} })).code, 2);
  const both = await run(["undo", "--last", "1", "--scope", "step"], { answer: {} });
  assert.deepEqual([both.code, both.asked], [2, []]);
  const off = await run(["undo"], { answer: {}, code: null });
  assert.equal(off.code, 2);
  assert.match(off.err, /the extension that records file changes is not loaded; vis extensions list shows why/);
});

Deno.test("vis undo undoes nothing if the conversation to undo is an empty word", async () => {
  const { code, err, asked } = await run(["undo", "--conversation", ""], { answer: { changes: [], files: [] } });
  assert.deepEqual([code, asked], [2, []]);
  assert.match(err, /^vis: option '--conversation <id>' argument '' is invalid/);
});

Deno.test("vis undo --conversation leaves changes of other branches as they are", async () => {
  const branch = { conversationId: "0193abcd-11", tenant: "", title: "", workspace: "", createdAt: 0 };
  const nodes = ["main", "fork"].map((branchId) => ({
    ...branch,
    branchId,
    parentBranchId: null,
    fork: null,
    queries: 2,
  }));
  const shown: Readonly<Record<string, readonly object[]>> = {
    main: [{ queryId: "q1" }, { queryId: "q2" }],
    fork: [{ queryId: "q1", forkedAt: 7 }, { queryId: "q3" }],
  };
  const session = fakeSession({
    byId: (id) => Promise.resolve(nodes.find(({ branchId }) => branchId === id) ?? assert.fail(id)),
    branches: () => Promise.resolve(nodes),
    queries: ({ branchId }) =>
      Promise.resolve((shown[branchId] ?? []) as Awaited<ReturnType<Conversations["queries"]>>),
  });
  const cutsOf = async (id: string) => {
    const { asked } = await run(["undo", "--conversation", id], { answer: { changes: [], files: [] }, session });
    return asked.map(({ args }) => args);
  };
  assert.deepEqual(await cutsOf("main"), [["undo", "--conversation=0193abcd-11", "--cuts=q3@0"]]);
  assert.deepEqual(await cutsOf("fork"), [["undo", "--conversation=0193abcd-11", "--cuts=q1@7,q2@0"]]);
});

Deno.test("vis undo --dry-run asks for the diffs of the undo, and says that it changed nothing", async () => {
  const { err, asked } = await run(["undo", "--dry-run"], { answer: { changes: [CHANGE], files: [] } });
  assert.deepEqual(asked[0]?.args, ["undo", "--dryRun", "--effect"]);
  assert.match(err, /^Would undo 1 change in no file/);
});
