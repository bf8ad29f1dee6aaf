import type { JSX } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { ask, AskDialog, Viewer } from "../panels/dialogs.tsx";
import { showVariables } from "../panels/variables.tsx";
import { Button, Menu } from "../parts/controls.tsx";
import { clean, folderName, shortTime } from "../parts/texts.tsx";
import { type ApiConversation, type ConversationDetail, inApi, json, request } from "../store/api.ts";
import { conversationList, elements, entry, guarded, newFolder, tellTabs } from "../store/state.ts";
import { thread } from "../store/thread.ts";
import { Commands } from "./commands_view.tsx";
import { Composer } from "./composer.tsx";
import { Sidebar } from "./sidebar.tsx";
import { Latest, ThreadView } from "./thread_view.tsx";

interface PageProps {
  readonly enter: (token: string) => void;
  readonly fresh: () => void;
}

export function Page({ enter, fresh }: PageProps): JSX.Element {
  return (
    <>
      <a class="skip" href="#request">Skip to the request</a>
      <EntryView enter={enter} />
      <div id="frame" hidden={entry.value.shows !== "page"}>
        <Sidebar fresh={fresh} />
        <div id="shade" hidden={!conversationList.isOpen.value} onClick={() => conversationList.show(false)} />
        <main>
          <Header fresh={fresh} />
          <ThreadView />
          <Composer>
            <Latest />
            <Commands />
          </Composer>
        </main>
      </div>
      <Viewer />
      <AskDialog />
    </>
  );
}

function Header({ fresh }: Pick<PageProps, "fresh">): JSX.Element {
  const { isOpen } = conversationList;
  const title = clean(thread.title.value);
  const waits = thread.turns.value.at(-1)?.question.value ? "Waiting for you · " : "";
  useLayoutEffect(() => {
    if (entry.value.shows === "page") document.title = `${waits}${title} · Vis`;
  });
  const folder = thread.id.value === null ? newFolder() : thread.facts.value?.workspace ?? "";
  return (
    <header>
      <Button
        id="menu"
        aria-label="Conversations"
        aria-expanded={isOpen.value}
        aria-controls="side"
        run={() => conversationList.show(!isOpen.value)}
      >
        ☰
      </Button>
      <h1 id="title" title={title}>{title}</h1>
      <span id="folder" title={folder}>{folderName(folder)}</span>
      <Branches />
      <ActionsMenu fresh={fresh} />
    </header>
  );
}

function Branches(): JSX.Element {
  const { branchId, branches = [] } = thread.facts.value ?? {};
  const used = branches.filter((branch) => branch.last !== null || branch.branchId === branchId);
  return (
    <select
      id="branch"
      aria-label="Branch"
      hidden={used.length < 2}
      onChange={({ currentTarget }) => location.hash = `c=${currentTarget.value}`}
    >
      {branches.map((branch, at) => (
        <option key={branch.branchId} value={branch.branchId} selected={branch.branchId === branchId}>
          {`${at + 1}: ${branchText(branch)}`}
        </option>
      ))}
    </select>
  );
}

function branchText({ last, createdAt }: ConversationDetail["branches"][number]): string {
  return `${clean(last?.text ?? "no own request yet")} · ${shortTime(last?.createdAt ?? createdAt)}`;
}

function EntryView({ enter }: { readonly enter: (token: string) => void }): JSX.Element {
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
          {why || "Enter the access token."}
          {" At its start, "}
          <code>vis serve</code>
          {" prints the source of its token, such as a file."}
        </p>
        <label for="token">Token</label>
        <input id="token" type="password" autocomplete="off" spellcheck={false} required ref={elements.token} />
        <button type="submit" class="primary">Open</button>
      </form>
    </main>
  );
}

const FORMATS = { md: "Export as Markdown", html: "Export as HTML", json: "Export as archive" };

function ActionsMenu({ fresh }: { readonly fresh: () => void }): JSX.Element {
  const does = (run: () => Promise<void>) => () => void guarded(run);
  return (
    <Menu
      id="actions"
      hidden={thread.facts.value === null}
      summary={<summary aria-label="More actions" title="More">⋯</summary>}
    >
      <Button id="variables" run={does(() => showVariables(thread.id.value ?? ""))}>Variables</Button>
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
    </Menu>
  );
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
  const answer = await ask(`Delete “${thread.title.value}” with all its branches?`, { verb: "Delete", isFinal: true });
  if (answer === null) return;
  if (await thread.delete()) fresh();
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
