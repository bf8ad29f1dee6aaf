import { inApi, json } from "./api.js";
import { element } from "./dom.js";
import { view } from "./viewer.js";

/** The variables of a conversation, each with its versions. */
export async function showVariables(conversation) {
  await view("Variables", async () => {
    const { items } = await json(inApi("conversations", conversation, "variables"));
    if (items.length === 0) return [element("p", { text: "There is none yet" })];
    return items.map((variable) => row(conversation, variable));
  });
}

function row(conversation, { name, kind, versions, scope, summary, reason }) {
  const facts = [summary.shape || kind, `v${versions}`, scope === "live" ? "" : scope, reason].filter(Boolean);
  const body = element("div");
  const line = element("summary", {
    children: [element("code", { text: name }), element("span", { text: facts.join(" · ") })],
  });
  const load = async () => {
    const { items } = await json(inApi("conversations", conversation, "variables", name));
    body.replaceChildren(...items.toReversed().slice(0, 50).map(version));
  };
  const failed = (error) => body.replaceChildren(element("p", { class: "reason", text: error.message }));
  return element("details", {
    class: "variable",
    children: [line, body],
    on: { toggle: () => void (body.childElementCount === 0 && load().catch(failed)) },
  });
}

function version({ version, value, chars, shape, reason, code, createdAt }) {
  const cut = value !== null && chars > value.length ? ` · the first ${value.length} of ${chars} characters` : "";
  return element("section", {
    children: [
      element("h3", { text: `v${version} · ${new Date(createdAt).toLocaleString()}${cut}` }),
      element("pre", { tabindex: 0, text: reason || (value ?? shape) }),
      ...(code ? [element("pre", { class: "made", tabindex: 0, text: code })] : []),
    ],
  });
}
