import assert from "node:assert/strict";
import { DEFAULT_PREFS } from "../../../src/channels/tui/prefs.ts";
import { join } from "node:path";
import { HandClock } from "../../helpers/hand_clock.ts";
import fs from "../../../extensions/fs/mod.ts";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { commandsOf, keyRows } from "../../../src/channels/tui/commands.ts";
import { SCREEN_COMMANDS } from "../../../src/domain/query/typed_request.ts";
import { withFolder } from "../../helpers/with_folder.ts";
import { withScreen } from "./_rig.ts";

const ENTER = "\r";
const ESCAPE = "\x1b", LAST = "\x1b[F";

Deno.test("/diff shows the last request's changes, /undo undoes them, /export writes the conversation", async () => {
  await withFolder(async (workspace) => {
    await Deno.writeTextFile(join(workspace, "a.ts"), "one\n");
    const asked: (readonly string[])[] = [];
    const known = { queryId: "", undone: false };
    const run = (args: readonly string[], { print }: { readonly print: (text: string) => void }): Promise<number> => {
      const change = { id: "c1", at: 1, change: "edit", conversationId: "", paths: ["a.ts"], queryId: known.queryId };
      if (!args.includes("--list")) {
        asked.push(args);
        known.undone = !args.includes("--redo");
      }
      const files = [{ path: "a.ts", diff: "" }];
      print(JSON.stringify(args.includes("--list") ? { changes: [{ ...change, ...known }] } : { changes: [], files }));
      return Promise.resolve(0);
    };
    const replies = [
      replyJson('await fs.edit("a.ts", { old: "one", new: "two" })'),
      final("Changed: yes"),
      final("Planned: yes"),
      final("More: yes"),
    ];
    const options = {
      engine: { extensions: [fs], workspace },
      session: { workspace },
      parts: {
        extensions: () =>
          Promise.resolve({ run, commands: () => Promise.resolve([]), requests: () => Promise.resolve([]) }),
      },
    };
    await withScreen(replies, options, async ({ screen, engine }) => {
      for (
        const [command, told] of [["diff", /No request of this conversation has file changes to show/], [
          "undo",
          /Nothing to undo/,
        ], [
          "redo",
          /Nothing to redo/,
        ], ["export", /no request/]]
      ) {
        screen.type(`/${command}${ENTER}`);
        await screen.until(told as RegExp);
      }
      screen.type(`Change it${ENTER}`);
      await screen.until(/Changed: yes[^]*1 file changed \+1 −1 \(a\.ts\) · \/undo/);
      const [branch] = await engine.conversations.list({ limit: 1 });
      const [changed] = await engine.conversations.queries(branch!);
      known.queryId = changed?.queryId ?? "";
      screen.type(`/diff${ENTER}`);
      await screen.until(/Changes of the last request[^]*│ a\.ts \+1 −1 +│\n│ 1 - one +│\n│ 1 \+ two/);
      screen.type(ESCAPE);
      await screen.until((text) => !text.includes("Changes of the last request"));
      screen.type(`/plan the rest${ENTER}`);
      await screen.until("Planned: yes");
      await screen.until((text) => !text.includes("Esc cancels"));
      screen.type(`/diff${ENTER}`);
      await screen.until(/Changes of: Change it[^]*│ a\.ts \+1 −1/);
      screen.type(ESCAPE);
      await screen.until((text) => !text.includes("Changes of: Change it"));
      screen.type(`/undo${ENTER}`);
      await screen.until(/Undid changes in a\.ts \(\/redo reapplies them\)/);
      await screen.until(/\(a\.ts\) · undone · \/redo$/m);
      screen.type(`/redo${ENTER}`);
      await screen.until(/Reapplied changes in a\.ts/);
      await screen.until(/\(a\.ts\) · \/undo$/m);
      known.undone = true;
      screen.type("\x1b[O\x1b[I");
      await screen.until(/\(a\.ts\) · undone · \/redo$/m);
      known.undone = false;
      screen.type(`More${ENTER}`);
      await screen.until(/\(a\.ts\) · \/undo$[^]*More: yes/m);
      const whose = `--conversation=${branch?.conversationId}`;
      assert.deepEqual(asked, [["undo", whose], ["undo", whose, "--redo"]]);
      screen.type(`/export notes.md${ENTER}`);
      await screen.until(/Wrote .*notes\.md/);
      assert.match(await Deno.readTextFile(join(workspace, "notes.md")), /Change it[^]*Changed: yes/);
      screen.type(`/export all.json${ENTER}`);
      await screen.until(/Wrote .*all\.json/);
      assert.equal(typeof JSON.parse(await Deno.readTextFile(join(workspace, "all.json"))).format, "string");
      for (
        const [name, why] of [
          ["notes.md", "a file or folder already exists there"],
          ["no/notes.md", "there is no such file or folder"],
        ]
      ) {
        screen.type(`/export ${name}${ENTER}`);
        await screen.until(`Cannot write ${name}: ${why}`);
      }
    });
  });
});

Deno.test("/diff shows the changes of a run that a retry without changes replaced, until they are undone", async () => {
  await withFolder(async (workspace) => {
    await Deno.writeTextFile(join(workspace, "a.ts"), "one\n");
    await Deno.writeTextFile(join(workspace, "old.ts"), "one\n");
    let changes: readonly object[] = [];
    const run = (args: readonly string[], { print }: { readonly print: (text: string) => void }): Promise<number> => {
      print(JSON.stringify(args.includes("--list") ? { changes } : { error: "not recorded" }));
      return Promise.resolve(0);
    };
    const extensions = () =>
      Promise.resolve({ run, commands: () => Promise.resolve([]), requests: () => Promise.resolve([]) });
    const edit = (path: string) => replyJson(`await fs.edit("${path}", { old: "one", new: "two" })`, { final: "Done" });
    const replies = [edit("old.ts"), edit("a.ts"), replyJson([], { final: "Nothing to do" })];
    const options = { engine: { extensions: [fs], workspace }, session: { workspace }, parts: { extensions } };
    await withScreen(replies, options, async ({ screen, engine }) => {
      const ended = () => screen.until((text) => !text.includes("Esc cancels"));
      screen.type(`An older request${ENTER}`);
      await screen.until(/1 file changed \+1 −1 \(old\.ts\)/);
      await ended();
      screen.type(`Change it${ENTER}`);
      await screen.until(/1 file changed \+1 −1 \(a\.ts\)/);
      await ended();
      const [branch] = await engine.conversations.list({ limit: 1 });
      const { queryId } = (await engine.conversations.queries(branch!)).at(-1)!;
      const [{ iterationId } = { iterationId: "" }] = await engine.conversations.iterations(queryId);
      const change = { id: "c1", at: 1, change: "edit", conversationId: "", queryId, iterationId, paths: ["a.ts"] };
      changes = [change];
      screen.type(`/retry${ENTER}`);
      await screen.until("Nothing to do");
      await ended();
      screen.type(`/diff${ENTER}`);
      await screen.until(/Changes of the last request, before \/retry[^]*│ a\.ts \+1 −1/);
      screen.type(ESCAPE);
      await screen.until((text) => !text.includes("Changes of the last request"));
      changes = [{ ...change, undone: true }];
      screen.type(`/diff${ENTER}`);
      await screen.until(/Changes of: An older request[^]*│ old\.ts \+1 −1/);
    });
  });
});

Deno.test("/diff shows one diff of a file that a request changed twice, unless the file has other changes since", async () => {
  await withFolder(async (workspace) => {
    await Deno.writeTextFile(join(workspace, "a.ts"), "one\n");
    const changes: object[] = [];
    const report: { files: object[]; kept: object[] } = { files: [], kept: [] };
    const asked: string[][] = [];
    const run = (args: readonly string[], { print }: { readonly print: (text: string) => void }): Promise<number> => {
      if (!args.includes("--list")) asked.push(args.slice(1).toSorted());
      print(JSON.stringify(args.includes("--list") ? { changes } : { changes: [], ...report }));
      return Promise.resolve(0);
    };
    const extensions = () =>
      Promise.resolve({ run, commands: () => Promise.resolve([]), requests: () => Promise.resolve([]) });
    const replies = [
      replyJson('await fs.edit("a.ts", { old: "one", new: "two" })\nawait fs.writeFile("b.ts", "new\\n")'),
      replyJson('await fs.edit("a.ts", { old: "two", new: "three" })', { final: "Done: yes" }),
    ];
    const options = { engine: { extensions: [fs], workspace }, session: { workspace }, parts: { extensions } };
    await withScreen(replies, options, async ({ screen, engine }) => {
      screen.type(`Change it${ENTER}`);
      await screen.until("Done: yes");
      await screen.until((text) => !text.includes("Esc cancels"));
      const [branch] = await engine.conversations.list({ limit: 1 });
      const [query] = await engine.conversations.queries(branch!);
      const { queryId } = query!, conversation = branch!.conversationId;
      const all = await engine.conversations.iterations(queryId);
      for (const [at, paths] of [[0, ["b.ts"]], [0, ["a.ts"]], [1, ["a.ts"]]] as const) {
        const { iterationId } = all[at]!;
        changes.unshift({
          id: `c${changes.length}`,
          at: 1,
          change: "edit",
          conversationId: "",
          queryId,
          iterationId,
          paths,
        });
      }
      const diff = async (): Promise<string> => {
        screen.type(`/diff${ENTER}`);
        const shown = await screen.until("Changes of the last request");
        screen.type(ESCAPE);
        await screen.until((text) => !text.includes("Changes of the last request"));
        return shown.slice(shown.indexOf("Changes of the last request"));
      };
      const made = { path: "b.ts", diff: "--- /dev/null\n+++ b/b.ts\n@@ -0,0 +1 @@\n+new\n" };
      report.files = [made];
      report.kept = [{ path: "a.ts", reason: "got other changes since" }];
      assert.match(await diff(), /\+ two[^]*- two[^]*\+ three[^]*b\.ts \(new\) \+1/);
      assert.deepEqual(asked, [
        ["--changes=c2,c1,c0", "--committed", `--conversation=${conversation}`, "--dryRun", "--rest"],
      ]);
      report.files = [{ path: "a.ts", diff: "--- a.ts\n+++ a.ts\n@@ -1 +1 @@\n-one\n+three\n" }, made];
      report.kept = [];
      const shown = await diff();
      assert.match(shown, /a\.ts \+1 −1 +│\n│ 1 - one +│\n│ 1 \+ three[^]*b\.ts \(new\) \+1/);
      assert.doesNotMatch(shown, /two/);
      report.files = [made];
      assert.doesNotMatch(await diff(), /a\.ts \+1/);
      // Events of large steps have no diffs.
      const lines = "@@ -1,2 +0,0 @@\n-x\n-y\n";
      report.files = [
        { path: "c.ts", diff: `--- a/c.ts\n+++ /dev/null\n${lines}` },
        { path: "d/c.ts", diff: "--- /dev/null\n+++ b/d/c.ts\n@@ -0,0 +1,2 @@\n+x\n+y\n" },
        { path: "e.ts", diff: `--- a/e.ts\n+++ /dev/null\n${lines}` },
      ];
      const moved = await diff();
      assert.match(moved, /│ c\.ts → d\/c\.ts +│[^]*│ e\.ts \(deleted\) −2/);
      assert.doesNotMatch(moved, /[ab]\.ts/);
      report.files = [
        { path: "c.ts", diff: "" },
        { path: "d/c.ts", diff: "--- a/c.ts\n+++ b/d/c.ts\n@@ -1 +1 @@\n-x\n+y\n" },
      ];
      assert.match(await diff(), /│ c\.ts → d\/c\.ts \+1 −1 +│\n│ 1 - x +│\n│ 1 \+ y/);
    });
  });
});

interface Recorded {
  readonly id: string;
  readonly queryId: string;
  readonly iterationId: string;
  readonly paths: readonly string[];
  undone: boolean;
}

Deno.test("/undo and /diff know undone changes, and /undo skips no request that was undone elsewhere", async () => {
  await withFolder(async (workspace) => {
    await Deno.writeTextFile(join(workspace, "a.ts"), "one\n");
    const changes: Recorded[] = [];
    const undos: string[] = [];
    const run = (args: readonly string[], { print }: { readonly print: (text: string) => void }): Promise<number> => {
      if (args.includes("--dryRun")) {
        print(JSON.stringify({ error: "Cannot undo the changes: Vis has no home folder" }));
        return Promise.resolve(1);
      }
      const isRedo = args.includes("--redo");
      const newest = args.includes("--list") ? undefined : changes.find(({ undone }) => undone === isRedo);
      const chosen = changes.filter((one) => one.queryId === newest?.queryId && one.undone === isRedo);
      for (const one of chosen) {
        undos.push(one.id);
        one.undone = !isRedo;
      }
      const facts = (newest ? chosen : changes).map((one) => ({ at: 1, change: "edit", conversationId: "", ...one }));
      print(JSON.stringify({ changes: facts, files: chosen.map(({ paths: [path] }) => ({ path, diff: "" })) }));
      return Promise.resolve(0);
    };
    const extensions = () =>
      Promise.resolve({ run, commands: () => Promise.resolve([]), requests: () => Promise.resolve([]) });
    const replies = [
      replyJson('await fs.edit("a.ts", { old: "one", new: "two" })', { final: "Done: first" }),
      replyJson('await fs.edit("a.ts", { old: "two", new: "three" })'),
      replyJson('await fs.writeFile("b.ts", "new\\n")', { final: "Done: second" }),
    ];
    const clock = new HandClock();
    const options = { engine: { extensions: [fs], workspace }, session: { workspace }, parts: { extensions, clock } };
    await withScreen(replies, options, async ({ screen, engine }) => {
      for (const [at, word] of ["first", "second"].entries()) {
        screen.type(`${word}${ENTER}`);
        await screen.until(`Done: ${word}`);
        await screen.until((text) => !text.includes("Esc cancels"));
        const [branch] = await engine.conversations.list({ limit: 1 });
        const { queryId } = (await engine.conversations.queries(branch!))[at]!;
        for (const { iterationId, position } of await engine.conversations.iterations(queryId)) {
          const paths = position === 0 ? ["a.ts"] : ["b.ts"];
          changes.unshift({ queryId, iterationId, undone: false, id: `${word} ${position}`, paths });
        }
      }
      const setSecond = (...undone: readonly boolean[]): void => {
        for (const [at, one] of undone.entries()) changes[at]!.undone = one;
      };
      setSecond(true, false);
      screen.type(`/diff${ENTER}`);
      const shown = await screen.until(/Changes of the last request, without undone changes[^]*│ a\.ts \+1 −1/);
      assert.doesNotMatch(shown, /│ b\.ts/);
      screen.type(ESCAPE);
      await screen.until((text) => !text.includes("Changes of the last request"));
      setSecond(true, true);
      screen.type(`/diff${ENTER}`);
      await screen.until(/Request 2 was undone; \/diff all shows the uncommitted changes/);
      screen.type(`/undo${ENTER}`);
      await screen.until(/Request 2 was undone elsewhere \(\/redo reapplies it\); \/undo again\s+undoes\s+request 1/);
      setSecond(false, false);
      screen.type(`/undo${ENTER}`);
      await screen.until(/Changes of request 2 were reapplied elsewhere; \/undo again\s+undoes\s+request 2/);
      assert.deepEqual(undos, []);
      screen.type(`/undo${ENTER}`);
      await screen.until(/Undid changes of request 2 in b\.ts, a\.ts \(\/redo reapplies them\)/);
      await screen.until(/· undone · \/redo/);
      screen.type(`/undo${ENTER}`);
      await screen.until(
        /Undid changes in a\.ts [^]*No later request has\s+changes\s+to\s+undo:\s+this is request 1 of 2/,
      );
      assert.deepEqual(undos, ["second 1", "second 0", "first 0"]);
      screen.type(`/redo${ENTER}`);
      await screen.until(/Reapplied changes of request 2 in b\.ts, a\.ts/);
      setSecond(true, true, false);
      const passing = async (wanted: Parameters<typeof screen.until>[0]): Promise<void> => {
        let isShown = false;
        const shownNow = screen.until(wanted).finally(() => isShown = true);
        while (!isShown) {
          clock.pass(1_000);
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        await shownNow;
      };
      await passing(/Request 2 was undone elsewhere/);
      setSecond(false, false, true);
      await passing((text) => !text.includes("elsewhere"));
      setSecond(true, true, false);
      await passing(/Request 2 was undone elsewhere/);
      screen.type(`/undo${ENTER}`);
      await screen.until(/Request 2 was undone elsewhere \(\/redo reapplies it\); \/undo again\s+undoes\s+request 1/);
      await screen.until(/· undone · \/redo/);
    });
  });
});

Deno.test("/help is a panel, and /theme and other names of commands are recognized", async () => {
  await withScreen([], {}, async ({ screen, prefs }) => {
    screen.type("?");
    await screen.until(/Keys and commands[^]*Enter +send/);
    screen.type(LAST);
    await screen.until(/\/palette +search all commands/);
    screen.type(ESCAPE);
    await screen.until((text) => !text.includes("Keys and commands"));
    screen.type(`/theme contrast${ENTER}`);
    await screen.until("Theme: contrast");
    assert.equal(prefs.get().theme, "contrast");
    screen.type(`/theme pink${ENTER}`);
    await screen.until("Unknown theme pink. Choose auto, dark, light, contrast");
    screen.type(`/iterations${ENTER}`);
    await screen.until(() => !prefs.get().iterations);
    screen.type(`/resume${ENTER}`);
    await screen.until(/Conversations/);
  });
});

Deno.test("/theme shows why Vis cannot save the theme", async () => {
  const fault = "Cannot save the display settings in tui.json: access is denied";
  const prefs = { get: () => DEFAULT_PREFS, set: () => Promise.reject(new Error(fault)) };
  await withScreen([], { parts: { prefs } }, async ({ screen }) => {
    screen.type(`/theme contrast${ENTER}`);
    await screen.until(fault);
  });
});

Deno.test("high contrast dims nothing, neither text already on the screen nor the input", async () => {
  await withScreen([final("**Done**\n\n- one\n\n```ts\na // b\n```")], {}, async ({ screen }) => {
    screen.type(`Do it${ENTER}`);
    await screen.until("1 step");
    assert.ok(screen.dimmed().length > 0);
    screen.type(`/theme contrast${ENTER}`);
    await screen.until(() => screen.dimmed().length === 0);
  });
});

Deno.test("deleting a word closes the list of files, so that Enter sends the typed text", async () => {
  await withFolder(async (workspace) => {
    await Deno.writeTextFile(join(workspace, "notes.md"), "");
    await withScreen([final("ok: sent")], { session: { workspace } }, async ({ screen, engine }) => {
      screen.type("@");
      await screen.until("→ notes.md");
      screen.type("\x1b\x7f");
      await screen.until((text) => !text.includes("→ notes.md"));
      screen.type(`Hello${ENTER}`);
      await screen.until("ok: sent");
      assert.match(engine.provider.requests[0]?.texts[1] ?? "", /^Hello$/m);
    });
  });
});

Deno.test("the request of the command line may be a command, a prompt, or a text with a slash", async () => {
  await withFolder(async (workspace) => {
    await Deno.mkdir(join(workspace, ".vis/prompts"), { recursive: true });
    await Deno.writeTextFile(join(workspace, ".vis/prompts/tidy.md"), "Tidy $ARGUMENTS carefully.");
    const asked: readonly [request: string, only: string | undefined, text: RegExp][] = [
      ["/plan split it", "plan", /^split it$/],
      ["/review main security only", "review", /left main [^]*\n\nsecurity only$/],
      ["/tidy a.ts", undefined, /^Tidy a\.ts carefully\.$/],
      ["/tmp is full", undefined, /^\/tmp is full$/],
    ];
    for (const [request, only, text] of asked) {
      await withScreen(
        [final("ok: done")],
        { session: { workspace }, place: { request } },
        async ({ screen, engine }) => {
          await screen.until("ok: done");
          const [conversation] = await engine.conversations.list({ limit: 1 });
          const branch = await engine.conversations.byId(conversation?.conversationId ?? "");
          const [query] = await engine.conversations.queries(branch);
          assert.equal(query?.only, only, request);
          assert.match(query?.text ?? "", text);
        },
      );
    }
    await withScreen([], { place: { request: "/help" } }, async ({ screen }) => {
      await screen.until("Keys and commands");
    });
  });
});

const BARE = { panels: { act: {} }, prefs: { get: () => DEFAULT_PREFS } };

Deno.test("the command line knows each command of the screen", () => {
  const named = commandsOf({ ...BARE, prompts: [], added: [{ name: "mcp-check", doc: "" }] } as never)
    .filter(({ name }) => name !== "mcp-check").flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  assert.deepEqual(
    named.filter((name) => name !== "plan" && name !== "review").toSorted(),
    Object.keys(SCREEN_COMMANDS).toSorted(),
  );
});

Deno.test("neither a file nor an extension replaces a command of the screen, except for review.md", () => {
  const others = Object.keys(SCREEN_COMMANDS).map((name) => ({ name, doc: "", detail: "", text: "" }));
  const withMcp = [...others, { name: "mcp-check", doc: "" }];
  const all = commandsOf({ ...BARE, prompts: others, added: withMcp } as never);
  assert.ok(all.every(({ ofFile }) => !ofFile));
  assert.equal(new Set(all.map(({ name }) => name)).size, all.length);
  const review = { name: "review", detail: "", text: "" };
  const withReview = commandsOf({ ...BARE, prompts: [review], added: [] } as never);
  assert.deepEqual(withReview.filter(({ ofFile }) => ofFile).map(({ name }) => name), ["review"]);
});

Deno.test("a prompt of the workspace is a command that sends its text", async () => {
  await withFolder(async (workspace) => {
    await Deno.mkdir(join(workspace, ".vis/prompts"), { recursive: true });
    await Deno.writeTextFile(join(workspace, ".vis/prompts/review.md"), "Review $ARGUMENTS carefully.");
    await withScreen([final("ok: reviewed")], { session: { workspace } }, async ({ screen, engine }) => {
      screen.type(`/review a.ts${ENTER}`);
      await screen.until("ok: reviewed");
      assert.match(engine.provider.requests[0]?.texts.join("\n") ?? "", /Review a\.ts carefully\./);
    });
  });
});

Deno.test("a line after the name of a prompt is sent after the prompt", async () => {
  await withFolder(async (workspace) => {
    await Deno.mkdir(join(workspace, ".vis/prompts"), { recursive: true });
    await Deno.writeTextFile(join(workspace, ".vis/prompts/review.md"), "Review $ARGUMENTS carefully.");
    const replies = [final("ok: reviewed"), final("ok: more"), final("ok: last")];
    await withScreen(replies, { session: { workspace } }, async ({ screen, engine }) => {
      screen.type(`/review a.ts${ENTER}`);
      screen.type(`second${ENTER}`);
      await screen.until(/ok: \w+/);
      assert.match(engine.provider.requests[0]?.texts.join("\n") ?? "", /Review a\.ts carefully\./);
      await screen.until((text) => !text.includes("Esc cancels"));
    });
  });
});

Deno.test("prompts and skills that are written while the screen is open are listed, and run as they are now", async () => {
  await withFolder(async (workspace) => {
    const skills: { name: string; doc: string; text: string }[] = [];
    const extensions = () =>
      Promise.resolve({
        run: () => Promise.resolve(0),
        commands: () => Promise.resolve([]),
        requests: () => Promise.resolve([...skills]),
      });
    const replies = [final("ok: one"), final("ok: two"), final("ok: three")];
    await withScreen(replies, { session: { workspace }, parts: { extensions } }, async ({ screen, engine }) => {
      const folder = join(workspace, ".claude/commands");
      await Deno.mkdir(folder, { recursive: true });
      await Deno.writeTextFile(join(folder, "ship_it.md"), "Ship $ARGUMENTS today.");
      screen.type("/");
      await screen.until(/→ \w+/);
      screen.type("ship");
      await screen.until(/→ ship_it +Ship/);
      screen.type(`_it a.ts`);
      await screen.until((now) => !now.includes("→ ship_it"));
      screen.type(ENTER);
      await screen.until("ok: one");
      assert.match(engine.provider.requests[0]?.texts.join("\n") ?? "", /Ship a\.ts today\./);
      await Deno.writeTextFile(join(folder, "ship_it.md"), "Ship $ARGUMENTS tomorrow.");
      await screen.until((now) => !now.includes("Esc cancels"));
      screen.type(`/ship_it b.ts${ENTER}`);
      await screen.until("ok: two");
      assert.match(engine.provider.requests[1]?.texts.join("\n") ?? "", /Ship b\.ts tomorrow\./);
      skills.push({ name: "release", doc: "Releases it.", text: "Read the skill release.\n\n$ARGUMENTS" });
      await screen.until((now) => !now.includes("Esc cancels"));
      screen.type(`/release 1.2${ENTER}`);
      await screen.until("ok: three");
      assert.match(engine.provider.requests[2]?.texts.join("\n") ?? "", /Read the skill release\.\n\n1\.2/);
    });
  });
});

Deno.test("a key of the settings performs its action, and the usual key goes to the input", async () => {
  await withScreen([], { prefs: { keys: { palette: "ctrl+p" } } }, async ({ screen }) => {
    screen.type("\x10");
    await screen.until("Commands");
    screen.type(ESCAPE);
    await screen.until((text) => !text.includes("type to find"));
    screen.type("\x0b");
    screen.type("after");
    const text = await screen.until("after");
    assert.doesNotMatch(text, /type to find/);
  });
});

Deno.test("the palette and the help show the user's own keys, and the screen names an unknown action", async () => {
  await withScreen(
    [],
    { prefs: { keys: { palette: "ctrl+p", retry: "ctrl+r", redraw: "ctl+u", pageUp: "alt+u", nosuch: "f2" } } },
    async ({ screen }) => {
      await screen.until("Cannot use the key of nosuch in tui.json: Vis has no such action");
      await screen.until("Cannot use the key of redraw in tui.json: ctl+u is not the name of a key");
      screen.type("\x10");
      assert.match(await screen.until("Alt-M"), /retry .*Ctrl-R/);
      screen.type("inputs");
      assert.doesNotMatch(await screen.until((text) => /find an earlier input/.test(text)), /earlier input.*Ctrl-R/);
      screen.type(ESCAPE);
      await screen.until((text) => !text.includes("type to find"));
      screen.type("?");
      assert.match(await screen.until("Your own keys"), /Ctrl-P +palette/);
    },
  );
});

Deno.test("keyRows() names the user's own keys, and actions without a key", () => {
  const rows = keyRows({ pageUp: "alt+u", retry: "ctrl+r", redraw: "ctrl+l" }).map((row) => row.join(" | ")).join("\n");
  assert.match(
    rows,
    /^Alt-U, PgDn, wheel \| scroll; Shift-Up, Shift-Down by a line; Ctrl-Home, Ctrl-End to the ends$/m,
  );
  assert.match(rows, /^\(no key\) \| find an earlier input/m);
  assert.match(rows, /^Ctrl-L \| draw/m);
  assert.doesNotMatch(keyRows({}).join("\n"), /[{}]|no key/);
});

Deno.test("/diff shows the uncommitted changes if no request has changes, and /diff all shows only them", async () => {
  const diff = "diff --git a/a.ts b/a.ts\nindex 1..2 100644\n--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-one\n+two\n";
  const git: { text: string | Error | null } = { text: null };
  const gitChanges = () => git.text instanceof Error ? Promise.reject(git.text) : Promise.resolve(git.text);
  await withScreen([], { parts: { gitChanges } }, async ({ screen }) => {
    for (
      const [typed, text, told] of [
        ["/diff all", null, /Cannot show the uncommitted changes: git failed/],
        ["/diff all", new Error("Cannot show them: start Vis in mono"), /Cannot show them: start Vis in mono/],
        ["/diff", "", /No request of this conversation has file changes to show, and git\s+shows\s+no\s+uncommitted/],
        ["/diff all", "", /No uncommitted change/],
        ["/diff it", "", /Write \/diff, or \/diff all/],
      ] as const
    ) {
      git.text = text;
      screen.type(`${typed}${ENTER}`);
      await screen.until(told);
    }
    git.text = ` a.ts | 2 +-\n 1 file changed\n\n${diff}${diff.replaceAll("a.ts", "b.ts")}`;
    for (const typed of ["/diff", "/diff all"]) {
      screen.type(`${typed}${ENTER}`);
      await screen.until(/Uncommitted changes: staged[^]*a\.ts \| 2[^]*│ a\.ts \+1 −1 +│\n│ 1 - one[^]*│ b\.ts \+1 −1/);
      screen.type(ESCAPE);
      await screen.until((now) => !now.includes("Uncommitted changes"));
    }
  });
});

Deno.test("/steps 20 lets requests use 20 steps, and a command without parameters ignores words", async () => {
  const works = Array.from({ length: 6 }, (_, at) => replyJson(`const n${at} = ${at}`));
  await withScreen([...works, final("It took seven")], {}, async ({ screen, engine, prefs }) => {
    screen.type(`/steps 20${ENTER}`);
    await screen.until(/a request of this session may take 20 steps before/);
    screen.type(`Work${ENTER}`);
    await screen.until(/It took seven/);
    assert.match(engine.provider.requests[6]?.context ?? "", /^\[iter 7\/20\]/);
    screen.type(`/steps many${ENTER}`);
    await screen.until(/Write a number from 1 to 9999/);
    screen.type(`/undo 3${ENTER}`);
    await screen.until(/Write \/undo, \/undo rest/);
    const { iterations } = prefs.get();
    screen.type(`/steps${ENTER}`);
    await screen.until(() => prefs.get().iterations !== iterations);
  });
});

Deno.test("/find shows texts without the escapes of Markdown, and code as it is", async () => {
  const code = "const words = /a\\*b/; words.source.length";
  await withScreen([replyJson(code), final("Look: done")], {}, async ({ screen }) => {
    screen.type(`Look at 2>&1 | tail${ENTER}`);
    await screen.until("Look: done");
    screen.type(`/find 2>&1 | tail${ENTER}`);
    await screen.until(/“2>&1 \| tail” in 2 lines/);
    assert.match(await screen.until("words = "), /# Look at 2>&1 \| tail[^]*\/a\\\*b\/; words/);
  });
});

Deno.test("/find shows the first place of the words in the whole conversation, and n the next one", async () => {
  const answer = `The needle is here.\n\n${"Hay.\n\n".repeat(60)}A second Needle.`;
  await withScreen([final(answer)], {}, async ({ screen }) => {
    screen.type(`/find needle${ENTER}`);
    await screen.until("This conversation has no request yet");
    screen.type(`Look${ENTER}`);
    await screen.until("A second Needle");
    screen.type(`/find needle${ENTER}`);
    const shown = await screen.until(/“needle” in 2 lines/);
    assert.match(shown, /╭─ Find in the conversation[^]*\n│ > The needle is here\./);
    screen.type("n");
    await screen.until(/│ > A second Needle\./);
    screen.type("\x1b");
    await screen.until((now) => !now.includes("“needle”"));
    screen.type("\x1b");
    await screen.until((now) => !now.includes("╭─"));
    screen.type(`/find${ENTER}`);
    await screen.until("find in this text");
  });
});
