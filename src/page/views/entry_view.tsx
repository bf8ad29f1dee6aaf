import type { JSX } from "preact";
import { elements } from "../store/elements.ts";
import { entry } from "../store/entry.ts";

/** Asks for the token; `enter` receives it. */
export function EntryView({ enter }: { readonly enter: (token: string) => void }): JSX.Element {
  const { shows, why } = entry.value;
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    enter(elements.token.current?.value.trim() ?? "");
  };
  return (
    <main id="entry" hidden={shows !== "token"}>
      <form onSubmit={onSubmit}>
        <h1>Vis</h1>
        <p id="entry-why">
          {why === ""
            ? ["Enter the access token. ", <code>vis serve</code>, " prints the file that contains it at start."]
            : why}
        </p>
        <label for="token">Token</label>
        <input id="token" type="password" autocomplete="off" spellcheck={false} required ref={elements.token} />
        <button type="submit" class="primary">Open</button>
      </form>
    </main>
  );
}
