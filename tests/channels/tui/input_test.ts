import assert from "node:assert/strict";
import { join } from "node:path";
import { replyJson } from "../../helpers/scripted_provider.ts";
import { withScreen } from "./_rig.ts";

const ENTER = "\r";
const UP = "\x1b[A";
const final = (answer: string) => replyJson([], { final: answer });

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
    await screen.until("[pasted_1: 1.1 MB, 60001 lines]");
    screen.type(` please${ENTER}`);
    const shown = await screen.until("Read it: yes");
    assert.match(shown, /1140000, *60001/);
    assert.ok(engine.provider.requests[0]!.bytes < 40_000);
    assert.match(engine.provider.requests[0]!.texts.join("\n"), /Look at \[pasted_1: 1\.1 MB, 60001 lines\] please/);
  });
});

Deno.test("a paste of some lines goes with the request exactly as it was, tabs included", async () => {
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

Deno.test("what was typed is there again in the next session, in a file for its owner alone", async () => {
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

Deno.test("a command that does not exist is told, and what was typed stays", async () => {
  await withScreen([], {}, async ({ screen, engine }) => {
    screen.type("/hlep");
    await screen.until("/hlep");
    screen.type(ENTER);
    const text = await screen.until("There is no /hlep");
    assert.match(text, /\n +\/hlep/);
    assert.equal(engine.provider.requests.length, 0);
  });
});

Deno.test("names behind a slash are completed; /help tells keys and commands", async () => {
  await withScreen([], { rows: 50 }, async ({ screen }) => {
    screen.type("/he");
    await screen.until("keys and commands");
    screen.type(ENTER);
    const text = await screen.until("/conversations: ");
    assert.match(text, /Esc: end the running query/);
  });
});

Deno.test("a path is a message, no command", async () => {
  await withScreen([final("ok: path")], {}, async ({ screen }) => {
    screen.type(`/etc/hosts has what?${ENTER}`);
    await screen.until("ok: path");
  });
});
