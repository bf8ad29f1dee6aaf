import type { JSX } from "preact";
import { Button } from "../parts/button.tsx";
import { putRequest } from "./composer.tsx";

const IDEAS = [
  "What is in this folder, and what is each part for?",
  "Find the longest functions and suggest which to split",
  "Which dependencies are no longer used?",
];

/** Content of an empty conversation. Choosing an idea puts it into the input, to be edited or sent. */
export function Hello(): JSX.Element {
  return (
    <div class="hello">
      <h2>What should Vis do?</h2>
      <p>The model writes code and a sandbox runs it. Every step is visible; variables persist.</p>
      <div class="ideas">
        {IDEAS.map((text) => <Button class="idea" run={() => putRequest(text)}>{text}</Button>)}
      </div>
    </div>
  );
}
