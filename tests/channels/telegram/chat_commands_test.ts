import assert from "node:assert/strict";
import { ConfigError } from "../../../src/domain/errors.ts";
import { replyJson } from "../../helpers/scripted_provider.ts";
import { sessionOf, withBot } from "./_rig.ts";

const answer = (text: string): string => replyJson([], { final: text });

Deno.test("/fork continues without the last request, /usage counts, /model chooses, /help explains", () =>
  withBot([answer("one"), answer("two"), answer("three")], async ({ api, engine, until }) => {
    const models: (string | null)[] = [];
    const told = async (said: string, expected: RegExp): Promise<void> => {
      const before = api.messages.length;
      api.say(said);
      await until(() => api.shown().slice(before).some((text) => expected.test(text)), `${said} ${expected}`);
    };
    await told("/usage", /^0 requests/);
    await told("/fork", /^⚠️ Cannot fork the conversation: it has no request yet; send one first/);
    await told("a", /^one/);
    await told("b", /^two/);
    await told("/usage", /^2 requests, 2 steps, .*\n\d+ → \d+ tokens · price unknown\n/);
    await told("/fork x", /^⚠️ Cannot fork the conversation: x is not a number from 0 to 9999/);
    await told(
      "/fork 9",
      /^⚠️ Cannot leave out 9 requests: the conversation has [12] requests?; write a smaller number$/,
    );
    await told("/fork 1", /^This is a copy of the conversation without the last request/);
    await told("/usage", /^1 request,/);
    await told("/model", /^This chat uses script of p\.\nscript {2}←\nother$/);
    await told("/model othr", /^⚠️ Cannot use othr: .*did you mean other\?/);
    await told("/model other", /^From the next message on: other of p/);
    await told("c", /^three[^]* · other · /);
    await told("/model", /^This chat uses other of p\.\nscript\nother {2}←\n\/model default: the configured model$/);
    await told("/model default", /^From the next message on: script of p/);
    await told("/model OTH", /^From the next message on: other of p/);
    await told("/model t", /^⚠️ Cannot use t: several models have it in their names; choose one of\nscript\nother$/);
    await told("/start", /^Hello, I am Vis: .* the folder nowhere, with script of p\.\n\nWrite what you need\. /);
    await told("/nonsense", /^Unknown command \/nonsense: \/help lists/);
    await told("/modle", /^Unknown command \/modle: did you mean \/model/);
    await told("/stop", /^Nothing is running/);
    await told("/help", /\/fork – /);
    assert.deepEqual(models, []);
    const [conversation] = await engine.conversations.list({ limit: 9, channel: "telegram" });
    assert.equal((await engine.conversations.branches(conversation?.conversationId ?? "")).length, 2);
  }));

Deno.test("a chat keeps the folder of its conversation until /new, and /start names this folder", () =>
  withBot([answer("one")], async ({ api, engine, until, restart }) => {
    const told = async (said: string, expected: RegExp): Promise<void> => {
      const before = api.messages.length;
      api.say(said);
      await until(() => api.shown().slice(before).some((text) => expected.test(text)), `${said} ${expected}`);
    };
    await told("/start", /the folder nowhere,/);
    await restart({ open: () => Promise.resolve({ ...sessionOf(engine, "script"), workspace: "/second" }) });
    await told("/start", /the folder second,/);
    await told("a", /^one/);
    await restart({ open: () => Promise.resolve({ ...sessionOf(engine, "script"), workspace: "/third" }) });
    await told("/start", /the folder second,/);
    await told("/new", /^Started a new conversation/);
    await told("/start", /the folder third,/);
  }));

Deno.test("a chat whose model cannot be used any more gets the reason, and chooses another one", () => {
  const gone = (model: string | null, engine: Parameters<typeof sessionOf>[0]) =>
    model === "other"
      ? Promise.reject(new ConfigError("Cannot use provider q: it has no key"))
      : Promise.resolve(sessionOf(engine, model ?? "script"));
  return withBot([answer("one")], async ({ api, engine, until, restart }) => {
    api.say("/model other");
    await until(() => api.shown().includes("From the next message on: other of p"));
    await restart({ open: (model) => gone(model, engine) });
    const told = async (said: string, expected: RegExp): Promise<void> => {
      const before = api.messages.length;
      api.say(said);
      await until(() => api.shown().slice(before).some((text) => expected.test(text)), `${said} ${expected}`);
    };
    await told("a", /^⚠️ Cannot use provider q/);
    await told("/model", /^⚠️ Cannot use provider q: it has no key\nscript\nother\n\/model default/);
    await told("/model other", /^⚠️ Cannot use provider q/);
    await told("/model default", /^From the next message on: script of p/);
    await told("b", /^one/);
  });
});

Deno.test("a bot whose chats choose one model after the other keeps a few sessions open, and answers in each", () => {
  const names = Array.from({ length: 12 }, (_, n) => `m${n}`);
  const open = new Set<string>();
  let most = 0;
  return withBot(names.map((name) => answer(`by ${name}.`)), async ({ api, engine, until, restart }) => {
    await restart({
      models: () => Promise.resolve(names),
      open: (model) => {
        open.add(model ?? "script");
        most = Math.max(most, open.size);
        const close = () => Promise.resolve(void open.delete(model ?? "script"));
        return Promise.resolve({ ...sessionOf(engine, model ?? "script"), close });
      },
    });
    for (const name of names) {
      api.say(`/model ${name}`);
      await until(() => api.shown().includes(`From the next message on: ${name} of p`));
      api.say("a");
      await until(() => api.shown().some((text) => text.startsWith(`by ${name}.`) && text.includes(` · ${name} · `)));
    }
    assert.ok(open.size <= 5 && most <= 6, `${open.size} ${most}`);
  });
});
