import { signal } from "@preact/signals";
import { type ApiConversationList, type ApiListedConversation, inApi, json } from "./api.ts";
import { drawn, elements } from "./elements.ts";

const PAGE = 50;

const items = signal<readonly ApiListedConversation[]>([]);
const next = signal<string | null>(null);
const isOpen = signal(false);

async function load(): Promise<void> {
  const limit = Math.min(200, Math.max(PAGE, items.value.length));
  const page = await json<ApiConversationList>(`${inApi("conversations")}?limit=${limit}`);
  items.value = page.items;
  next.value = page.next;
}

async function more(): Promise<void> {
  const cursor = encodeURIComponent(next.value ?? "");
  const page = await json<ApiConversationList>(`${inApi("conversations")}?limit=${PAGE}&cursor=${cursor}`);
  items.value = [...items.value, ...page.items];
  next.value = page.next;
}

function show(open: boolean): void {
  isOpen.value = open;
  if (open) void drawn().then(() => elements.filter.current?.focus());
}

/** The sidebar's list. `isOpen` matters on a narrow screen only. */
export const conversationList = { items, next, isOpen, load, more, show };

/** Other tabs of this server in the same browser. */
const others = new BroadcastChannel("vis");

/** Tells them that a conversation has changed, is new or was deleted. */
export function tellTabs(): void {
  others.postMessage({ changed: true });
}

/** Calls `changed` whenever one of them tells it. */
export function onTabs(changed: () => void): void {
  others.addEventListener("message", changed);
}
