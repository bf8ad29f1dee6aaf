import { inApi, json } from "./api.js";
import { clean, element } from "./dom.js";
import { markdown } from "./markdown.js";
import { view } from "./viewer.js";

const MAX_SHOWN = 20_000;

/** One request and what came of it. */
export class Turn {
  #steps = element("div", { class: "steps" });
  #fold = element("details", { class: "work" });
  #summary = element("summary", { text: "Working" });
  #answer = element("div", { class: "answer" });
  #foot = element("footer");
  #step = null;
  #number = null;
  #streamed = "";

  constructor(request, { conversation, queryId = null, actions = {} }) {
    this.conversation = conversation;
    this.queryId = queryId;
    this.actions = actions;
    this.#fold.append(this.#summary, this.#steps);
    this.node = element("article", {
      class: "turn",
      children: [
        element("div", { class: "asked", text: request }),
        element("div", { class: "done", children: [this.#fold, this.#answer, this.#foot] }),
      ],
    });
  }

  /** Of a query that has ended; its steps are fetched when they are opened. */
  static ended(query, options) {
    const turn = new Turn(query.text, { ...options, queryId: query.queryId });
    turn.#end(query);
    turn.#fold.addEventListener("toggle", () => void turn.#load(), { once: true });
    return turn;
  }

  begin() {
    this.node.classList.add("running");
    this.#fold.open = true;
  }

  /** Shows one event. `started` begins anew: after a lost line events may come again, from rows. */
  show(event) {
    if (event.parentQueryId !== undefined) return;
    if (event.type === "started") return this.#restart(event);
    if (event.iteration !== null && event.iteration !== this.#number) this.#open(event.iteration);
    if (event.type === "thinking") this.#append("thinking", event.delta);
    if (event.type === "code") this.#code(event.block, event.delta);
    if (event.type === "block_started") this.#whole(event.block, event.code);
    if (event.type === "host_call" && event.phase === "start") this.#step?.line.append(` ${clean(event.name)}…`);
    if (event.type === "block_finished") this.#result(event.block, event.result);
    if (event.type === "iteration_finished") this.#finished(event);
    if (event.type === "answer_delta") this.#delta(event.delta);
    if (["final", "failed", "cancelled"].includes(event.type)) this.#end(event.result);
  }

  #restart({ queryId }) {
    this.queryId = queryId;
    this.#steps.replaceChildren();
    this.#step = this.#number = null;
    this.#streamed = "";
    this.#answer.replaceChildren();
  }

  #open(number) {
    this.#number = number;
    const line = element("span", { class: "line" });
    const head = element("header", { children: [element("b", { text: `Step ${number}` }), line] });
    const node = element("section", { class: "step", children: [head] });
    head.append(element("button", {
      type: "button",
      class: "quiet",
      text: "what was sent",
      on: { click: () => void this.#sent(number) },
    }));
    this.#step = { node, line, blocks: new Map(), thinking: null };
    this.#steps.append(node);
  }

  #append(name, delta) {
    const step = this.#step;
    if (!step) return;
    if (!step[name]) {
      step[name] = element("p", { class: name });
      step.node.append(step[name]);
    }
    step[name].append(clean(delta));
  }

  #block(index) {
    const known = this.#step.blocks.get(index);
    if (known) return known;
    const code = element("code");
    const made = { code, node: element("pre", { tabindex: 0, children: [code] }), result: null };
    this.#step.blocks.set(index, made);
    this.#step.node.append(made.node);
    return made;
  }

  #code(index, delta) {
    if (this.#step) this.#block(index).code.append(clean(delta));
  }

  #whole(index, code) {
    if (this.#step) this.#block(index).code.textContent = clean(code);
  }

  #result(index, result) {
    if (!this.#step) return;
    this.#step.line.textContent = "";
    const block = this.#block(index);
    block.result?.remove();
    block.result = resultNode(result);
    block.node.after(block.result);
  }

  #finished({ outcome, reason, ms }) {
    if (!this.#step) return;
    this.#step.line.textContent = `${outcome} · ${seconds(ms)}`;
    if (reason) this.#step.node.append(element("p", { class: "reason", text: reason }));
  }

  #delta(delta) {
    this.#streamed += delta;
    this.#answer.replaceChildren(element("p", { class: "plain", text: this.#streamed }));
  }

  #end(result) {
    this.node.classList.remove("running");
    const { status, reason, answer, answerType, iterations } = result;
    this.#fold.open = false;
    this.#summary.textContent = `${iterations} step${iterations === 1 ? "" : "s"}`;
    this.#fold.hidden = iterations === 0;
    const good = status === "done" || ["max_iterations", "error_budget"].includes(reason);
    this.#answer.classList.toggle("failed", !good);
    const isMarkdown = answerType === "markdown" || /^(#{1,6} |```|[-*] |\d+\. |\|)/m.test(answer);
    this.#answer.replaceChildren(isMarkdown ? markdown(answer) : element("p", { class: "plain", text: answer }));
    this.#foot.replaceChildren(element("span", { text: factsOf(result) }), ...this.#buttons());
  }

  #buttons() {
    return Object.entries(this.actions).map(([text, run]) =>
      element("button", { type: "button", class: "quiet", text, on: { click: () => void run(this.queryId) } })
    );
  }

  async #load() {
    if (this.#steps.childElementCount > 0) return;
    const { items } = await json(inApi("conversations", this.conversation, "queries", this.queryId, "iterations"));
    for (const { iteration, thinking, blocks, metadata, error } of items) {
      this.#open(iteration);
      if (thinking) this.#append("thinking", thinking);
      for (const [at, { code, result }] of blocks.entries()) {
        this.#whole(at, code);
        this.#result(at, result);
      }
      const ms = blocks.reduce((sum, { result }) => sum + result.ms, 0);
      this.#finished({ outcome: metadata.outcome ?? "running", reason: error, ms });
    }
  }

  async #sent(number) {
    const path = ["queries", this.queryId, "iterations", String(number), "messages"];
    await view(`What step ${number} was asked with`, async () => {
      const { messages } = await json(inApi("conversations", this.conversation, ...path));
      return messages.map(({ role, text }) =>
        element("section", {
          children: [
            element("h3", { text: `${role} · ${text.length} characters` }),
            element("pre", { tabindex: 0, text }),
          ],
        })
      );
    });
  }
}

function resultNode({ ok, preview, stdout, stderr, error, ms, outcome }) {
  const text = [stdout.trimEnd(), error ? `${error.name}: ${error.message}\n${error.excerpt}` : preview, stderr]
    .filter((part) => part.trim() !== "").join("\n").slice(0, MAX_SHOWN);
  const mark = element("span", { class: "mark", text: ok ? "✓" : "✗", "aria-label": ok ? "succeeded" : outcome });
  const body = element("pre", { tabindex: 0, text: text || "(no value)" });
  const time = element("span", { class: "time", text: seconds(ms) });
  return element("div", { class: ok ? "result" : "result bad", children: [mark, body, time] });
}

function seconds(ms) {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

function factsOf({ status, reason, ms, usage, costUsd, confidence }) {
  const parts = [seconds(ms)];
  if (usage.input + usage.output > 0) parts.push(`${usage.input} in + ${usage.output} out tokens`);
  if (costUsd > 0) parts.push(`$${costUsd.toFixed(4)}`);
  if (status !== "done") parts.unshift(`${status}: ${reason}`);
  else if (confidence !== "high") parts.push(`confidence ${confidence}`);
  return parts.join(" · ");
}
