import type { JSX } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { Button } from "../parts/button.tsx";
import { clean } from "../text/clean.ts";
import { conversationList } from "../store/conversation_list.ts";
import { entry } from "../store/entry.ts";
import { thread } from "../store/thread_shown.ts";
import { showGraph } from "../panels/graph.tsx";
import { showVariables } from "../panels/variables.tsx";
import { ActionsMenu } from "./actions.tsx";
import { AskDialog } from "./ask_dialog.tsx";
import { Composer } from "./composer.tsx";
import { EntryView } from "./entry_view.tsx";
import { Sidebar } from "./sidebar.tsx";
import { Latest, ThreadView } from "./thread_view.tsx";
import { Viewer } from "./viewer.tsx";

interface PageProps {
  readonly enter: (token: string) => void;
  /** Begins a new conversation. */
  readonly fresh: () => void;
}

/** All of the page. */
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
  useLayoutEffect(() => {
    if (entry.value.shows === "page") document.title = `${title} · Vis`;
  });
  const none = thread.facts.value === null;
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
      <Branches />
      <Button id="variables" hidden={none} run={() => showVariables(thread.id.value ?? "")}>Variables</Button>
      <Button id="graph" hidden={none} run={() => showGraph(thread.id.value ?? "")}>Graph</Button>
      <ActionsMenu fresh={fresh} />
    </header>
  );
}

function Branches(): JSX.Element {
  const { branchId, branches = [] } = thread.facts.value ?? {};
  return (
    <select
      id="branch"
      aria-label="Branch"
      hidden={branches.length < 2}
      onChange={({ currentTarget }) => location.hash = `c=${currentTarget.value}`}
    >
      {branches.map((branch, at) => (
        <option key={branch.branchId} value={branch.branchId} selected={branch.branchId === branchId}>
          {`${at + 1}: ${branch.title}`}
        </option>
      ))}
    </select>
  );
}
