import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { showKeys } from "../panels/keys.tsx";
import { search } from "../panels/search.tsx";
import { Button } from "../parts/controls.tsx";
import { plural } from "../parts/words.ts";
import type { ApiListedConversation } from "../store/api.ts";
import { conversationList } from "../store/conversation_list.ts";
import { elements } from "../store/elements.ts";
import { guarded } from "../store/entry.ts";
import { serverFacts } from "../store/server.ts";
import { thread } from "../store/thread.ts";

const words = signal("");

/** The sidebar with the list of conversations; `fresh` begins a new one. */
export function Sidebar({ fresh }: { readonly fresh: () => void }): JSX.Element {
  const { isOpen, next } = conversationList;
  const facts = serverFacts.about.value;
  return (
    <aside id="side" aria-label="Conversations" class={isOpen.value ? "open" : ""}>
      <header>
        <strong class="brand">
          <img src="/assets/icon.svg" alt="" width={22} height={22} />Vis
        </strong>
        <Button id="new" title="New conversation (Ctrl+Shift+O)" run={fresh}>New</Button>
      </header>
      <input
        id="filter"
        type="search"
        placeholder="Search conversations"
        title="Ctrl+K"
        aria-label="Filter conversations by title; Enter searches their texts"
        ref={elements.filter}
        onInput={({ currentTarget }) => words.value = currentTarget.value}
        onKeyDown={onFilterKey}
      />
      <nav aria-label="Conversations">
        <List />
        <Button id="more" hidden={next.value === null} run={() => guarded(() => conversationList.more())}>
          Show more
        </Button>
      </nav>
      <footer>
        <span
          id="facts"
          title={facts ? `${facts.provider} ${facts.model} in ${facts.workspace}, Vis ${facts.version}` : ""}
        >
          {facts ? `${facts.provider} · ${facts.model}` : ""}
        </span>
        <Button id="keys" title="Keyboard shortcuts (Ctrl+/)" aria-label="Keyboard shortcuts" run={showKeys}>?</Button>
        <Button id="theme" title="Switch theme" aria-label="Switch theme" run={toggleTheme}>◐</Button>
      </footer>
    </aside>
  );
}

function List(): JSX.Element {
  const wanted = words.value.trim().toLowerCase();
  const found = conversationList.items.value.filter(({ title }) => title.toLowerCase().includes(wanted));
  const none = wanted === "" ? "No conversations yet" : "No matching title. Enter searches all texts";
  return (
    <ul id="list" onKeyDown={onListKey}>
      {found.map((one) => <Row key={one.conversationId} conversation={one} />)}
      {found.length === 0 && <li class="none">{none}</li>}
    </ul>
  );
}

function Row({ conversation }: { readonly conversation: ApiListedConversation }): JSX.Element {
  const { conversationId, title, queries, createdAt } = conversation;
  const isOpen = thread.facts.value?.conversationId === conversationId;
  return (
    <li>
      <a href={`#c=${conversationId}`} title={title} aria-current={isOpen ? "page" : undefined}>
        <span>{title}</span>
        <small>{`${when(createdAt)} · ${plural(queries, "request")}`}</small>
      </a>
    </li>
  );
}

function onFilterKey(event: KeyboardEvent): void {
  const wanted = elements.filter.current?.value.trim() ?? "";
  if (event.key === "ArrowDown") return move(event, 1);
  if (event.key !== "Enter" || wanted === "") return;
  event.preventDefault(); // otherwise it would press the button that closes what it opens
  void search(wanted);
}

function onListKey(event: KeyboardEvent): void {
  if (event.key === "ArrowDown") move(event, 1);
  if (event.key === "ArrowUp") move(event, -1);
}

function move(event: KeyboardEvent, by: number): void {
  event.preventDefault();
  const links = [...document.querySelectorAll<HTMLElement>("#list a")];
  const at = links.indexOf(document.activeElement as HTMLElement) + by;
  if (at < 0) elements.filter.current?.focus();
  else links[at]?.focus();
}

function when(time: number): string {
  const date = new Date(time);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? date.toLocaleTimeString([], { timeStyle: "short" }) : date.toLocaleDateString();
}

const KEY = "vis-theme";

/** Applies the theme that was chosen earlier in this browser. */
export function applyTheme(): void {
  const theme = localStorage.getItem(KEY);
  if (theme) document.documentElement.dataset["theme"] = theme;
}

function toggleTheme(): void {
  const { dataset } = document.documentElement;
  const now = dataset["theme"] ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const next = now === "dark" ? "light" : "dark";
  dataset["theme"] = next;
  localStorage.setItem(KEY, next);
}
