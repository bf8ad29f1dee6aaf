import assert from "node:assert/strict";
import { join } from "node:path";
import process from "node:process";
import { final, replyJson } from "../../helpers/scripted_provider.ts";
import { withScreen } from "./_rig.ts";

const ENTER = "\r";
const UP = "\x1b[A", DOWN = "\x1b[B";

Deno.test("a key is drawn at once, also right after another frame", () =>
  withScreen([], {}, async ({ screen }) => {
    await screen.until("Ask anything");
    for (const key of ["a", "b", "c"]) {
      const before = screen.writes.length;
      screen.type(key);
      await new Promise<void>((resolve) => process.nextTick(resolve)); // No timer has run yet.
      assert.match(screen.writes.slice(before).join(""), new RegExp(key));
    }
  }));

Deno.test("a paste of 1 MB becomes a variable that the model works on, whole", async () => {
  const line = "0123456789abcdef\tß\r\n";
  const text = line.repeat(60_000);
  const replies = [
    replyJson("[pasted_1.length, pasted_1.split('\\n').length, pasted_1.slice(0, 18)]"),
    final("Read it: yes"),
  ];
  await withScreen(replies, {}, async ({ screen, engine }) => {
    screen.type("Look at ");
    screen.paste(text);
    await screen.until("[pasted_1: 1.1 MB, 60000 lines]");
    screen.type(` please${ENTER}`);
    await screen.until("Read it: yes");
    assert.match(engine.context(1), /1140000,\s*60001/);
    assert.ok(engine.provider.requests[0]!.bytes < 40_000);
    assert.match(engine.provider.requests[0]!.texts.join("\n"), /Look at \[pasted_1: 1\.1 MB, 60000 lines\] please/);
  });
});

Deno.test("a paste of some lines is sent unchanged, tabs included", async () => {
  const text = Array.from({ length: 30 }, (_, n) => `\tline ${n}`).join("\n");
  await withScreen([final("ok: read")], {}, async ({ screen, engine }) => {
    screen.type("Mend: ");
    screen.paste(text);
    await screen.until("[paste #1 +30 lines]");
    screen.type(ENTER);
    await screen.until("ok: read");
    const [branch] = await engine.conversations.list({ limit: 1 });
    assert.equal((await engine.conversations.queries(branch!))[0]!.text, `Mend: ${text}`);
  });
});

Deno.test("a short paste keeps its tabs, in the input and its history", async () => {
  await withScreen([final("ok: 1"), final("ok: 2")], {}, async ({ screen, engine }) => {
    screen.type("Mend: ");
    screen.paste("all:\n\techo hi\tthere\n");
    await screen.until(/^ Mend: all:\s*\n {4}echo hi {3}there\s*\n/m);
    screen.type(`end${ENTER}`);
    await screen.until("ok: 1");
    screen.type(`${UP}s${ENTER}`);
    await screen.until("ok: 2");
    const [branch] = await engine.conversations.list({ limit: 1 });
    const sent = (await engine.conversations.queries(branch!)).map(({ text }) => text);
    assert.deepEqual(sent, ["Mend: all:\n\techo hi\tthere\nend", "Mend: all:\n\techo hi\tthere\nends"]);
  });
});

Deno.test("an earlier input comes back with the cursor at its end, each line of it and each older input above", async () => {
  const replies = ["1", "2", "3", "4", "5"].map((number) => final(`ok: ${number}`));
  await withScreen(replies, {}, async ({ screen, engine }) => {
    const send = async (keys: string, number: number) => {
      screen.type(`${keys}${ENTER}`);
      await screen.until(`ok: ${number}`);
    };
    await send("first", 1);
    await send("one\x1b\rtwo", 2);
    await send(`${UP} and more`, 3);
    await send(`${UP}${UP}${UP}${UP}${UP} of all`, 4); // Two lines, two lines, and the first input.
    await send(`dra${UP}${UP}${UP}${DOWN}${DOWN}${DOWN}ft`, 5);
    const [branch] = await engine.conversations.list({ limit: 1 });
    const sent = (await engine.conversations.queries(branch!)).map(({ text }) => text);
    assert.deepEqual(sent, ["first", "one\ntwo", "one\ntwo and more", "first of all", "draft"]);
  });
});

Deno.test("the line end of the last line adds no line to a paste", async () => {
  const lines = (count: number) => Array.from({ length: count }, (_, n) => `${count} ${n}\n`).join("");
  await withScreen([final("ok: read")], { rows: 40 }, async ({ screen, engine }) => {
    screen.paste(lines(10));
    await screen.until(/^ 10 9 *$/m);
    screen.paste(lines(11));
    await screen.until("[paste #1 +11 lines]");
    screen.type(`end${ENTER}`);
    await screen.until("ok: read");
    const [branch] = await engine.conversations.list({ limit: 1 });
    assert.equal((await engine.conversations.queries(branch!))[0]!.text, `${lines(10)}${lines(11)}end`);
  });
});

Deno.test("a paste with Enter in it sends nothing", async () => {
  await withScreen([], {}, async ({ screen, engine }) => {
    screen.paste("one\rtwo\rthree");
    await screen.until("three");
    assert.equal(engine.provider.requests.length, 0);
  });
});

Deno.test("several lines are typed with Alt-Enter", async () => {
  await withScreen([final("ok: two lines")], {}, async ({ screen, engine }) => {
    screen.type("one");
    screen.type("\x1b\r");
    screen.type(`two${ENTER}`);
    await screen.until("ok: two lines");
    const [branch] = await engine.conversations.list({ limit: 1 });
    assert.equal((await engine.conversations.queries(branch!))[0]!.text, "one\ntwo");
  });
});

Deno.test("typed inputs are kept for the next session, in a file for its owner alone", async () => {
  const home = await Deno.makeTempDir();
  try {
    await withScreen([final("ok: 1")], { home }, async ({ screen }) => {
      screen.type(`remember me${ENTER}`);
      await screen.until("ok: 1");
    });
    const [file] = await Array.fromAsync(Deno.readDir(join(home, "history")));
    const { mode } = await Deno.stat(join(home, "history", file!.name));
    if (Deno.build.os !== "windows") assert.equal(mode! & 0o777, 0o600);
    await withScreen([], { home }, async ({ screen }) => {
      screen.type(UP);
      await screen.until("remember me");
    });
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});

Deno.test("an unknown command is reported, and the typed text stays", async () => {
  await withScreen([], {}, async ({ screen, engine }) => {
    screen.type("/hlep");
    await screen.until("/hlep");
    screen.type(ENTER);
    const text = await screen.until("Unknown command /hlep");
    assert.match(text, /\n +\/hlep/);
    assert.equal(engine.provider.requests.length, 0);
  });
});

Deno.test("a command of similar programs names the command of Vis", async () => {
  await withScreen([], {}, async ({ screen, engine }) => {
    for (
      const [word, ours] of [
        ["compact", "/new[^]*needs no\\s+compaction"],
        ["cost", "vis db stats"],
        ["usage", "vis db stats"],
        ["clear", "/new"],
        ["context", "/inspect"],
        ["init", "vis auth login"],
        ["agents", "vis extensions"],
        ["login", "/model"],
        ["doctor", "vis doctor"],
        ["approvals", "vis approvals"],
        ["add-dir", "vis --add-dir"],
        ["hotkeys", "/help"],
        ["config", "/settings"],
        ["sessions", "/conversations"],
        ["constructor", ""],
      ] as const
    ) {
      screen.type(`/${word} ${ENTER}`);
      await screen.until(
        new RegExp(`Unknown command /${word}\\. ${ours === "" ? "(?!Vis has)" : `Vis\\s+has[^]*${ours}`}`),
      );
      screen.type("\x03");
      await screen.until((text) => !text.includes(`  /${word}`));
    }
    assert.equal(engine.provider.requests.length, 0);
  });
});

Deno.test("names after a slash are completed; /help lists keys and commands", async () => {
  await withScreen([], { rows: 50 }, async ({ screen }) => {
    screen.type("/he");
    await screen.until("keys and commands");
    screen.type(ENTER);
    const text = await screen.until(/\/conversations +open/);
    assert.match(text, /Esc +cancel the running request/);
  });
});

Deno.test("a path is a message, no command", async () => {
  await withScreen([final("ok: path")], {}, async ({ screen }) => {
    screen.type(`/etc/hosts has what?${ENTER}`);
    await screen.until("ok: path");
  });
});

Deno.test("Up restores the input that Ctrl-C emptied", async () => {
  await withScreen([], {}, async ({ screen }) => {
    screen.type("a long thought");
    await screen.until("a long thought");
    screen.type("\x03");
    await screen.until((text) => !text.includes("a long thought"));
    screen.type(UP);
    await screen.until("a long thought");
  });
});

Deno.test("a file at Tab is completed; one whose name commands the terminal is not offered", async () => {
  const workspace = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(join(workspace, "notes.md"), "");
    if (Deno.build.os !== "windows") await Deno.writeTextFile(join(workspace, "no\x1b]0;owned\x07.md"), "");
    await withScreen([], { session: { workspace } }, async ({ screen }) => {
      screen.type("read ./no\t");
      await screen.until("read ./notes.md");
      assert.ok(!screen.raw.includes("\x1b]0;owned"));
    });
  } finally {
    await Deno.remove(workspace, { recursive: true });
  }
});

Deno.test("a space after a path closes the list of completions, and Enter sends the text", async () => {
  const workspace = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(join(workspace, "notes.md"), "");
    await withScreen([final("ok: 1")], { session: { workspace } }, async ({ screen, engine }) => {
      screen.type("see @note");
      await screen.until("notes.md");
      for (const key of "s.md ") {
        screen.type(key);
        await new Promise((resolve) => setTimeout(resolve, 60));
      }
      screen.type(ENTER);
      await screen.until("ok: 1");
      const [branch] = await engine.conversations.list({ limit: 1 });
      assert.equal((await engine.conversations.queries(branch!))[0]?.text, "see @notes.md");
    });
  } finally {
    await Deno.remove(workspace, { recursive: true });
  }
});

Deno.test("Enter does not apply a list of completions that is older than the text", async () => {
  const workspace = await Deno.makeTempDir();
  try {
    await Deno.mkdir(join(workspace, "packages"));
    await Deno.writeTextFile(join(workspace, "packages/index.js"), "");
    await withScreen([final("ok: 1")], { session: { workspace } }, async ({ screen, engine }) => {
      screen.type("see @pack");
      await screen.until("packages/");
      screen.type(`ages/index.js now${ENTER}`);
      await screen.until("ok: 1");
      screen.type("/he");
      await screen.until("keys and commands");
      screen.type(`lpless text${ENTER}`);
      await screen.until("Unknown command /helpless.");
      const [branch] = await engine.conversations.list({ limit: 1 });
      const queries = await engine.conversations.queries(branch!);
      assert.deepEqual(queries.map(({ text }) => text), ["see @packages/index.js now"]);
    });
  } finally {
    await Deno.remove(workspace, { recursive: true });
  }
});

Deno.test("pasted sequences never reach the terminal: not from the history, not from a returned message", async () => {
  const home = await Deno.makeTempDir();
  const evil = Array.from({ length: 12 }, () => "\x1b]0;owned\x07 \x1b[2J \u202e").join("\n");
  try {
    await withScreen(
      [final("ok: 1"), { text: final("never"), delayMs: 60_000 }],
      { home },
      async ({ screen, engine }) => {
        screen.paste("\x1b]0;owned\x07small");
        await screen.until("small");
        screen.type("\x03");
        screen.paste(evil);
        await screen.until("[paste #1 +12 lines]");
        screen.type(ENTER);
        await screen.until("1 step ");
        screen.type(UP);
        await screen.until((text) => text.split("owned").length > 13);
        screen.type(`\x03wait${ENTER}`);
        await screen.until("waiting for");
        screen.paste(evil);
        await screen.until("[paste #1 +12 lines]");
        screen.type(ENTER);
        await screen.until("⏎");
        screen.type(UP);
        await screen.until((text) => !text.includes("⏎"));
        const [branch] = await engine.conversations.list({ limit: 1 });
        assert.equal((await engine.conversations.queries(branch!))[0]!.text, evil);
        for (const bad of ["\x1b]0;owned", "\u202e"]) assert.ok(!screen.raw.includes(bad), JSON.stringify(bad));
      },
    );
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});

Deno.test("two large pastes that wait are returned as two, each with its own text", async () => {
  const seen = "[pasted_1[0], pasted_2[0]].join()";
  await withScreen(
    [{ text: final("never"), delayMs: 60_000 }, replyJson(seen, { final: "Read: both" })],
    {},
    async ({ screen }) => {
      screen.type(`go${ENTER}`);
      await screen.until("waiting for");
      for (const [at, char] of ["a", "b"].entries()) {
        screen.paste(char.repeat(30_000));
        await screen.until(`[pasted_${at + 1}: 30 kB`);
        screen.type(ENTER);
      }
      await screen.until(/⏎ \[pasted_2[^\n]*waits for the end/);
      screen.type("\x1b");
      await screen.until((text) => text.includes("cancelled") && /pasted_1[^]*pasted_2/.test(text));
      screen.type(ENTER);
      await screen.until("Read: both");
      await screen.until("a,b");
    },
  );
});

Deno.test("Shift-Tab adds /plan to the text, and removes it, whatever its lines and pastes are", async () => {
  const pasted = Array.from({ length: 12 }, (_, at) => `pasted ${at}`).join("\n");
  await withScreen([final("A plan")], { rows: 40 }, async ({ screen, engine }) => {
    const toggle = "\x1b[Z";
    screen.type(toggle);
    await screen.until(/^ \/plan +$/m);
    screen.type(`${toggle}Look\x1b\rat `);
    await screen.until(/^ Look\s*\n at/m);
    screen.paste(pasted);
    await screen.until("[paste #1");
    screen.type(toggle);
    await screen.until(/^ \/plan Look\s*\n at \[paste #1/m);
    screen.type(toggle);
    await screen.until(/^ Look\s*\n at \[paste #1/m);
    screen.type(`${toggle} closely${ENTER}`);
    await screen.until("A plan");
    const [{ texts = [] } = {}] = engine.provider.requests;
    assert.ok(texts.some((text) => text.includes(`Look\nat ${pasted} closely`)));
    assert.match(screen.screen(), /^plan\s*\n› Look/m);
  });
});

Deno.test("a long request shows its beginning and its end, and Ctrl-O shows all of it", async () => {
  const log = Array.from({ length: 60 }, (_, at) => `line ${at}`).join("\n");
  await withScreen([final("It is a log")], { rows: 90 }, async ({ screen }) => {
    screen.paste(log);
    screen.type(`\nWhat is this?${ENTER}`);
    const shown = await screen.until("It is a log");
    assert.match(
      shown,
      /› line 0\s[^]* line 7\s*\n +… 47 more lines \(Ctrl-O\)\s*\n +line 55\s[^]*What is this\?\s*\n\s*\nIt/,
    );
    screen.type("\x0f");
    await screen.until(/ line 7\s*\n +line 8\s[^]* line 59\s*\n +What is this\?/);
  });
});

Deno.test("below a long answer, Ctrl-O, Alt-T and /steps say what they changed above", async () => {
  const story = Array.from({ length: 40 }, (_, at) => `part ${at}.`).join("\n\n");
  await withScreen([replyJson("1 + 1", { thinking: "I add." }), final(story)], { rows: 20 }, async ({ screen }) => {
    screen.type(`Tell${ENTER}`);
    await screen.until("part 39");
    screen.type("\x0f");
    await screen.until("Code and results are whole now: PgUp scrolls up, Ctrl-O shortens them");
    screen.type("\x0f");
    await screen.until("Code and results are shortened now: Ctrl-O shows them whole");
    screen.type("\x1bt");
    await screen.until("Thinking: hidden from now on");
    screen.type(`/steps${ENTER}`);
    await screen.until("Steps: hidden from now on");
  });
});

Deno.test("Alt-Up goes to the beginning of a long answer, and Alt-Down back to the end", async () => {
  const story = Array.from({ length: 40 }, (_, at) => `part ${at}.`).join("\n\n");
  await withScreen([final(story)], { rows: 20 }, async ({ screen }) => {
    screen.type(`Tell${ENTER}`);
    await screen.until("part 39");
    screen.type("\x1b[1;3A");
    assert.match(await screen.until("↓ End"), /^part 0\./);
    screen.type("\x1b[1;3A");
    await screen.until(/^› Tell/);
    screen.type("\x1b[1;3B");
    await screen.until(/^part 0\./);
    screen.type("\x1b[1;3B");
    await screen.until("part 39");
  });
});

Deno.test("Esc twice goes back to an earlier request, and one Esc of a cancelled request does not", async () => {
  await withScreen([final("Told"), { text: final("never"), delayMs: 60_000 }], {}, async ({ screen }) => {
    screen.type(`Tell${ENTER}`);
    await screen.until("Told");
    screen.type(`More${ENTER}`);
    await screen.until("Esc cancels");
    screen.type("\x1b");
    await screen.until("cancelled");
    screen.type("\x1b");
    await screen.until("Esc again goes back to an earlier request");
    screen.type("x\x7f");
    await screen.until((now) => !now.includes("Esc again"));
    screen.type("\x1b");
    await screen.until((now) => now.includes("Esc again") && !now.includes("╭─"));
    screen.type("\x1b");
    await screen.until("╭─ Rewind");
  });
});

Deno.test("two Esc in one read are two Esc keys, and Esc before another sequence stays one", async () => {
  await withScreen([final("Told")], {}, async ({ screen }) => {
    screen.type(`Tell${ENTER}`);
    await screen.until("Told");
    screen.type("\x1b\x1b");
    await screen.until("╭─ Rewind");
    screen.type("\x1b\x1b");
    await screen.until((now) => !now.includes("╭─") && now.includes("Esc again"));
    screen.type("x\x7f");
    await screen.until((now) => !now.includes("Esc again"));
    screen.type(`\x1b${UP}`);
    await screen.until(/^ Tell/m);
  });
});

Deno.test("Ctrl-R finds an earlier input, in this session and in the file of the folder", async () => {
  const home = await Deno.makeTempDir();
  try {
    await withScreen([final("Told")], { home }, async ({ screen }) => {
      screen.type(`Fix the parser tests${ENTER}`);
      await screen.until("Told");
    });
    await withScreen([final("Told"), final("Told again")], { home }, async ({ screen }) => {
      screen.type(`Explain the parser${ENTER}`);
      await screen.until("Told");
      screen.type("\x12");
      await screen.until(/Earlier inputs[^]*❯ Explain the parser[^]*Fix the parser tests/);
      screen.type("\x12");
      await screen.until(/❯ Fix the parser tests/);
      screen.type("\x1b");
      await screen.until((now) => !now.includes("╭─"));
      screen.type("tests parser\x12");
      await screen.until((now) =>
        /filter: tests parser[^]*❯ Fix the parser tests/.test(now) && !/[❯ ] Explain/.test(now)
      );
      screen.type(" nothing");
      await screen.until("no match for");
      screen.type("\x7f".repeat(8));
      await screen.until(/❯ Fix the parser tests/);
      screen.type("\r");
      await screen.until((now) => !now.includes("╭─") && /^ Fix the parser tests +$/m.test(now));
      screen.type(ENTER);
      await screen.until("Told again");
    });
  } finally {
    await Deno.remove(home, { recursive: true });
  }
});
