import { replyJson } from "../../helpers/scripted_provider.ts";
import type { MockReply, MockRequest } from "../../helpers/wires/openai_mock.ts";

const DELAY_MS = 50;

/** Each request "add N" appends N to `list` in its first iteration and answers with the whole list in the second. A
 * reply depends only on its request, so any node may call the model, any number of times. */
export function chaosReply({ texts }: MockRequest): MockReply {
  const [, what = "note"] = /\badd (\w+)/.exec(texts[1] ?? "") ?? [];
  if (what === "note") return { text: replyJson([], { final: "noted" }), delayMs: DELAY_MS };
  const isFirst = /^\[iter 1\//.test(texts.at(-1) ?? "");
  const reply = isFirst
    ? replyJson(`var list = [...(typeof list === "undefined" ? [] : list), "${what}"]`)
    : replyJson('var said = list.join("+")', { final: "{{said}}" });
  return { text: reply, delayMs: DELAY_MS };
}
