import type { TypedCommand } from "../../domain/query/typed_request.ts";
import { changes } from "../store/thread.ts";
import { conversationList, optionsShown } from "../store/state.ts";

interface PageCommand {
  readonly description: string;
  /** The last element with this selector outside `[hidden]` is the control of the command. */
  readonly control: string;
  readonly missing?: string;
}

const NO_CHANGES = "no request here has changes to undo";

export const PAGE_COMMANDS: Readonly<Record<string, PageCommand>> = {
  new: { description: "Start a new conversation", control: "#new" },
  search: { description: "Find conversations", control: "#filter" },
  undo: { description: "Undo the newest file changes of a request", control: "[data-does=undo]", missing: NO_CHANGES },
  redo: { description: "Reapply the undone changes", control: "[data-does=redo]", missing: "nothing was undone" },
  diff: { description: "Show the newest file changes", control: ".changes > details", missing: "no file changed" },
  rewind: { description: "Undo the file changes, or fork", control: "[data-does=undo]", missing: NO_CHANGES },
  fork: { description: "Continue in a new branch", control: "#fork" },
  retry: {
    description: "Run the last request again",
    control: "[data-does=retry]",
    missing: "no request here has ended",
  },
  more: {
    description: "Give the last request more steps",
    control: "[data-does=more]",
    missing: "the last request did not stop at its step limit",
  },
  rename: { description: "Give the conversation another title", control: "#rename" },
  export: { description: "Export the conversation as Markdown", control: "#export-md" },
  vars: { description: "Show the variables", control: "#variables" },
  inspect: {
    description: "Show the sent messages",
    control: "[data-does=inspect]",
    missing: "no ended request here has steps",
  },
  model: { description: "Choose another model", control: "#model", missing: "the server offers one model" },
  think: { description: "Set the thinking level", control: "#reasoning" },
  budget: { description: "Limit your next requests", control: "#limits" },
  jobs: {
    description: "Show or stop background commands",
    control: "#commands",
    missing: "no command runs in the background",
  },
  todo: { description: "Show the model's tasks", control: "details.plan", missing: "the model keeps no tasks" },
  cancel: { description: "Cancel the running request", control: "#cancel", missing: "no request runs" },
  theme: { description: "Switch the theme", control: "#theme" },
  help: { description: "Show keyboard shortcuts", control: "#keys" },
};

const WHOLE = "open a line of a step to see all of it";
const OPTIONS = ["#model", "#reasoning", "#limits"];
export const SAME_ON_PAGE: Readonly<Record<string, string>> = {
  conversations: "search",
  resume: "search",
  steps: "budget",
  iterations: "budget",
};
export const PAGE_INSTEAD: Readonly<Record<string, string>> = {
  btw: "ask in a new conversation",
  copy: "each answer has Copy",
  expand: WHOLE,
  whole: WHOLE,
  find: "/search finds texts of all conversations",
  inputs: "/search finds your earlier requests",
  mcp: "run vis mcp-check on the server",
  palette: "type / to list the commands",
  exit: "close the tab",
  quit: "close the tab",
  settings: "use /think, /budget or /theme, or run vis config on the server",
  thinking: "an open step shows its thinking",
};

interface Ran {
  readonly isDone: boolean;
  readonly said: string;
}

export function runPageCommand({ name, rest }: TypedCommand): Ran | null {
  const key = SAME_ON_PAGE[name] ?? name;
  const command = Object.hasOwn(PAGE_COMMANDS, key) ? PAGE_COMMANDS[key] : undefined;
  if (command === undefined) {
    return Object.hasOwn(PAGE_INSTEAD, name) ? refused(`The page has no /${name}: ${PAGE_INSTEAD[name]}`) : null;
  }
  if (key === "search") conversationList.show(true);
  if (OPTIONS.includes(command.control)) optionsShown.value = true;
  const found = [...document.querySelectorAll<HTMLElement>(command.control)];
  const control = found.findLast((one) => one.closest("[hidden]") === null);
  if (control === undefined && command.missing === NO_CHANGES && changes.latest.value?.fault) {
    return refused(changes.latest.value.fault);
  }
  if (control === undefined) return refused(`Cannot run /${name}: ${command.missing ?? "no conversation is open"}`);
  use(control);
  const words = rest.trim();
  return { isDone: true, said: words === "" ? "" : `/${name} ignored “${words.slice(0, 100)}”: use the control` };
}

function refused(said: string): Ran {
  return { isDone: false, said };
}

function use(control: HTMLElement): void {
  if (control instanceof HTMLButtonElement) return control.click();
  if (control instanceof HTMLDetailsElement) {
    control.open = true;
    return control.querySelector("summary")?.focus();
  }
  control.focus();
}
