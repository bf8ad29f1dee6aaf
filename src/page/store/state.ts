import { signal } from "@preact/signals";
import { createRef } from "preact";
import {
  type ApiConversationList,
  type ApiListedConversation,
  type ApiModelList,
  type ApiServer,
  inApi,
  json,
  Refused,
} from "./api.ts";

export const entry = signal<{ readonly shows: "nothing" | "token" | "page"; readonly why: string }>({
  shows: "nothing",
  why: "",
});

export function askToken(why = ""): void {
  entry.value = { shows: "token", why };
  void drawn().then(() => elements.token.current?.focus());
}

/** Error texts of the server can name commands, which the user must run where the server runs. */
export function placeOfCommands(text: string): string {
  const named = /\bvis (?:approvals|auth|config|db|doctor|extensions|models|serve)\b/.exec(text);
  if (named === null) return "";
  const after = named[0] === "vis config" ? ", and start vis serve again: it reads its settings at the start" : "";
  return `Run ${named[0]} on the server, where Vis runs${after}`;
}

/** Shows an error to the user instead of rejecting. A listener of `REFUSED` handles a refused token. */
export async function guarded<T>(work: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refused && error.status === 401) return;
    const message = error instanceof Error ? error.message : String(error);
    const place = placeOfCommands(message);
    const text = place === "" ? message : `${message}. ${place}`;
    if (entry.value.shows === "page") say(text, { bad: true });
    else askToken(text);
  }
}

export const saidStatus = signal({ text: "", bad: false });

export function say(text: string, { bad = false } = {}): void {
  saidStatus.value = { text, bad };
}

const about = signal<ApiServer | null>(null);
const models = signal<readonly string[]>([]);

async function load(): Promise<void> {
  about.value = await json<ApiServer>("/api/v1");
}

/** Providers may list their models slowly or fail, so `load` does not wait for the models. */
async function loadModels(): Promise<void> {
  const { items } = await json<ApiModelList>("/api/v1/models");
  models.value = items.flatMap(({ provider, models }) => models.map(({ name }) => `${provider}/${name}`));
}

export const serverFacts = { about, models, load, loadModels };

const LIMITS = ["maxIterations", "maxCostUsd", "timeoutMs"] as const;

export type LimitName = typeof LIMITS[number];

export const optionsShown = signal(false);

/** If a choice is "", the server chooses. */
export const choices = {
  plan: signal(false),
  model: signal(""),
  reasoning: signal(""),
  workspace: signal(""),
  limits: signal<Readonly<Partial<Record<LimitName, number>>>>({}),
};

export function chosen(): Readonly<Record<string, unknown>> {
  const { plan, model, reasoning, limits } = choices;
  return {
    ...limits.value,
    ...(plan.value ? { plan: true } : {}),
    ...(model.value === "" ? {} : { model: model.value }),
    ...(reasoning.value === "" ? {} : { reasoning: reasoning.value }),
  };
}

export function chosenWorkspace(): string | null {
  const { workspaces = [] } = serverFacts.about.value ?? {};
  return workspaces.length > 1 ? choices.workspace.value || (workspaces[0] ?? null) : null;
}

export function newFolder(): string {
  return chosenWorkspace() ?? serverFacts.about.value?.workspace ?? "";
}

const PAGE = 50;
const items = signal<readonly ApiListedConversation[]>([]);
const next = signal<string | null>(null);
const isOpen = signal(false);

async function loadList(): Promise<void> {
  const limit = Math.min(200, Math.max(PAGE, items.value.length));
  const page = await json<ApiConversationList>(`${inApi("conversations")}?limit=${limit}`);
  next.value = page.next;
  if (JSON.stringify(page.items) !== JSON.stringify(items.value)) items.value = page.items;
}

async function more(): Promise<void> {
  const cursor = encodeURIComponent(next.value ?? "");
  const page = await json<ApiConversationList>(`${inApi("conversations")}?limit=${PAGE}&cursor=${cursor}`);
  items.value = [...items.value, ...page.items];
  next.value = page.next;
}

/** On a phone, the focus would open the keyboard over the list. */
function showList(open: boolean, { byKey = false } = {}): void {
  isOpen.value = open;
  if (!open || !byKey && !matchMedia("(pointer: fine)").matches) return;
  void drawn().then(() => elements.filter.current?.focus());
}

export const conversationList = { items, next, isOpen, load: loadList, more, show: showList };

const others = new BroadcastChannel("vis");

export function tellTabs(): void {
  others.postMessage({ changed: true });
}

export function onTabs(changed: () => void): void {
  others.addEventListener("message", changed);
}

export const elements = {
  ask: createRef<HTMLDialogElement>(),
  filter: createRef<HTMLInputElement>(),
  request: createRef<HTMLTextAreaElement>(),
  thread: createRef<HTMLElement>(),
  token: createRef<HTMLInputElement>(),
  viewer: createRef<HTMLDialogElement>(),
};

/** Preact draws components in a microtask, so the document has earlier changes when this promise resolves. */
export async function drawn(): Promise<void> {
  await Promise.resolve();
  await Promise.resolve();
}
