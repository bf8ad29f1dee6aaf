import { inApi, json } from "./api.js";
import { coloured } from "./code.js";
import { button, element, longText, plural } from "./dom.js";
import { view } from "./viewer.js";

/** Most rows listed at once. */
const ROWS = 200;

/** The variables of a conversation, each with its versions. */
export async function showVariables(conversation) {
  await view("Variables", async () => {
    const { items: all } = await json(inApi("conversations", conversation, "variables"));
    const isSystem = ({ scope }) => scope === "system";
    const items = [...all.filter((one) => !isSystem(one)), ...all.filter(isSystem)];
    if (items.length === 0) return [element("p", { text: "No variables yet" })];
    const list = element("div");
    const words = element("input", { type: "search", placeholder: "Filter", "aria-label": "Filter variables" });
    const fill = (limit) => {
      const wanted = words.value.trim().toLowerCase();
      const found = items.filter(({ name }) => name.toLowerCase().includes(wanted));
      const rows = found.slice(0, limit).map((variable) => row(conversation, variable));
      const more = button(`Show ${found.length - limit} more`, { class: "more", run: () => fill(limit * 4) });
      list.replaceChildren(...rows, ...(found.length > limit ? [more] : []));
      if (found.length === 0) list.append(element("p", { text: "No matching variables" }));
    };
    words.addEventListener("input", () => fill(ROWS));
    fill(ROWS);
    return [words, list];
  });
}

/** One variable with all its versions. */
export async function showVariable(conversation, name) {
  await view(name, async () => await history(conversation, name));
}

function row(conversation, { name, kind, versions, scope, summary, reason }) {
  const facts = [summary.shape || kind, plural(versions, "version"), scope === "live" ? "" : scope, reason];
  const body = element("div", { class: "versions" });
  const line = element("summary", {
    children: [element("code", { text: name }), element("span", { text: facts.filter(Boolean).join(" · ") })],
  });
  const load = async () => {
    if (body.childElementCount > 0) return;
    try {
      body.replaceChildren(...await history(conversation, name));
    } catch (error) {
      body.replaceChildren(element("p", { class: "reason", text: error.message }));
    }
  };
  return element("details", { class: "variable", children: [line, body], on: { toggle: () => void load() } });
}

/** Newest first. */
async function history(conversation, name) {
  const path = inApi("conversations", conversation, "variables", name);
  const { items } = await json(path);
  return items.toReversed().map((one) => version(path, one));
}

function version(path, { version, value, chars, shape, reason, code, createdAt }) {
  const cut = value !== null && chars > value.length ? ` · first ${value.length} of ${chars} characters` : "";
  const head = element("h3", { text: `v${version} · ${new Date(createdAt).toLocaleString()}${cut} ` });
  const body = longText(element("pre", { tabindex: 0, "aria-label": "Value" }), reason || (value ?? shape));
  const made = code ? [codeOf(code)] : [];
  if (version > 1) head.append(button(`compare with v${version - 1}`, { class: "quiet", run: () => void compare() }));
  const section = element("section", { children: [head, body, ...made] });
  const compare = async () => {
    section.querySelector(".diff")?.remove();
    body.after(await diffNode(`${path}/diff?from=${version - 1}&to=${version}`));
  };
  return section;
}

function codeOf(code) {
  const summary = element("summary", { text: "code that set it" });
  const pre = longText(element("pre", { tabindex: 0, "aria-label": "Block" }), code, { show: coloured });
  return element("details", { class: "made", children: [summary, pre] });
}

async function diffNode(path) {
  try {
    const { diff } = await json(path);
    return longText(element("pre", { class: "diff", tabindex: 0, "aria-label": "Difference" }), diff.text, {
      show: marked,
    });
  } catch (error) {
    return element("p", { class: "diff reason", text: error.message });
  }
}

const MARKS = { "+": "added", "-": "removed", "~": "changed", "@": "place" };

function marked(text) {
  return text.trimEnd().split("\n").map((line) => element("span", { class: `d-${kindOf(line)}`, text: `${line}\n` }));
}

function kindOf(line) {
  return /^(---|\+\+\+) /.test(line) ? "name" : MARKS[line[0]] ?? "same";
}
