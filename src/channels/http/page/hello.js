import { button, byId, element } from "./dom.js";

const IDEAS = [
  "What is in this folder, and what is each part for?",
  "Find the longest functions and say which to split",
  "Which dependencies are not used any more?",
];

/** Content of an empty conversation. Choosing an idea puts it into the input, to be edited or sent. */
export function hello() {
  const idea = (text) => button(text, { class: "idea", run: () => put(text) });
  return element("div", {
    class: "hello",
    children: [
      element("h2", { text: "What is to be done?" }),
      element("p", { text: "The model writes code, a sandbox runs it. You see each step, and the variables stay." }),
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
