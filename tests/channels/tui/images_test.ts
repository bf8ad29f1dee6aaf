import assert from "node:assert/strict";
import { join } from "node:path";
import { UsageError } from "../../../src/domain/errors.ts";
import type { Engine } from "../../helpers/engine.ts";
import { final, type ScriptedReply } from "../../helpers/scripted_provider.ts";
import { type RigOptions, type ScreenRig, withScreen } from "./_rig.ts";

const ENTER = "\r";
const UP = "\x1b[A";
const BACKSPACE = "\x7f";
const SIGHTED = { scripted: { capabilities: { images: true } } };
const refuseOthers = (_: string, name: string): Promise<string> =>
  name === "nosuch" ? Promise.reject(new UsageError("Cannot review nosuch")) : Promise.resolve(name);
const GIF = new TextEncoder().encode("GIF89a");

/** Shows a screen in a folder with images, by default with a model that accepts them. */
async function withImages(
  replies: readonly ScriptedReply[],
  work: (rig: ScreenRig & { readonly folder: string }) => Promise<void>,
  options: RigOptions = {},
): Promise<void> {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  try {
    await Deno.mkdir(join(folder, "art"));
    for (const name of ["a.gif", "b.png", "my shot.png", join("art", "logo.gif")]) {
      await Deno.writeFile(join(folder, name), GIF);
    }
    await Deno.writeTextFile(join(folder, "words.png"), "no image at all");
    await Deno.writeFile(join(folder, "large.png"), GIF);
    await Deno.truncate(join(folder, "large.png"), 5_000_001);
    const all = { columns: 140, engine: SIGHTED, session: { workspace: folder }, ...options };
    await withScreen(replies, all, (rig) => work({ ...rig, folder }));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function asked({ provider, conversations }: Engine): Promise<readonly [readonly number[], string]> {
  const counts = provider.requests.map(({ messages }) =>
    messages.reduce((sum, { images }) => sum + (images?.length ?? 0), 0)
  );
  const [listed] = await conversations.list({ limit: 1 });
  const queries = await conversations.queries(await conversations.byId(listed?.conversationId ?? ""));
  return [counts, queries.at(-1)?.text ?? ""];
}

Deno.test("a path that is pasted becomes a chip, and its image goes with the message", () =>
  withImages([final("Seen: yes"), final("Later: no image")], async ({ screen, engine, folder }) => {
    screen.type("Compare ");
    screen.paste(join(folder, "a.gif"));
    screen.type("with ");
    screen.paste(`'${join(folder, "my shot.png")}' ${join(folder, "art", "logo.gif")} `);
    screen.type(`please${ENTER}`);
    await screen.until("Seen: yes");
    const text = "Compare [image 1: a.gif] with [image 2: my shot.png] [image 3: art/logo.gif] please";
    assert.deepEqual(await asked(engine), [[3], text]);
    await screen.until((now) => !now.includes("Esc cancels"));
    screen.type(`and now${ENTER}`);
    await screen.until("Later: no image");
    assert.deepEqual(await asked(engine), [[3, 0], "and now"]);
  }));

Deno.test("@path becomes a chip after a blank, or with Enter", () =>
  withImages([final("Seen: yes")], async ({ screen, engine, folder }) => {
    screen.type("look at @a.gif ");
    await screen.until("look at [image 1: a.gif]");
    screen.type(`and @"my shot.png", then (@${join(folder, "b.png")})${ENTER}`);
    await screen.until("Seen: yes");
    const text = "look at [image 1: a.gif] and [image 2: my shot.png], then ([image 3: b.png])";
    assert.deepEqual(await asked(engine), [[3], text]);
  }));

Deno.test("a chip is removed as a whole, and an incomplete chip is text", () =>
  withImages([final("Seen: yes")], async ({ screen, engine }) => {
    screen.type("@a.gif @b.png @art/logo.gif ");
    await screen.until("[image 1: a.gif] [image 2: b.png] [image 3: art/logo.gif]");
    screen.type(BACKSPACE);
    await screen.until((text) => text.includes("[image 2: b.png]") && !text.includes("[image 3"));
    screen.type(`\x1b[D\x1b[D${BACKSPACE}`); // The cursor is inside the second reference.
    await screen.until("[image 2: b.pn]");
    screen.type("\x01\x1b[3~"); // The keys are Home and Delete.
    await screen.until((text) => !text.includes("[image 1"));
    screen.type(`\x05 x${ENTER}`);
    await screen.until("Seen: yes");
    assert.deepEqual(await asked(engine), [[0], "[image 2: b.pn]  x"]);
  }));

Deno.test("a path that cannot be attached is reported, and no typed or pasted text is lost", () =>
  withImages([final("Seen: as text")], async ({ screen, engine, folder }) => {
    for (
      const [name, why] of [["large.png", /5000001 bytes, more than the limit of 5000000/], [
        "words.png",
        /it is not a PNG/,
      ]] as const
    ) {
      screen.paste(join(folder, name));
      await screen.until(why);
      await screen.until(join(folder, name));
      screen.type("\x15");
      await screen.until((text) => !text.includes(name));
    }
    screen.type(`what of @none.png${ENTER}`);
    await screen.until(/Enter sends it as text\. Cannot use image none\.png: there is no such file/);
    await screen.until(/─\n +what of @none\.png/);
    assert.equal(engine.provider.requests.length, 0);
    screen.type(ENTER);
    await screen.until("Seen: as text");
    assert.deepEqual(await asked(engine), [[0], "what of @none.png"]);
  }));

Deno.test("a model without image input is reported before anything is sent or stored", () =>
  withImages([], async ({ screen, engine, folder }) => {
    screen.paste(join(folder, "a.gif"));
    await screen.until("Cannot send images: Vis does not know that");
    await screen.until(join(folder, "a.gif"));
    screen.type(`\x15see @a.gif${ENTER}`);
    await screen.until(/Vis does not know that/);
    await screen.until(/─\n +see @a\.gif/);
    assert.equal(engine.provider.requests.length, 0);
    assert.deepEqual((await engine.conversations.list({ limit: 9 })).filter(({ title }) => title !== "test"), []);
  }, { engine: {} }));

Deno.test("no file is read for a pasted text, only for the user's own words", () =>
  withImages([final("Seen: text")], async ({ screen, engine, folder }) => {
    const text = `the page says: @a.gif and ${join(folder, "b.png")} here`;
    screen.paste(text);
    await screen.until("the page says");
    screen.paste(Array.from({ length: 12 }, (_, n) => `@a.gif ${n}`).join("\n"));
    await screen.until("[paste #1 +12 lines]");
    screen.paste(join(folder, "none.png"));
    await screen.until("none.png");
    screen.type(` ${ENTER}`);
    await screen.until("Seen: text");
    const [counts, request] = await asked(engine);
    assert.deepEqual(counts, [0]);
    assert.ok(request.startsWith(text) && request.endsWith("none.png"), request);
  }));

Deno.test("keys typed while an image is read wait for it", () =>
  withImages([final("Seen: yes")], async ({ screen, engine, folder }) => {
    screen.paste(join(folder, "a.gif"));
    screen.type("what ");
    screen.paste(join(folder, "b.png"));
    screen.type(`is it${ENTER}`);
    await screen.until("Seen: yes");
    assert.deepEqual(await asked(engine), [[2], "[image 1: a.gif] what [image 2: b.png] is it"]);
  }));

Deno.test("a message with an image waits for the end of the running query, and returns with it", () =>
  withImages([{ text: final("never"), delayMs: 60_000 }, final("Seen: yes")], async ({ screen, engine }) => {
    screen.type(`one${ENTER}`);
    await screen.until("waiting for");
    screen.type(`see @a.gif now${ENTER}`);
    await screen.until(/⏎ see \[image 1: a\.gif\] now \(waits for the end of the request/);
    screen.type("\x1b");
    await screen.until((text) => text.includes("cancelled") && /─\n +see \[image 1: a\.gif\] now/.test(text));
    screen.type(ENTER);
    await screen.until("Seen: yes");
    assert.deepEqual(await asked(engine), [[0, 1], "see [image 1: a.gif] now"]);
  }));

Deno.test("an earlier input has the path in place of the chip, and attaches the image again", () =>
  withImages([final("First: yes"), final("Second: yes")], async ({ screen, engine }) => {
    screen.type(`see @"my shot.png" now${ENTER}`);
    await screen.until("First: yes");
    await screen.until((text) => !text.includes("Esc cancels"));
    screen.type(UP);
    await screen.until(/─\n +see @"my shot\.png" now/);
    screen.type(ENTER);
    await screen.until("Second: yes");
    assert.deepEqual(await asked(engine), [[1, 1], "see [image 1: my shot.png] now"]);
  }));

Deno.test("a question with an image is asked again with it", () =>
  withImages([final("First: yes"), final("Second: yes")], async ({ screen, engine }) => {
    screen.type(`see @a.gif${ENTER}`);
    await screen.until("First: yes");
    await screen.until((text) => !text.includes("Esc cancels"));
    screen.type("\x1br");
    await screen.until("Second: yes");
    assert.deepEqual(await asked(engine), [[1, 1], "see [image 1: a.gif]"]);
  }));

Deno.test("a command reads no image", () =>
  withImages([], async ({ screen }) => {
    screen.type(`/hlep @none.png${ENTER}`);
    await screen.until("Unknown command /hlep");
  }));

Deno.test("the images of /plan, /review and /btw go to the model, and their pasted texts become variables", () =>
  withImages(["plan", "review", "aside"].map((word) => final(`Seen: ${word}`)), async ({ screen, engine, folder }) => {
    const pasted = "a rule\n".repeat(4_000);
    const sends = async (command: string, word: string): Promise<void> => {
      screen.type(`${command} `);
      screen.paste(pasted);
      screen.type(" ");
      screen.paste(join(folder, "b.png"));
      await screen.until("[image 1: b.png]");
      screen.type(`and @a.gif${ENTER}`);
      await screen.until(`Seen: ${word}`);
      const { messages, texts } = engine.provider.requests.at(-1)!;
      assert.equal(messages.reduce((sum, { images }) => sum + (images?.length ?? 0), 0), 2, command);
      assert.match(texts.join("\n"), /pasted_\d\b[^\n]*text pasted by the user, 28000 characters/, command);
      await screen.until((text) => !text.includes("Esc cancels"));
    };
    await sends("/plan", "plan");
    await sends("/review main check", "review");
    await sends("/btw what of", "aside");
  }));

Deno.test("a refused /review returns to the input as typed", () =>
  withImages([], async ({ screen, engine, folder }) => {
    screen.type("/review nosuch ");
    screen.paste(join(folder, "b.png"));
    await screen.until("[image 1: b.png]");
    screen.type(`please${ENTER}`);
    await screen.until("Cannot review nosuch");
    await screen.until(/─\n +\/review nosuch \[image 1: b\.png\] please/);
    assert.equal(engine.provider.requests.length, 0);
  }, { engine: { ...SIGHTED, targetOf: refuseOthers } }));

Deno.test("Tab completes the path after an @", () =>
  withImages([], async ({ screen }) => {
    screen.type("see @art/lo\t");
    await screen.until("see @art/logo.gif");
    screen.type(" ");
    await screen.until("see [image 1: art/logo.gif]");
  }));
