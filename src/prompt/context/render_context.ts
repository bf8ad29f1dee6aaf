import type { ContextCaps, ContextParts } from "./context_parts.ts";
import { fairShares, headAndTail, safeCut, safeLine, safeText } from "./_safe_text.ts";
import { renderJournal } from "./journal.ts";

const HANDOVER = { request: 500, thinking: 1_000, thinkings: 2, answer: 2_000 };
const CHANGED_CHARS = 400;
const ATTEMPT_CHARS = 160;
const NUDGE = "[system_nudge]";
const NUDGE_CHARS = 200;
const MAX_NUDGES = 20;
const MAX_NOTES = 50;
const OLDER_THINKING = 'older: await varHistory("$reasoning")';
const CLOSING = "Reply now with one JSON object.";

/** The message that changes with each iteration: its size is bounded whatever its parts contain, and nothing in them
 * can forge its structure. Empty sections are left out. */
export function renderContext(parts: ContextParts): string {
  const { caps } = parts;
  const journalOf = parts.journalIteration;
  const old = journalOf !== null && journalOf < parts.iteration - 1
    ? `  from iteration ${Math.trunc(journalOf)}\n`
    : "";
  const journal = parts.journal.length > 0 ? old + renderJournal(parts.journal, caps) : "";
  return [
    header(parts),
    section("notes", notes(parts.notes, caps)),
    parts.handover ? section("handover", handover(parts.handover)) : section("prior_thinking", thinking(parts)),
    section("journal", journal),
    parts.changed === "" ? "" : `<changed> ${safeLine(parts.changed, CHANGED_CHARS)}`,
    section("attempts", attempts(parts.attempts, caps)),
    section("var_index", index(parts.index, caps)),
    ...nudges(parts.nudges),
    CLOSING,
  ].filter((part) => part !== "").join("\n");
}

/** The last call is after the budget, not an iteration of it. */
function header({ iteration, budget, failures, last }: ContextParts): string {
  const most = Math.trunc(budget), at = Math.trunc(iteration);
  const count = Math.trunc(failures);
  return [
    `[iter ${last ? Math.min(at, most) : at}/${most}]`,
    ...(last ? ["last call"] : []),
    ...(count === 0 ? [] : [`${count} ${count === 1 ? "reply" : "replies"} without a result`]),
  ].join(" ");
}

function section(tag: string, body: string): string {
  return body === "" ? "" : `<${tag}>\n${body}\n</${tag}>`;
}

function notes(lines: readonly string[], { notesChars }: ContextCaps): string {
  const texts = lines.slice(0, MAX_NOTES).map((line) => safeCut(line.trim(), { cap: notesChars, inline: true }))
    .filter((line) => line !== "");
  const shares = fairShares(texts.map((text) => text.length), notesChars - 3 * texts.length);
  return texts.map((text, at) => `- ${headAndTail(text, { cap: shares[at] ?? 0 })}`).join("\n");
}

function thinking({ thinking, thoughts, caps }: ContextParts): string {
  const text = safeCut(thinking.trim(), { cap: Math.max(0, caps.thinkingChars - OLDER_THINKING.length - 1) });
  return text === "" || thoughts < 2 ? text : `${text}\n${OLDER_THINKING}`;
}

function handover({ request, thinkings, answer, unfinished }: NonNullable<ContextParts["handover"]>): string {
  const line = (label: string, { text, cap }: { readonly text: string; readonly cap: number }) =>
    text.trim() === "" ? [] : [`${label}: ${safeCut(text.trim(), { cap, inline: true })}`];
  return [
    ...line("request before", { text: request, cap: HANDOVER.request }),
    ...thinkings.slice(-HANDOVER.thinkings).flatMap((text) => line("thinking", { text, cap: HANDOVER.thinking })),
    ...line(unfinished ? "ended without an accepted answer" : "answer given", { text: answer, cap: HANDOVER.answer }),
  ].join("\n");
}

/** The newest lines that fit, the oldest of them first. */
function attempts(lines: readonly string[], caps: ContextCaps): string {
  const kept: string[] = [];
  let chars = 0;
  for (const line of lines.slice(-caps.attempts).toReversed()) {
    const text = safeText(safeLine(line, ATTEMPT_CHARS));
    if (text === "") continue;
    chars += text.length + 1;
    if (chars > caps.attemptsChars) break;
    kept.unshift(text);
  }
  return kept.join("\n");
}

/** The index is bounded already; its lists of names come in addition to its rows, so this is the last safeguard. */
function index(text: string, { indexChars }: ContextCaps): string {
  const cap = indexChars + 4_000;
  return headAndTail(safeText(headAndTail(text.trim(), { cap })), { cap });
}

function nudges(lines: readonly string[]): string[] {
  return lines.slice(0, MAX_NUDGES).flatMap((line) => {
    const text = safeLine(line, NUDGE_CHARS + NUDGE.length);
    const body = text.startsWith(NUDGE) ? text.slice(NUDGE.length).trim() : text;
    return body === "" ? [] : [`${NUDGE} ${body}`.slice(0, NUDGE_CHARS + NUDGE.length)];
  });
}
