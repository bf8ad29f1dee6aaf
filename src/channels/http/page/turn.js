import { inApi, json } from "./api.js";
import { questionCard } from "./ask.js";
import { copyButton } from "./copy.js";
import { button, element, longText, plural, seconds, streamText } from "./dom.js";
import { markdown } from "./markdown.js";
import { Steps } from "./steps.js";

/** Longer answers are shown as plain text. */
const MARKDOWN_CHARS = 100_000;
/** With more steps than this, steps can be looked up by number. */
const MANY_STEPS = 40;
/** Why there is no answer. */
const WHY = {
  max_iterations: "step limit reached",
  error_budget: "too many errors",
  answer_schema: "no answer matches the schema",
  unsupported_answer: "nothing supports the answer",
  unusable_replies: "failed: unusable replies from the model",
  limit_cost: "cost limit reached",
  limit_tokens: "token limit reached",
  limit_time: "time limit reached",
  provider: "failed: no response from the model",
  configuration: "failed: configuration",
  unstored: "not saved",
  defect: "failed: internal error",
  cancelled: "cancelled",
  process_lost: "interrupted: the process ended",
};
const ENDS = ["final", "failed", "cancelled"];

/** One request and its result. */
export class Turn {
  #given;
  #steps;
  #fold = element("details", { class: "work" });
  #summary = element("summary", { text: "Working…" });
  #answer = element("div", { class: "answer" });
  #foot = element("footer");
  #question = element("div", { "aria-live": "polite" });
  #spent = "";
  #count = 0;

  /** `actions`: `inspect` and `fork` receive this turn and a number, `again` and `resume` this turn, `answer` the id of a
   * question and its answer. */
  constructor(request, { conversation, root, actions, queryId = null }) {
    this.#given = { conversation, actions };
    this.queryId = queryId;
    this.#steps = new Steps({
      root,
      load: (after, limit) => this.#load(after, limit),
      actions: { inspect: (at) => actions.inspect(this, at), fork: (at) => actions.fork(this, at) },
    });
    this.#fold.append(this.#summary, this.#steps.node);
    const heading = element("h2", { class: "unseen", text: "Request" });
    const asked = longText(element("div", { class: "asked" }), request);
    const done = element("div", { class: "done", children: [this.#fold, this.#question, this.#answer, this.#foot] });
    this.node = element("article", { class: "turn", children: [heading, asked, done] });
  }

  /** For a query that has ended; its steps are fetched when they are opened. */
  static ended(query, options) {
    const turn = new Turn(query.text, { ...options, queryId: query.queryId });
    turn.#end(query);
    return turn;
  }

  get steps() {
    return this.#count;
  }

  begin() {
    this.node.classList.add("running");
    this.#fold.open = true;
  }

  /** Shows one event. `started` starts over: after a lost connection events may come again, from rows. */
  show(event) {
    if (event.type === "approval_requested") return this.#ask(event);
    if (event.type === "approval_answered" || event.type === "started") this.#question.replaceChildren();
    if (event.parentQueryId !== undefined) return this.#child(event);
    if (event.type === "started") return this.#restart(event);
    if (event.iteration !== null) this.#step(event.iteration).show(event);
    if (event.type === "usage") this.#usage(event.usage);
    if (event.type === "answer_delta") this.#delta(event.delta);
    if (ENDS.includes(event.type)) this.#end(event.result);
  }

  /** The last turn of a conversation can be run again, or continued if it was interrupted. */
  isLast(last) {
    this.node.classList.toggle("last", last);
  }

  #ask(question) {
    const { answer } = this.#given.actions;
    this.#question.replaceChildren(questionCard(question, (given) => answer(question.id, given)));
  }

  #child(event) {
    if (this.#count > 0 && (event.type === "started" || ENDS.includes(event.type))) {
      this.#step(this.#count).child(event);
    }
  }

  #restart({ queryId }) {
    this.queryId = queryId;
    this.#steps.clear();
    this.#answer.replaceChildren();
    this.#spent = "";
    this.#count = 0;
  }

  #step(number) {
    if (number > this.#count) {
      this.#count = number;
      this.#working();
    }
    return this.#steps.at(number);
  }

  #usage({ input, output }) {
    this.#spent = ` · ${plural(input + output, "token")}`;
    this.#working();
  }

  #working() {
    this.#summary.textContent = `Working · step ${this.#count}${this.#spent}`;
  }

  #delta(delta) {
    const text = this.#answer.querySelector(".plain") ?? this.#answer.appendChild(element("p", { class: "plain" }));
    streamText(text, delta);
  }

  #end(result) {
    const { status, reason, answer, answerType, iterations, notes } = result;
    this.node.classList.remove("running");
    this.#question.replaceChildren();
    this.#count = iterations;
    this.#steps.clear();
    this.#fold.open = false;
    this.#fold.hidden = iterations === 0;
    this.#fold.addEventListener("toggle", () => this.#steps.stored(iterations), { once: true });
    this.#summary.replaceChildren(plural(iterations, "step"));
    const good = status === "done" || ["max_iterations", "error_budget"].includes(reason);
    this.#answer.classList.toggle("failed", !good);
    const isMarkdown = answerType === "markdown" || /^(#{1,6} |```|[-*] |\d+\. |\|)/m.test(answer);
    if (isMarkdown && answer.length <= MARKDOWN_CHARS) this.#answer.replaceChildren(markdown(answer));
    else this.#answer.replaceChildren(longText(element("p", { class: "plain" }), answer));
    if (reason === "unstored") this.#answer.append(element("p", { class: "reason", text: notes.at(-1) }));
    this.#foot.replaceChildren(element("span", { text: factsOf(result) }), ...this.#buttons(good, result));
  }

  #buttons(good, { iterations, answer }) {
    const { inspect, fork, again, resume } = this.#given.actions;
    const quiet = (text, run, more = "") => button(text, { class: `quiet ${more}`, run });
    return [
      copyButton(() => answer, { class: "quiet", "aria-label": "copy the answer" }),
      ...(iterations > 0 ? [quiet("inspect", () => inspect(this, 1))] : []),
      quiet("fork from here", () => fork(this)),
      quiet("run again", () => again(this), "at-end"),
      ...(good ? [] : [quiet("continue", () => resume(this), "at-end")]),
      ...(iterations > MANY_STEPS ? [this.#goTo(iterations)] : []),
    ];
  }

  #goTo(iterations) {
    const input = element("input", { type: "number", min: 1, max: iterations, "aria-label": "Step number" });
    return element("form", {
      class: "goto",
      children: ["go to step ", input],
      on: {
        submit: (event) => {
          event.preventDefault();
          void this.reveal(Math.min(iterations, Math.max(1, Number(input.value) || 1)));
        },
      },
    });
  }

  async reveal(number) {
    if (!this.#fold.open) {
      this.#fold.open = true;
      await new Promise((resolve) => setTimeout(resolve)); // its toggle event makes the steps
    }
    await this.#steps.reveal(number);
  }

  async #load(after, limit) {
    const path = inApi("conversations", this.#given.conversation, "queries", this.queryId, "iterations");
    return (await json(`${path}?after=${after}&limit=${limit}`)).items;
  }
}

function factsOf({ status, reason, ms, usage, costUsd, confidence }) {
  const parts = [seconds(ms)];
  if (usage.input + usage.output > 0) {
    parts.push(`${usage.input.toLocaleString()} in + ${usage.output.toLocaleString()} out`);
  }
  if (costUsd > 0) parts.push(`$${costUsd.toFixed(4)}`);
  if (status !== "done") parts.unshift(WHY[reason] ?? reason);
  else if (confidence !== "high") parts.push(`confidence ${confidence}`);
  return parts.join(" · ");
}
