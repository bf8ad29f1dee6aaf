import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { view } from "../panels/dialogs.tsx";
import { bestHits, othersText } from "../../domain/records/history.ts";
import { Button } from "../parts/controls.tsx";
import { folderName, plural, shortTime } from "../parts/texts.tsx";
import { type ApiListedConversation, type ApiSearchHit, json } from "../store/api.ts";
import { conversationList, elements, guarded, serverFacts } from "../store/state.ts";
import { thread } from "../store/thread.ts";

const words = signal("");

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
  const none = wanted === "" ? "No conversations yet" : "No loaded title matches. Enter searches all texts";
  return (
    <ul id="list" onKeyDown={onListKey}>
      {found.map((one) => <Row key={one.conversationId} conversation={one} />)}
      {found.length === 0 && <li class="none">{none}</li>}
    </ul>
  );
}

function Row({ conversation }: { readonly conversation: ApiListedConversation }): JSX.Element {
  const { conversationId, branchId, title, workspace, queries, activeAt, running, asks } = conversation;
  const isOpen = thread.facts.value?.conversationId === conversationId;
  return (
    <li>
      <a
        href={`#c=${branchId}`}
        title={`${title}\n${workspace}`.trim()}
        aria-current={isOpen ? "page" : undefined}
        class={asks ? "busy waits" : running ? "busy" : undefined}
      >
        <span>{title}</span>
        <small>
          {[
            asks ? "waiting for you" : running ? "running" : shortTime(activeAt),
            plural(queries, "request"),
            folderName(workspace),
          ].filter(Boolean).join(" · ")}
        </small>
      </a>
    </li>
  );
}

function onFilterKey(event: KeyboardEvent): void {
  const wanted = elements.filter.current?.value.trim() ?? "";
  if (event.key === "ArrowDown") return move(event, 1);
  if (event.key !== "Enter" || wanted === "") return;
  event.preventDefault(); // The browser would use the key for the button that closes the menu.
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

const KEY = "vis-theme";

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

const MOST_HITS = 200;

async function search(words: string): Promise<void> {
  await view(`Results for “${words}”`, async () => {
    const { items } = await json<{ readonly items: readonly ApiSearchHit[] }>(
      `/api/v1/search?limit=${MOST_HITS}&q=${encodeURIComponent(words)}`,
    );
    if (items.length === 0) return <p>No results</p>;
    return bestHits(items).map(({ hit, others }) => (
      <Hit item={hit} more={othersText(others, items.length === MOST_HITS)} words={words} />
    ));
  });
}

function Hit(
  { item, more, words }: { readonly item: ApiSearchHit; readonly more: string; readonly words: string },
): JSX.Element {
  const { branchId, queryId, position, title, kind, snippet, at } = item;
  const step = kind === "answer" ? -1 : (position ?? -1) + 1;
  return (
    <section class="hit">
      <a href={`#c=${branchId}&q=${queryId}&s=${step}`} onClick={() => elements.viewer.current?.close()}>{title}</a>
      <small>
        {` ${kind} · ${shortTime(at)}`}
        {more !== "" && ` · ${more}`}
      </small>
      <p>{marked(snippet, words)}</p>
    </section>
  );
}

/** The server puts matches in brackets, and also matches other forms of a word, so the first two letters identify a
 * match. */
function marked(snippet: string, words: string): ComponentChildren {
  const begins = unaccented(words).split(/[^\p{L}\p{N}_]+/u).filter(Boolean).map((word) => word.slice(0, 2));
  const isHit = (part: string): boolean =>
    /^\[[\p{L}\p{N}_]+\]$/u.test(part) && begins.some((begin) => unaccented(part).startsWith(begin, 1));
  return snippet.split(/(\[[\p{L}\p{N}_]+\])/u).map((part) =>
    isHit(part) ? <mark>{part.slice(1, -1)}</mark> : <span>{part}</span>
  );
}

function unaccented(text: string): string {
  return text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
}

const KEYS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "Request field": {
    Enter: "send; while a request runs, add instructions",
    "Shift + Enter": "begin a new line",
    "@": "name a file of the workspace",
    "/": "list commands and your prompts",
  },
  "A question of Vis": { "y c a n": "answer, while the request field is empty", Enter: "refuse, and send the text" },
  Everywhere: {
    Esc: "close a dialog or menu, otherwise cancel the running request",
    "Ctrl + K": "find a conversation; Enter searches all texts",
    "Ctrl + Shift + O": "start a conversation",
    "Ctrl + /": "show this list",
  },
  "Conversation list": { "↑ ↓": "select a conversation" },
  "Step details": { "← →": "show another step" },
};

export async function showKeys(): Promise<void> {
  await view("Keyboard shortcuts", () => Object.entries(KEYS).map(([place, keys]) => group(place, keys)));
}

function group(place: string, keys: Readonly<Record<string, string>>): JSX.Element {
  return (
    <section>
      <h3>{place}</h3>
      <dl>
        {Object.entries(keys).map(([key, does]) => [
          <dt>{key.split(" ").map((part) => [part === "+" ? "+" : <kbd>{part}</kbd>, " "])}</dt>,
          <dd>{does}</dd>,
        ])}
      </dl>
    </section>
  );
}
