import { button, byId, element } from "./dom.js";

const IDEAS = [
  "What is in this folder, and what is each part for?",
  "Find the longest functions and suggest which to split",
  "Which dependencies are no longer used?",
];

/** Content of an empty conversation. Choosing an idea puts it into the input, to be edited or sent. */
export function hello() {
  const idea = (text) => button(text, { class: "idea", run: () => put(text) });
  return element("div", {
    class: "hello",
    children: [
      element("h2", { text: "What should Vis do?" }),
      element("p", { text: "The model writes code and a sandbox runs it. Every step is visible; variables persist." }),
      element("div", { class: "ideas", children: IDEAS.map(idea) }),
    ],
  });
}

function put(text) {
  const area = byId("request");
  area.value = text;
  area.dispatchEvent(new Event("input"));
  area.focus();
}
