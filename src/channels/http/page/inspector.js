import { inApi, json } from "./api.js";
import { coloured } from "./code.js";
import { copyButton } from "./copy.js";
import { button, byId, element, longText, plural, seconds } from "./dom.js";
import { tabs, view } from "./viewer.js";

const state = { step: null };

/** Everything about one iteration: what was sent, what came back, what it used and its context. */
export async function inspect({ conversation, turn }, number) {
  const query = inApi("conversations", conversation, "queries", turn.queryId);
  state.step = (by) => {
    const next = number + by;
    if (next >= 1 && next <= turn.steps) void inspect({ conversation, turn }, next);
  };
  await view(`Step ${number} of ${turn.steps}`, async () => {
    const [{ items: [iteration] }, { messages }] = await Promise.all([
      json(`${query}/iterations?after=${number - 1}&limit=1`),
      json(`${query}/iterations/${number}/messages`),
    ]);
    const go = (by, text, label) => button(text, { "aria-label": label, class: "go", run: () => state.step?.(by) });
    const bar = element("div", {
      class: "bar",
      children: [
        go(-1, "←", "Previous step"),
        go(1, "→", "Next step"),
        element("span", { text: summary(iteration) }),
      ],
    });
    return [
      bar,
      ...tabs("Step details", {
        "Sent": () => messages.map(sent),
        "Received": () => reply(iteration),
        "Details": () => facts(iteration),
      }),
    ];
  });
}

function summary({ metadata, status, traces }) {
  const { usage } = traces.findLast(({ ok }) => ok) ?? {};
  const tokens = usage ? ` · ${usage.input.toLocaleString()} in + ${usage.output.toLocaleString()} out` : "";
  return `${metadata.outcome ?? status}${tokens}`;
}

function sent({ role, text }) {
  const copy = copyButton(() => text, { class: "quiet" });
  const head = element("h3", { children: [`${role} · ${plural(text.length, "character")} `, copy] });
  const pre = longText(element("pre", { class: "tall", tabindex: 0, "aria-label": `Message of the ${role}` }), text);
  return element("section", { children: [head, pre] });
}

function reply({ response, thinking, blocks }) {
  const part = (title, node) => element("section", { children: [element("h3", { text: title }), node] });
  const pre = (label, text, show) =>
    longText(element("pre", { class: "tall", tabindex: 0, "aria-label": label }), text, show && { show });
  return [
    part("Raw reply", pre("Reply", response || "(none)")),
    ...(thinking ? [part("Thinking", pre("Thinking", thinking))] : []),
    ...blocks.map(({ code, reads }, at) =>
      part(`Block ${at + 1}${reads.length > 0 ? ` · reads ${reads.join(", ")}` : ""}`, pre("Code", code, coloured))
    ),
  ];
}

function facts({ traces, blocks, metadata, createdAt, error }) {
  const { walls, grants, extensions = [], notes = [] } = metadata;
  const model = traces.map(({ provider, model, ok, ms, status, error }) =>
    `${provider} ${model} · ${seconds(ms)} · ${ok ? "ok" : error ?? status ?? "failed"}`
  );
  const ran = blocks.map(({ result: { ms, outcome, calls } }, at) =>
    `${at + 1}: ${outcome} · ${seconds(ms)}${called(calls)}`
  );
  return [
    table("Tokens and cost", { ...tokens(traces), Cost: cost(metadata.costUsd) }),
    table("Time", {
      Started: new Date(createdAt).toLocaleString(),
      Model: model.join("\n") || "not called",
      Blocks: ran.join("\n") || "none",
      "Request size in bytes": metadata.requestBytes?.toLocaleString() ?? "unknown",
    }),
    table("Sandbox walls", wallFacts(walls)),
    table("Grants", grantFacts(grants)),
    table("Context", {
      Extensions: extensions.map(({ namespace, version }) => `${namespace} ${version}`).join(", ") || "none",
      Budget: metadata.budget === undefined ? "unknown" : valueText(metadata.budget),
      Repairs: traces.flatMap(({ repairs }) => repairs).join("; ") || "none",
      ...(notes.length > 0 ? { Notes: notes.join("\n") } : {}),
      ...(error ? { Reason: error } : {}),
    }),
  ];
}

function called(calls) {
  if (calls.length === 0) return "";
  const names = calls.slice(0, 5).map(({ name, ms }) => `${name} ${seconds(ms)}`).join(", ");
  return ` · ${plural(calls.length, "call")}: ${names}${calls.length > 5 ? " …" : ""}`;
}

function tokens(traces) {
  const { usage } = traces.findLast(({ ok }) => ok) ?? {};
  if (!usage) return { Tokens: "unknown" };
  const { input, output, cached, cacheWrite = 0, reasoning } = usage;
  const shown = { Input: input, "Input, cached": cached, "Input, written to cache": cacheWrite, Output: output };
  return Object.fromEntries(
    Object.entries({ ...shown, "Output, reasoning": reasoning }).map(([k, v]) => [k, v.toLocaleString()]),
  );
}

function cost(usd) {
  return usd === null || usd === undefined ? "price unknown" : `$${usd.toFixed(6)}`;
}

const active = (is) => is ? "✓ active" : "✗ inactive";

function wallFacts(walls) {
  if (!walls) return { Sandbox: "no code ran" };
  const { landlock, seccomp } = walls.kernel;
  return {
    Realm: active(walls.realm),
    Permissions: active(walls.permissions),
    Process: active(walls.process),
    "Kernel (files)": landlock > 0 ? `✓ active (Landlock ${landlock})` : active(false),
    "Kernel (system calls)": active(seccomp),
    ...(walls.failed.length > 0 ? { Problems: walls.failed.join("\n") } : {}),
  };
}

function grantFacts(grants) {
  const given = Object.entries(grants ?? {}).filter(([, list]) => list.length > 0);
  return given.length === 0
    ? { Granted: "nothing" }
    : Object.fromEntries(given.map(([k, list]) => [k, list.join("\n")]));
}

function valueText(value) {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function table(title, rows) {
  const lines = Object.entries(rows).flatMap(([name, text]) => [
    element("dt", { text: name }),
    element("dd", { text }),
  ]);
  return element("section", {
    children: [element("h3", { text: title }), element("dl", { children: lines })],
  });
}

byId("viewer").addEventListener("keydown", (event) => {
  if (event.key === "ArrowRight") state.step?.(1);
  if (event.key === "ArrowLeft") state.step?.(-1);
});
byId("viewer").addEventListener("close", () => state.step = null);
