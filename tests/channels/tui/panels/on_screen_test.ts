import assert from "node:assert/strict";
import type { ConfigAdmin, ProviderAdmin, Session } from "../../../../src/channels/channel.ts";
import type { Engine } from "../../../helpers/engine.ts";
import { final, replyJson } from "../../../helpers/scripted_provider.ts";
import { withScreen } from "../_rig.ts";
import { KEYS } from "./_rig.ts";

const REPLIES = [replyJson("const needle = ['pin', '漢字']"), final("It is {{needle}}"), final("The second one")];

async function twice(engine: Engine): Promise<void> {
  await engine.ask("Find the needle");
  await engine.ask("And now?");
}

const BEGUN = { place: { continue: true }, before: twice } as const;

Deno.test("panels on the screen: Ctrl+K finds a command by letters, its panel replaces the list, Esc leaves it", async () => {
  await withScreen(REPLIES, BEGUN, async ({ screen }) => {
    await screen.until("The second one");
    screen.type(KEYS.ctrl("k"));
    await screen.until(/╭─ Commands ─+╮/);
    screen.type("vars");
    await screen.until(/❯ vars/);
    screen.type(KEYS.enter);
    await screen.until(/╭─ Variables ─[^]*❯ needle = \[ "pin", "漢字" \]/);
    screen.type(KEYS.enter);
    await screen.until(/╭─ needle v1 ─[^]*"pin",/);
    screen.type(KEYS.esc);
    await screen.until(/╭─ Variables ─/);
    screen.type(KEYS.esc);
    await screen.until((text) => !text.includes("╭─"));
    screen.type("typed again");
    await screen.until(/^[^│]*typed again/m);
  });
});

Deno.test("panels on the screen: ? shows the sent messages, on 40 columns too, and after a resize", async () => {
  await withScreen(REPLIES, { ...BEGUN, columns: 40, rows: 16 }, async ({ screen, engine }) => {
    screen.type("\x1bi");
    await screen.until(/╭─ What was sent ─+╮[^]*❯ {5}1 answered/);
    screen.type(KEYS.enter);
    await screen.until(/╭─ Request 2 · step 1 of 1 ─[^]*Facts/);
    screen.type(KEYS.shiftTab + KEYS.shiftTab);
    await screen.until(/Message 4 of 4: user/);
    screen.type("c");
    await screen.until(/Copied/);
    // deno-lint-ignore no-control-regex
    const copied = /\x1b\]52;c;([^\x07]*)\x07/.exec(screen.raw)?.[1] ?? "";
    const text = new TextDecoder().decode(Uint8Array.from(atob(copied), (char) => char.charCodeAt(0)));
    assert.equal(text, engine.provider.requests[2]!.context);
    screen.resize(120, 30);
    await screen.until(/│ \[iter 1\/4\]/);
    screen.resize(20, 5);
    await screen.settled();
    screen.resize(80, 24);
    await screen.until(/╭─ Request 2/);
  });
});

Deno.test("panels on the screen: a search hit opens the conversation at the request or the answer with the words", async () => {
  const long = "more\n\n".repeat(40);
  const before = async (engine: Engine): Promise<void> => {
    await engine.ask(`Plant figs\n${long}`);
    await engine.ask("And now?");
  };
  const replies = [final(`A quince\n\n${long}`), final(`${long}The end`)];
  await withScreen(replies, { place: { continue: true }, before }, async ({ screen }) => {
    for (const [word, text] of [["quince", /^ *A quince/m], ["figs", /› Plant figs/]] as const) {
      await screen.until("The end");
      screen.type("/conversations\r");
      await screen.until("Enter opens");
      screen.type(word);
      await screen.until(`[${word}]`);
      screen.type(KEYS.enter);
      await screen.until((shown) => text.test(shown) && !shown.includes("╭─"));
      screen.type("\x1b[F");
    }
  });
});

Deno.test("panels on the screen: a fork is made at an iteration, and the list of conversations leads back", async () => {
  await withScreen(REPLIES, BEGUN, async ({ screen, engine }) => {
    await screen.until("The second one");
    screen.type("/fork\r");
    await screen.until(/╭─ Fork ─[^]*❯ {5}1 answered/);
    screen.type(KEYS.home + KEYS.right);
    await screen.until(/2 answered/);
    screen.type(KEYS.down + KEYS.enter);
    await screen.until(
      /Now on a new branch, after step 1 of request 1; the previous branch is\s+unchanged \(to\s+open it: \/conversations, then → and\s+Enter\)\.\s+Files\s+stay\s+as\s+they\s+are/,
    );
    assert.doesNotMatch(screen.screen(), /The second one/);
    assert.equal((await engine.conversations.branches(engine.branch.conversationId)).length, 2);
    screen.type("/conversations\r");
    await screen.until(/❯ ● test/);
    screen.type(KEYS.right);
    await screen.until(/And now\? {2}first/);
    screen.type(KEYS.down + KEYS.enter);
    await screen.until("The second one");
  });
});

Deno.test("panels on the screen: a conversation is found by its words, renamed, and deleted from under the screen", async () => {
  await withScreen(REPLIES, { ...BEGUN, columns: 100 }, async ({ screen, engine }) => {
    screen.type("/conversations\r");
    await screen.until(/╭─ Conversations of this workspace/);
    screen.type("second");
    await screen.until(/❯ ● test .*answer +│\n│ {5}The \[second\] one/);
    screen.type(KEYS.ctrl("r") + KEYS.ctrl("u"));
    await screen.until(/title:/);
    screen.type("Renamed 漢字\r");
    await screen.until(/❯ ● Renamed 漢字/);
    screen.type(KEYS.delete);
    await screen.until(/Delete “Renamed 漢字” with all branches\? y\/n/);
    screen.type("y");
    await screen.until(/nothing contains all of these words/);
    assert.equal(await engine.conversations.latest("/nowhere"), null);
    screen.type(KEYS.esc);
    await screen.until((text) => !text.includes("╭─") && !text.includes("The second one"));
  });
});

Deno.test("panels on the screen: settings hold at once", async () => {
  await withScreen(REPLIES, BEGUN, async ({ screen, prefs }) => {
    await screen.until(/needle = \['pin'/);
    screen.type("/settings\r");
    await screen.until(/❯ Thinking +on/);
    screen.type(KEYS.down + " ");
    await screen.until(/❯ Steps +off/);
    assert.equal(prefs.get().iterations, false);
    screen.type(KEYS.esc);
    await screen.until((text) => !text.includes("const needle"));
  });
});

Deno.test("panels on the screen: another model is used from now on and kept", async () => {
  const kept: unknown[] = [];
  const opened: Pick<Session, "provider" | "model">[] = [];
  const report = { name: "two", title: "", protocol: "", baseUrl: "", model: null, root: true, reach: null } as const;
  const key = { provider: "two", title: "", need: "required", from: "", shown: "", fix: "" } as const;
  const facts = { contextTokens: null, price: null, reasoning: false, images: false, known: true, root: true } as const;
  const admin: Partial<ProviderAdmin> = {
    providers: () => Promise.resolve({ providers: [{ ...report, key }], problem: "", notes: [] }),
    models: () =>
      Promise.resolve([{ provider: "two", source: "service", detail: "", models: [{ name: "big", ...facts }] }]),
    loginNames: () => [],
    loginChoices: () => Promise.resolve([]),
  };
  const config: Partial<ConfigAdmin> = {
    set: (name, { words }) => {
      kept.push([name, words]);
      return Promise.resolve({ key: name, path: "", value: words[0], changed: true, overruled: "", extended: "" });
    },
  };
  const parts = {
    providers: () => Promise.resolve(admin as ProviderAdmin),
    config: () => Promise.resolve(config as ConfigAdmin),
  };
  const useModel: NonNullable<Session["useModel"]> = (model) => {
    opened.push(model);
    return Promise.resolve(model);
  };
  await withScreen(REPLIES, { ...BEGUN, session: { useModel }, parts }, async ({ screen }) => {
    screen.type("/model\r");
    await screen.until(/╭─ Model ─[^]*❯ {3}big +price unknown/);
    screen.type(KEYS.enter);
    await screen.until(/two\/big from now on/);
    await screen.until(/two big/);
    assert.deepEqual(kept, [["model", ["two/big"]]]);
    assert.deepEqual(opened.map(({ provider, model }) => [provider, model]), [["two", "big"]]);
  });
});

Deno.test("panels on the screen: a click selects, a second one on the same row opens", async () => {
  await withScreen(REPLIES, { ...BEGUN, columns: 60, rows: 30 }, async ({ screen }) => {
    const click = (text: string): void => {
      const row = screen.lines().findIndex((line) => line.includes(text)) + 1;
      assert.ok(row > 0, `${text} is not on the screen`);
      screen.type(`\x1b[<0;10;${row}M`);
      screen.type(`\x1b[<0;10;${row}m`);
    };
    screen.type(KEYS.ctrl("k"));
    await screen.until(/❯ new/);
    screen.type("sett");
    await screen.until(/❯ settings/);
    click("Commands");
    click("settings ");
    await screen.until(/❯ Thinking +on/);
    click("Mouse");
    await screen.until(/❯ Mouse +on/);
    screen.type(KEYS.esc);
    await screen.until((text) => !text.includes("╭─"));
    screen.type("\x1bi");
    await screen.until(/❯ {5}1 answered/);
    click("▸ 1 Find");
    await screen.until(/❯ ▸ 1 Find/);
    click("▸ 1 Find");
    await screen.until(/▾ 1 Find[^]*2 answered/);
  });
});

Deno.test("panels on the screen: during a query they show the present state, and Esc leaves the panel, not the query", async () => {
  const replies = [replyJson("const first = 1"), () => ({ text: final("It is late"), delayMs: 60_000 })];
  await withScreen(replies, {}, async ({ screen, engine }) => {
    screen.type("Go on\r");
    await screen.until(/✓/);
    screen.type(KEYS.ctrl("k"));
    await screen.until(/❯ new/);
    screen.type("inspect");
    await screen.until(/❯ inspect/);
    screen.type(KEYS.enter);
    await screen.until(/▾ 1 Go on +running[^]*❯ {5}1 const first/);
    screen.type(KEYS.enter);
    await screen.until(/Request 1 · step 1 of 1[^]*Facts/);
    screen.type(KEYS.esc);
    await screen.until(/What was sent/);
    screen.type(KEYS.esc);
    await screen.until((text) => !text.includes("╭─"));
    screen.type(KEYS.ctrl("k"));
    await screen.until(/❯ new/);
    screen.type("fork");
    await screen.until(/❯ fork/);
    screen.type(KEYS.enter);
    await screen.until(/❯ {5}1 const/);
    screen.type(KEYS.enter);
    await screen.until(/Cannot fork the conversation: a request is running; Esc cancels it/);
    const latest = await engine.conversations.latest("/nowhere");
    assert.equal((await engine.conversations.queries(latest!))[0]?.running, true);
    screen.type(KEYS.esc);
    await screen.until(/cancelled/i);
  });
});

const ENTER = "\r";
const ESC = "\x1b";

Deno.test("Ctrl-K opens the palette over the messages, Esc leaves it, and the text of the input stays", async () => {
  await withScreen([], {}, async ({ screen }) => {
    screen.type("a draft");
    await screen.until("a draft");
    screen.type("\x0b");
    await screen.until("Commands");
    screen.type("help");
    await screen.until(/❯ help/);
    screen.type(ESC);
    await screen.until((text) => !text.includes("Commands") && text.includes("a draft"));
  });
});

Deno.test("a command of the palette is run with Enter", async () => {
  await withScreen([], { rows: 50 }, async ({ screen }) => {
    screen.type("\x0b");
    await screen.until("Commands");
    screen.type(`help${ENTER}`);
    await screen.until(/\/conversations +open/);
  });
});

Deno.test("/new begins another conversation, and the one before is still there", async () => {
  await withScreen([final("First: 1"), final("Second: 2")], {}, async ({ screen, engine }) => {
    screen.type(`one${ENTER}`);
    await screen.until("First: 1");
    await screen.until("1 step ");
    screen.type(`/new${ENTER}`);
    await screen.until((text) => !text.includes("First: 1"));
    screen.type(`two${ENTER}`);
    await screen.until("Second: 2");
    assert.equal((await engine.conversations.list({ limit: 9 })).filter(({ queries }) => queries > 0).length, 2);
  });
});

Deno.test("/copy hands the last answer to the terminal's clipboard", async () => {
  await withScreen([final("Copy: this 日本")], {}, async ({ screen }) => {
    screen.type(`one${ENTER}`);
    await screen.until("1 step ");
    screen.type("\x19");
    await screen.until("Copied 13 characters");
    const from = screen.raw.lastIndexOf("\x1b]52;c;") + 7;
    const bytes = screen.raw.slice(from, screen.raw.indexOf("\x07", from));
    assert.equal(
      new TextDecoder().decode(Uint8Array.from(atob(bytes), (char) => char.charCodeAt(0))),
      "Copy: this 日本",
    );
  });
});

Deno.test("/copy names the size of an answer that is too long for the clipboard, the limit and a way out", async () => {
  await withScreen([{ text: final("x".repeat(1_000_001)), chunk: 1 << 20 }], {}, async ({ screen }) => {
    screen.type(`one${ENTER}`);
    await screen.until("1 step ");
    screen.type("\x19");
    await screen.until(
      "Cannot copy 1000001 bytes: the limit is 1000000 bytes; copy a part",
    );
  });
});

Deno.test("text selected with the mouse is copied", async () => {
  await withScreen([final("Drag: over these words")], {}, async ({ screen }) => {
    screen.type(`one${ENTER}`);
    await screen.until("1 step ");
    const row = screen.lines().findIndex((line) => line.includes("Drag: over")) + 1;
    screen.type(`\x1b[<0;1;${row}M`);
    screen.type(`\x1b[<32;5;${row}M`);
    screen.type(`\x1b[<0;5;${row}m`);
    await screen.until("Copied!");
    assert.ok(screen.raw.includes(`\x1b]52;c;${btoa("Drag")}`) || screen.raw.includes(`\x1b]52;c;${btoa("Drag:")}`));
  });
});
