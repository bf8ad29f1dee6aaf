import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { requestOfCommand, typedCommand, type TypedRequest } from "../../domain/query/typed_request.ts";
import { type ApiFileList, type ApiPromptList, inApi, json } from "../store/api.ts";
import { chosenWorkspace, elements } from "../store/state.ts";
import { thread } from "../store/thread.ts";
import { PAGE_COMMANDS } from "./page_commands.ts";

type Prompt = ApiPromptList["items"][number];

interface Suggested {
  readonly text: string;
  readonly detail: string;
}

interface Shown {
  readonly items: readonly Suggested[];
  readonly at: number;
  readonly from: number;
}

const shown = signal<Shown | null>(null);
const opened: { prompts: Promise<readonly Prompt[]> | null } = { prompts: null };

const COMMANDS: readonly Prompt[] = [
  { name: "plan", description: "Only read, and answer with a plan", text: "" },
  { name: "review", description: "Review the uncommitted changes, a commit, or all since a branch", text: "" },
];
const OF_PAGE: readonly Prompt[] = Object.entries(PAGE_COMMANDS).map(([name, { description }]) => ({
  ...{ name, description, text: "" },
}));
const SLASH = /^\/([a-z0-9-]*)$/;
const FILE = /(?:^|[\s(])@([^\s@"]*)$/;
const ID = "suggestions";

export async function suggest(): Promise<void> {
  const area = elements.request.current;
  const [start, before] = typedBefore(area);
  const found = await suggestedFor(before).catch(() => null); // If suggestions are missing, the user can still type.
  if (typedBefore(area)[1] !== before || typedBefore(area)[0] !== start) return;
  shown.value = found === null || found.items.length === 0 ? null : { ...found, at: 0 };
}

function typedBefore(area: HTMLTextAreaElement | null): readonly [number, string] {
  const at = area?.selectionStart ?? 0;
  return [at, at === area?.selectionEnd ? area.value.slice(0, at) : ""];
}

async function suggestedFor(before: string): Promise<Omit<Shown, "at"> | null> {
  const slash = SLASH.exec(before);
  if (slash) {
    const own = await (opened.prompts ??= prompts());
    const free = own.filter(({ name }) => !Object.hasOwn(PAGE_COMMANDS, name));
    const all = [...COMMANDS.filter(({ name }) => free.every((prompt) => prompt.name !== name)), ...free, ...OF_PAGE]
      .filter(({ name }) => name.startsWith(slash[1] ?? ""));
    return { items: all.map(({ name, description }) => ({ text: `/${name} `, detail: description })), from: 0 };
  }
  opened.prompts = null;
  const file = FILE.exec(before);
  if (file === null) return null;
  const letters = file[1] ?? "";
  const { items } = await json<ApiFileList>(`${inApi("files")}?${place({ q: letters })}`);
  const named = items.map((path) => /[\s"'\\]/.test(path) ? `@${JSON.stringify(path)}` : `@${path}`);
  return { items: named.map((text) => ({ text: `${text} `, detail: "" })), from: before.length - letters.length - 1 };
}

function place(more: Readonly<Record<string, string>> = {}): URLSearchParams {
  const [id, workspace] = [thread.id.value, chosenWorkspace()];
  const of = id !== null ? { conversation: id } : workspace !== null ? { workspace } : {};
  return new URLSearchParams({ ...more, ...of });
}

async function prompts(): Promise<readonly Prompt[]> {
  return (await json<ApiPromptList>(`${inApi("prompts")}?${place()}`)).items;
}

export function suggestionKey({ key }: KeyboardEvent): boolean {
  const now = shown.value;
  if (now === null) return false;
  const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
  const step = steps[key];
  if (step !== undefined) shown.value = { ...now, at: (now.at + step + now.items.length) % now.items.length };
  else if (key === "Escape") shown.value = null;
  else if (key === "Enter" && isTyped(now)) {
    shown.value = null;
    return false;
  } else if (key === "Tab" || key === "Enter") choose(now.at);
  else return false;
  return true;
}

function isTyped({ items, at }: Shown): boolean {
  const text = items[at]?.text.trim() ?? "";
  return text.startsWith("/") && text === elements.request.current?.value.trim();
}

export function endSuggestions(): void {
  shown.value = opened.prompts = null;
}

function choose(at: number): void {
  const [area, now] = [elements.request.current, shown.value];
  const item = now?.items[at];
  if (area === null || now === null || item === undefined) return;
  area.setRangeText(item.text, now.from, area.selectionStart, "end");
  shown.value = null;
  area.focus();
  area.dispatchEvent(new Event("input", { bubbles: true }));
}

/** A prompt file `review` takes precedence over `/review`. */
export async function typedRequest(typed: string): Promise<TypedRequest> {
  const command = typedCommand(typed);
  if (command === null) return { text: typed };
  const own = (await prompts()).find((one) => one.name === command.name);
  const request = requestOfCommand(command, own?.text ?? null);
  if (request === null && command.rest === "") throw new Error(`Unknown command ${typed}; / lists all commands`);
  return request ?? { text: typed };
}

export function suggestionAttributes(): {
  readonly "aria-autocomplete": "list";
  readonly "aria-controls"?: string;
  readonly "aria-activedescendant"?: string;
} {
  const now = shown.value;
  if (now === null) return { "aria-autocomplete": "list" };
  return { "aria-autocomplete": "list", "aria-controls": ID, "aria-activedescendant": `${ID}-${now.at}` };
}

export function Suggestions(): JSX.Element | null {
  const now = shown.value;
  if (now === null) return null;
  return (
    <ul id={ID} role="listbox" aria-label="Suggestions">
      {now.items.map(({ text, detail }, at) => (
        <li
          key={text}
          id={`${ID}-${at}`}
          role="option"
          aria-selected={at === now.at}
          ref={(node) => {
            if (at === now.at) node?.scrollIntoView({ block: "nearest" });
          }}
          onMouseDown={(event) => {
            event.preventDefault();
            choose(at);
          }}
        >
          <span>{text.trim()}</span>
          {detail === "" ? null : <span class="detail">{detail}</span>}
        </li>
      ))}
    </ul>
  );
}
