import { button, clean, element, longText, plural, seconds, streamText } from "./dom.js";
import { coloured } from "./code.js";
import { copyable } from "./copy.js";

/** One iteration: the model's thinking, its blocks and their results. */
export class Step {
  #line = element("span", { class: "line" });
  #blocks = new Map();
  #thinking = null;
  #waits = false;
  #children = new Map();

  /** `inspect` and `fork` receive the number. */
  constructor(number, { inspect, fork }) {
    this.number = number;
    const head = element("header", {
      children: [
        element("b", { text: `Step ${number}` }),
        this.#line,
        button("inspect", { class: "quiet", run: () => inspect(number), "aria-label": `inspect step ${number}` }),
        button("fork here", {
          class: "quiet",
          run: () => fork(number),
          "aria-label": `fork here, after step ${number}`,
        }),
      ],
    });
    this.node = element("section", { class: "step", "data-step": number, children: [head] });
  }

  /** Makes the view of a stored iteration. */
  static stored({ iteration, thinking, blocks, traces, metadata, error }, actions) {
    const step = new Step(iteration, actions);
    if (thinking) longText(step.#text("thinking"), thinking);
    for (const [at, { code, result }] of blocks.entries()) {
      step.#whole(at, code);
      step.#result(at, result);
    }
    const ms = [...traces, ...blocks.map(({ result }) => result)].reduce((sum, one) => sum + one.ms, 0);
    step.#finished({ outcome: metadata.outcome ?? "running", reason: error, ms });
    return step;
  }

  show(event) {
    if (event.type === "retrying") return this.#retrying(event);
    if (event.type === "waiting") return this.#waiting(event);
    if (this.#waits) this.#line.textContent = "";
    this.#waits = false;
    if (event.type === "thinking") return streamText(this.#text("thinking"), event.delta);
    if (event.type === "code") return streamText(this.#block(event.block).code, event.delta);
    if (event.type === "block_started") return this.#whole(event.block, event.code);
    if (event.type === "block_finished") return this.#result(event.block, event.result);
    if (event.type === "host_call") return this.#call(event);
    if (event.type === "nudge") return this.node.append(element("p", { class: "nudge", text: nudges(event.lines) }));
    if (event.type === "iteration_finished") this.#finished(event);
  }

  /** Shows an event of a child query of this step. */
  child({ type, queryId, request, result }) {
    if (type === "started") {
      const line = element("p", { class: "child", text: `↳ ${request.slice(0, 300)}` });
      this.#children.set(queryId, line);
      this.node.append(line);
    } else if (result) {
      this.#children.get(queryId)?.append(` · ${result.status} after ${plural(result.iterations, "step")}`);
    }
  }

  #text(name) {
    if (this.#thinking) return this.#thinking;
    this.#thinking = element("p", { class: name });
    this.node.append(this.#thinking);
    return this.#thinking;
  }

  #block(index) {
    const known = this.#blocks.get(index);
    if (known) return known;
    const code = element("code");
    const pre = element("pre", { tabindex: 0, "aria-label": `Code of block ${index + 1}`, children: [code] });
    const made = { code, node: copyable(pre, { what: `block ${index + 1}` }), result: null };
    this.#blocks.set(index, made);
    this.node.append(made.node);
    return made;
  }

  #whole(index, code) {
    longText(this.#block(index).code, code, { show: coloured });
  }

  #result(index, result) {
    this.#line.textContent = "";
    const block = this.#block(index);
    block.result?.remove();
    block.result = resultNode(result);
    block.node.after(block.result);
  }

  #retrying({ waitMs, attempt, reason }) {
    this.#waits = true;
    const wait = Math.max(1, Math.round(waitMs / 1000));
    this.#line.textContent = clean(`retrying in ${wait} s (try ${attempt}): ${reason}`);
  }

  #waiting({ model, waitedMs, limitMs }) {
    this.#waits = true;
    const time = (ms) => ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} min`;
    this.#line.textContent = clean(`waiting for ${model}: no reply for ${time(waitedMs)} (limit ${time(limitMs)})`);
  }

  #call({ name, phase }) {
    if (phase === "start") this.#line.textContent = `${clean(name)} …`;
  }

  #finished({ outcome, reason, ms }) {
    this.#line.textContent = outcome === "running" ? "running" : `${outcome} · ${seconds(ms)}`;
    if (reason) this.node.append(longText(element("p", { class: "reason" }), reason));
  }
}

/** Formats nudges for people: the mark in front of each is for the model. */
function nudges(lines) {
  return `Nudge: ${lines.join("\n").replaceAll("[system_nudge] ", "")}`;
}

function resultNode({ ok, preview, stdout, stderr, error, ms, outcome, dropped }) {
  const shown = error ? `${error.name}: ${error.message}\n${error.excerpt}` : preview;
  const left = dropped > 0 ? `… ${dropped} more characters of output were dropped` : "";
  const text = [stdout.trimEnd(), shown, stderr, left].filter((part) => part.trim() !== "").join("\n");
  const mark = element("span", {
    class: "mark",
    role: "img",
    "aria-label": ok ? "succeeded" : outcome,
    text: ok ? "✓" : "✗",
  });
  const body = longText(element("pre", { tabindex: 0, "aria-label": "Result" }), text || "(no value)");
  const time = element("span", { class: "time", text: seconds(ms) });
  return element("div", { class: ok ? "result" : "result bad", children: [mark, body, time] });
}
