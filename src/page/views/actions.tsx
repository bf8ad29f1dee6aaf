import type { JSX } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { clean } from "../text/clean.ts";
import { inApi, json, request } from "../store/api.ts";
import type { ApiConversation } from "../store/api_types.ts";
import { ask } from "../store/ask.ts";
import { conversationList } from "../store/conversation_list.ts";
import { elements } from "../store/elements.ts";
import { guarded } from "../store/entry.ts";
import { tellTabs } from "../store/tabs.ts";
import { thread } from "../store/thread_shown.ts";

const FORMATS = { md: "Export as Markdown", html: "Export as HTML", json: "Export as archive" };

/** The menu of the open conversation; `fresh` is called after a deletion. */
export function ActionsMenu({ fresh }: { readonly fresh: () => void }): JSX.Element {
  useLayoutEffect(() => {
    const onClick = ({ target }: Event): void => {
      if (!elements.actions.current?.contains(target as Node)) close();
    };
    document.addEventListener("click", onClick);
    return () => document.removeEventListener("click", onClick);
  }, []);
  const does = (run: () => Promise<void>) => () => {
    close();
    void guarded(run);
  };
  return (
    <details id="actions" hidden={thread.facts.value === null} ref={elements.actions} onKeyDown={onKey}>
      <summary aria-label="More actions" title="More">⋯</summary>
      <div>
        <Button id="rename" run={does(rename)}>Rename</Button>
        <Button id="fork" run={does(forkLast)}>Fork</Button>
        {Object.entries(FORMATS).map(([format, text]) => (
          <Button
            id={`export-${format}`}
            run={does(() => download(format))}
          >
            {text}
          </Button>
        ))}
        <Button id="delete" class="danger" run={does(() => remove(fresh))}>Delete</Button>
      </div>
    </details>
  );
}

function close(): void {
  if (elements.actions.current) elements.actions.current.open = false;
}

function onKey(event: KeyboardEvent): void {
  const menu = elements.actions.current;
  if (event.key !== "Escape" || !menu?.open) return;
  event.stopPropagation();
  close();
  menu.querySelector("summary")?.focus();
}

function path(...parts: readonly string[]): string {
  return inApi("conversations", thread.id.value ?? "", ...parts);
}

async function rename(): Promise<void> {
  const value = clean(thread.title.value);
  const title = (await ask("Title of the conversation", { value, verb: "Rename" }))?.trim();
  if (!title) return;
  thread.title.value = (await json<ApiConversation>(path(), { method: "PATCH", body: { title } })).title;
  tellTabs();
  await conversationList.load();
}

async function forkLast(): Promise<void> {
  const last = thread.turns.value.at(-1);
  if (last?.queryId) await thread.fork(last);
}

async function remove(fresh: () => void): Promise<void> {
  const answer = await ask(`Delete “${thread.title.value}” with all its branches?`, { verb: "Delete" });
  if (answer === null) return;
  await request(path(), { method: "DELETE" });
  fresh();
  tellTabs();
  await conversationList.load();
}

async function download(format: string): Promise<void> {
  const response = await request(`${path("export")}?format=${format}`);
  const href = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  link.href = href;
  link.download = `${clean(thread.title.value).slice(0, 60)}.${format}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}
