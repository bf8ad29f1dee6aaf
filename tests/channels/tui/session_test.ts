import assert from "node:assert/strict";
import type { ExtensionAdmin } from "../../../src/domain/admin_reports.ts";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { withScreen } from "./_rig.ts";

const ENTER = "\r";
const ESC = "\x1b";
const CTRL_V = "\x16";
const CTRL_X_CTRL_E = ["\x18", "\x05"];
const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0]);

Deno.test("/think and /budget hold for the next requests", async () => {
  await withScreen([final("Done: one"), replyJson("1"), final("Done: two")], {}, async ({ screen, engine }) => {
    for (
      const [typed, told] of [
        ["/think", "Thinking: auto (choose quick, balanced, deep, auto)"],
        ["/think hard", "Unknown level hard. Choose quick"],
        ["/think deep", /Thinking: deep from the next request on[^]* script · thinking deep/],
        ["/think auto", /Thinking: auto from the next request on[^]* script(?! · thinking)/],
        ["/think deep", "Thinking: deep from the next request on"],
        ["/budget", "may take as much as the settings say"],
        ["/budget much", "Write a number of steps or an amount"],
        ["/budget 1 step", /may take 1 step\s+before\s+the\s+model\s+must\s+ask\s+for\s+more/],
      ]
    ) {
      screen.type(typed + ENTER);
      await screen.until(told!);
    }
    screen.type(`go${ENTER}`);
    await screen.until("Done: one");
    assert.equal(engine.provider.requests[0]!.reasoning, "deep");
    screen.type(`/budget $0.5${ENTER}`);
    await screen.until(/and\s+at\s+most\s+\$0\.5/);
    screen.type(`again${ENTER}`);
    await screen.until("Cannot use script with a limit of $0.5");
    screen.type(`\x15/budget off${ENTER}`);
    await screen.until("as much as the settings say");
  });
});

Deno.test("/rename changes the title of the conversation and of the window", async () => {
  await withScreen([final("Done: one")], {}, async ({ screen, engine }) => {
    screen.type(`/rename Too early${ENTER}`);
    await screen.until("it has no request yet");
    screen.type(`fix the parser${ENTER}`);
    await screen.until("Done: one");
    assert.ok(screen.raw.includes("\x1b]0;… "), "the window says that something runs");
    screen.type(`/rename The parser${ENTER}`);
    await screen.until("Renamed to The parser");
    assert.ok(screen.raw.includes("\x1b]0;The parser\x07"));
    assert.equal((await engine.conversations.list({ limit: 1 }))[0]?.title, "The parser");
  });
});

Deno.test("Ctrl-X Ctrl-E edits the text of the input elsewhere", async () => {
  const given: string[] = [];
  const edit = (text: string): Promise<string> => {
    given.push(text);
    return Promise.resolve("one\nand two");
  };
  await withScreen([final("Done: one")], { parts: { edit } }, async ({ screen, engine }) => {
    screen.type("one");
    await screen.until(" one");
    for (const key of CTRL_X_CTRL_E) screen.type(key);
    await screen.until("and two");
    screen.type(ENTER);
    await screen.until("Done: one");
    assert.deepEqual(given, ["one"]);
    assert.match(JSON.stringify(engine.provider.requests[0]), /one\\nand two/);
  });
});

Deno.test("Ctrl-V attaches the image in the clipboard, and reports a clipboard without one", async () => {
  const images = [null, PNG];
  const clipboardImage = () => Promise.resolve(images.shift() ?? null);
  const scripted = { capabilities: { images: true } };
  await withScreen([final("Done: seen")], { parts: { clipboardImage }, engine: { scripted } }, async ({ screen }) => {
    screen.type(CTRL_V);
    await screen.until("Cannot attach an image: the clipboard has none");
    screen.type(CTRL_V);
    await screen.until("[image 1: clipboard]");
  });
});

Deno.test("the keys of vi: Esc begins the normal mode, letters move and delete, i inserts", async () => {
  await withScreen([final("Done: one")], { prefs: { vim: true } }, async ({ screen, engine }) => {
    screen.type("one two tree");
    await screen.until("one two tree");
    screen.type(ESC);
    await screen.until(/NORMAL/);
    screen.type("0dwA!");
    await screen.until((now) => / two tree!/.test(now) && !now.includes("one two") && !now.includes("NORMAL"));
    screen.type(ESC);
    await screen.until(/NORMAL/);
    screen.type("0wlih");
    await screen.until("two three");
    screen.type(ENTER);
    await screen.until("Done: one");
    assert.match(JSON.stringify(engine.provider.requests[0]), /two three!/);
  });
});

Deno.test("a desktop notification reports an end or a question while another window has the focus", async () => {
  const { ASKING } = await import("../../helpers/asking_extension.ts");
  const replies = [replyJson("await asking.open()"), final("Done: open")];
  await withScreen(replies, { engine: { extensions: [ASKING] } }, async ({ screen }) => {
    screen.type(`go\x1b[O${ENTER}`);
    await screen.until("Vis asks");
    assert.ok(screen.raw.includes("\x1b]9;Vis: Allow Vis to open doors?\x07"));
    assert.ok(screen.raw.includes("\x1b]777;notify;Vis;Allow Vis to open doors?\x07"));
  });
  await withScreen(replies, { engine: { extensions: [ASKING] } }, async ({ screen }) => {
    screen.type(`go\x1b[O\x1b[I${ENTER}`);
    await screen.until("Vis asks");
    assert.ok(!screen.raw.includes("\x1b]9;"));
  });
});

Deno.test("/btw answers beside the conversation and leaves no trace", async () => {
  const gate = Promise.withResolvers<void>();
  const aside = { text: final(`Aside: a **monoid** ${"of endofunctors ".repeat(40)}END`), between: gate.promise };
  const long = final(`${"a word ".repeat(1_500)}\n\nMain: done`);
  await withScreen([long, aside], {}, async ({ screen, engine }) => {
    screen.type(`work${ENTER}`);
    await screen.until("Main: done");
    screen.type("\x0bbtw");
    await screen.until(/❯ btw/);
    screen.type(ENTER);
    await screen.until((now) => /^ \/btw/m.test(now) && !now.includes("Commands"));
    screen.type(`what is a monad?${ENTER}`);
    const written = await screen.until((now) => now.includes("Aside: a monoid") && now.includes("answering …"));
    assert.ok(!written.includes("END"), "the words show while the model writes");
    gate.resolve();
    await screen.until((now) => now.includes("END") && !now.includes("answering …"));
    assert.match(JSON.stringify(engine.provider.requests[1]), /the conversation so far, as Markdown.*Main: done/);
    screen.type(ESC);
    await screen.until((now) => !now.includes("Aside"));
    const listed = await engine.conversations.list({ limit: 9 });
    assert.deepEqual(listed.map(({ title }) => title).filter((title) => title !== "test"), ["work"]);
    assert.equal((await engine.conversations.queries(listed[0]!)).length, 1);
  });
});

Deno.test("commands of extensions are commands of the screen, and /mcp shows the states of servers", async () => {
  const asked: (readonly string[])[] = [];
  const extensions = () =>
    Promise.resolve({
      commands: () => Promise.resolve([{ name: "mcp-check", doc: "Start the servers.", flags: [] }]),
      requests: () => Promise.resolve([{ name: "release", doc: "How to release", text: "Follow release: $ARGUMENTS" }]),
      run: (args: readonly string[], { print }: { readonly print: (text: string) => void }) => {
        asked.push(args);
        print("github: 12 tools\n");
        return Promise.resolve(0);
      },
    });
  await withScreen([final("Released: 2")], { parts: { extensions } }, async ({ screen, engine }) => {
    screen.type("/mcp-ch");
    await screen.until("Start the servers.");
    screen.type("eck github");
    await screen.until((now) => now.includes("/mcp-check github") && !now.includes("Start the servers."));
    screen.type(ENTER);
    await screen.until("github: 12 tools");
    screen.type(ESC);
    await screen.until((now) => !now.includes("12 tools"));
    screen.type("/mcp");
    await screen.until("their states");
    screen.type(ENTER);
    await screen.until("github: 12 tools");
    screen.type(ESC);
    await screen.until((now) => !now.includes("12 tools"));
    screen.type(`/mcp-check "two words" --name='a b' don't${ENTER}`);
    await screen.until("github: 12 tools");
    assert.deepEqual(asked, [["mcp-check", "github"], ["mcp-check"], [
      "mcp-check",
      "two words",
      "--name=a b",
      "don't",
    ]]);
    screen.type(ESC);
    await screen.until((now) => !now.includes("12 tools"));
    screen.type("/release version 2");
    await screen.until((now) => now.includes("/release version 2") && !now.includes("How to release"));
    screen.type(ENTER);
    await screen.until("Released: 2");
    assert.match(JSON.stringify(engine.provider.requests[0]), /Follow release: version 2/);
  });
});

Deno.test("/undo names the command that undoes changes of a commit anyway", async () => {
  const report = { error: "Cannot undo: a.ts went into a git commit since", code: "files_changed" };
  const run = (_args: readonly string[], { print }: { readonly print: (text: string) => void }): Promise<number> => {
    print(JSON.stringify(report));
    return Promise.resolve(1);
  };
  const extensions = () =>
    Promise.resolve({ run, commands: () => Promise.resolve([]), requests: () => Promise.resolve([]) });
  await withScreen([final("Done: one")], { parts: { extensions } }, async ({ screen }) => {
    screen.type(`first${ENTER}`);
    await screen.until("Done: one");
    await screen.until((now) => !now.includes("Esc cancels"));
    screen.type(`/undo${ENTER}`);
    await screen.until(/a\.ts went into a git commit since; \/undo\s+force\s+undoes\s+it\s+anyway/);
  });
});

Deno.test("/undo names the files that prevent it, /undo rest undoes the others, and /undo force all", async () => {
  const error = "Cannot undo: b.ts got other changes since; no file changed";
  const refusal = { error, code: "files_changed", others: 1 };
  const done = { changes: [], files: [{ path: "a.ts", diff: "" }] };
  const run = (args: readonly string[], { print }: { readonly print: (text: string) => void }): Promise<number> => {
    const all = { ...done, files: [{ path: "all.ts", diff: "" }] };
    const isDone = args.includes("--rest") || args.includes("--list");
    print(JSON.stringify(args.includes("--force") ? all : isDone ? done : refusal));
    return Promise.resolve(0);
  };
  const extensions = () =>
    Promise.resolve({ run, commands: () => Promise.resolve([]), requests: () => Promise.resolve([]) });
  await withScreen([final("Done: one")], { parts: { extensions } }, async ({ screen }) => {
    screen.type(`first${ENTER}`);
    await screen.until("Done: one");
    await screen.until((now) => !now.includes("Esc cancels"));
    screen.type(`/undo${ENTER}`);
    await screen.until(/b\.ts got other changes[^]*\/undo\s+rest undoes\s+the\s+other\s+file/);
    screen.type(`/undo rest${ENTER}`);
    await screen.until("Undid changes in a.ts");
    screen.type(`/undo force${ENTER}`);
    await screen.until("Undid changes in all.ts");
  });
});

const KEPT_FIRST =
  /\n Kept INDEX\.txt \(got other changes since\);\s+\/undo force\s+overwrites\s+it\.\s+Undid\s+changes\s+in\s+a\.ts/;

Deno.test("/rewind shows later changes, and reverts the conversation, the files, or both", async () => {
  for (
    const [choice, calls, told, isRetried] of [
      ["c", 2, "Now on a new branch", false],
      ["f", 3, KEPT_FIRST, false],
      ["b", 3, KEPT_FIRST, true],
    ] as const
  ) {
    const asked: (readonly string[])[] = [];
    const known = { queryId: "" };
    const run = (args: readonly string[], { print }: { readonly print: (text: string) => void }): Promise<number> => {
      asked.push(args);
      const change = { at: 1, change: "edit", conversationId: "", paths: ["a.ts"] };
      const changes = [{ ...change, id: "c1", queryId: "other" }, { ...change, id: "c2", queryId: known.queryId }];
      const kept = [{ path: "INDEX.txt", reason: "got other changes since" }];
      const files = [{ path: "a.ts", diff: "--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-two\n+one\n" }];
      print(
        JSON.stringify(args.includes("--list") ? { changes } : { changes: [], files, kept, code: "files_changed" }),
      );
      return Promise.resolve(0);
    };
    const extensions = () =>
      Promise.resolve({ run, commands: () => Promise.resolve([]), requests: () => Promise.resolve([]) });
    await withScreen(
      [final("Done: one"), final("Done: two"), final("Done: three")],
      { parts: { extensions } },
      async ({ screen, engine }) => {
        screen.type(`first${ENTER}`);
        await screen.until("Done: one");
        screen.type(`second${ENTER}`);
        await screen.until("Done: two");
        const [branch] = await engine.conversations.list({ limit: 1 });
        known.queryId = (await engine.conversations.queries(branch!))[1]!.queryId;
        if (isRetried) {
          await screen.until((now) => !now.includes("Esc cancels"));
          screen.type("\x1br");
          await screen.until("Done: three");
        }
        screen.type(`/rewind${ENTER}`);
        await screen.until(/❯ ▾ 2 second[^]*\n.* 1 answered/);
        screen.type("second");
        await screen.until((now) => !now.includes("1 first") && /❯ ▾ 2 second/.test(now));
        screen.type(ENTER);
        await screen.until((now) =>
          now.includes("before “second”") && now.includes("1 + one") && now.includes("a.ts +1 −1") &&
          now.includes("Keeps INDEX.txt (got other changes since)")
        );
        // Text that is meant for the input changes nothing.
        screen.type("all of it");
        screen.type(ENTER);
        screen.type(choice);
        await screen.until("press Enter");
        assert.equal(asked.length, 2);
        screen.type(ENTER);
        await screen.until(told);
        assert.equal(asked.filter((args, at) => at === 0 || !args.includes("--list")).length, calls);
        assert.ok(["--changes=c2", "--dryRun", "--rest"].every((word) => asked[1]!.includes(word)));
        if (choice !== "c") assert.ok(asked[2]!.includes("--rest") && !asked[2]!.includes("--dryRun"));
        const branches = await engine.conversations.branches(branch!.conversationId);
        assert.equal(branches.length, choice === "f" ? 1 : 2);
        if (choice !== "f") {
          await screen.until((now) => !/Done: (?:two|three)/.test(now) && now.includes("second"));
        }
        if (choice === "b") {
          screen.type(`\x15/redo${ENTER}`);
          await screen.until(/Reapplied\s+changes\s+in\s+a\.ts/);
          const redo = asked.find((args) => args.includes("--redo")) ?? [];
          assert.deepEqual(redo, ["undo", `--conversation=${branch!.conversationId}`, "--redo"]);
        }
      },
    );
  }
});

Deno.test("/rewind goes back in the conversation although no file can go back, and says why", async () => {
  const fault = "Cannot undo: a.ts went into a git commit since";
  const known = { queryId: "" };
  const run = (args: readonly string[], { print }: { readonly print: (text: string) => void }): Promise<number> => {
    const change = { id: "c1", at: 1, change: "edit", conversationId: "", queryId: known.queryId, paths: ["a.ts"] };
    print(JSON.stringify(args.includes("--list") ? { changes: [change] } : { error: fault, code: "files_changed" }));
    return Promise.resolve(0);
  };
  const extensions = () =>
    Promise.resolve({ run, commands: () => Promise.resolve([]), requests: () => Promise.resolve([]) });
  await withScreen([final("Done: one")], { parts: { extensions } }, async ({ screen, engine }) => {
    screen.type(`first${ENTER}`);
    await screen.until("Done: one");
    const [branch] = await engine.conversations.list({ limit: 1 });
    known.queryId = (await engine.conversations.queries(branch!))[0]!.queryId;
    await screen.until((now) => !now.includes("Esc cancels"));
    screen.type(`/rewind${ENTER}`);
    await screen.until(/❯ ▾ 1 first[^]*\n.* 1 answered/);
    screen.type("first");
    await screen.until(/❯ ▾ 1 first/);
    screen.type(ENTER);
    await screen.until((now) => now.includes("c  the conversation only") && now.includes(fault));
    screen.type("c");
    await screen.until("press Enter");
    screen.type(ENTER);
    await screen.until("Now on a new branch");
    assert.equal((await engine.conversations.branches(branch!.conversationId)).length, 2);
  });
});

Deno.test("a command of an extension asks on the screen, one question at a time, and Esc ends it", async () => {
  const answers: string[] = [];
  const ended = Promise.withResolvers<string>();
  const extensions = () =>
    Promise.resolve({
      commands: () => Promise.resolve([{ name: "set-up", doc: "Sets it up.", flags: [] }]),
      requests: () => Promise.resolve([]),
      run: async (_args: readonly string[], user: Parameters<ExtensionAdmin["run"]>[1]) => {
        user.print("Welcome\n");
        answers.push(...await Promise.all([user.ask!("Two lines\nYour name?"), user.ask!("Your town?")]));
        await user.ask!("Anything else?").catch((error: Error) => ended.resolve(error.name));
        return 0;
      },
    });
  await withScreen([], { parts: { extensions } }, async ({ screen }) => {
    screen.type(`/set-up`);
    await screen.until("Sets it up.");
    screen.type(ENTER);
    await screen.until(/Welcome[^]*Two lines[^]*Your name\?/);
    assert.doesNotMatch(screen.screen(), /town|loading/);
    screen.type(`Ada / n${ENTER}`);
    await screen.until(/Your name\? Ada \/ n[^]*Your town\?/);
    screen.type(`Oslo${ENTER}`);
    await screen.until(/Your town\? Oslo[^]*Anything else\?/);
    screen.type(ESC);
    assert.equal(typeof await ended.promise, "string");
    await screen.until((now) => !now.includes("Oslo"));
    assert.deepEqual(answers, ["Ada / n", "Oslo"]);
  });
});
