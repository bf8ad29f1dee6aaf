import { asRecord } from "../kit/json.ts";
import { oneLine, visibleText } from "../kit/text.ts";
import type { PlanItem } from "./query_schemas.ts";

export const PLAN_VARIABLE = "$plan";

const SETS_PLAN = /^(?:\s*\/\/.*\n)*\s*(?:(?:const|let|var)\s+)?\$plan\s*=(?!=)/;

export function beginsWithPlan(code: string): boolean {
  return SETS_PLAN.test(code);
}

const MOST_ITEMS = 50, TEXT_CHARS = 200;
const TEXT_KEYS = ["task", "text", "step", "title", "name", "content", "description"];
const DONE = /^(?:done|completed?|finished|closed)$/i;
const DOING = /^(?:doing|active|current|in[ _-]?progress)$/i;

export function planOf(value: unknown): readonly PlanItem[] {
  const found = (Array.isArray(value) ? value : []).slice(0, MOST_ITEMS).flatMap((one: unknown) => {
    const facts = asRecord(one);
    const text = typeof one === "string"
      ? one
      : TEXT_KEYS.map((key) => facts[key]).find((text) => typeof text === "string");
    if (typeof text !== "string" || text.trim() === "") return [];
    const status = String(facts["status"] ?? facts["state"] ?? "");
    const done = facts["done"] === true || facts["completed"] === true || DONE.test(status);
    return [{ text: oneLine(visibleText(text), TEXT_CHARS), done, doing: DOING.test(status) }];
  });
  const open = found.filter(({ done }) => !done);
  const now = open.find(({ doing }) => doing) ?? open[0];
  return found.map((item) => ({ text: item.text, state: item.done ? "done" : item === now ? "now" : "open" }));
}

const MARKS = { done: "✓", now: "▸", open: "○" } as const;

export function taskLine({ text, state }: PlanItem): string {
  return `${MARKS[state]} ${text}`;
}

export function endedPlan(items: readonly PlanItem[]): readonly PlanItem[] {
  return items.map((item) => item.state === "now" ? { ...item, state: "open" } : item);
}

export function planLine(items: readonly PlanItem[], { ended = false }: { readonly ended?: boolean } = {}): string {
  const done = items.filter(({ state }) => state === "done").length;
  if (ended) return `${done} of ${items.length} done`;
  const now = items.find(({ state }) => state === "now");
  return `${done} of ${items.length}${now ? ` · now: ${now.text}` : " · done"}`;
}
