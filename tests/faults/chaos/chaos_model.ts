import { replyJson } from "../../helpers/scripted_provider.ts";
import type { MockReply, MockRequest } from "../../helpers/wires/openai_mock.ts";

const DELAY_MS = 50;

/** Each request "add N" appends N to `list` in its first iteration and answers with all of it in the second. What it
 * replies depends only on what it is shown, so it does not matter which node calls it and how often. */
export function chaosReply({ texts }: MockRequest): MockReply {
  const [, what = "note"] = /\badd (\w+)/.exec(texts[1] ?? "") ?? [];
  if (what === "note") return { text: replyJson([], { final: "noted" }), delayMs: DELAY_MS };
  const isFirst = /^\[iter 1\//.test(texts.at(-1) ?? "");
  const reply = isFirst
    ? replyJson(`var list = [...(typeof list === "undefined" ? [] : list), "${what}"]`)
    : replyJson('var said = list.join("+")', { final: "{{said}}" });
  return { text: reply, delayMs: DELAY_MS };
}
