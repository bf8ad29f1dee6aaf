import { batch, signal } from "@preact/signals";
import type { z } from "zod";
import type { BackgroundCommandSchema } from "../../channels/http/api/schemas.ts";
import { inApi, json, request } from "./api.ts";

export type BackgroundCommand = z.infer<typeof BackgroundCommandSchema>;

const LINE_CHARS = 400, OUTPUT_CHARS = 20_000;

const running = signal<readonly BackgroundCommand[]>([]);
const isOpen = signal(false);
const shown = signal<BackgroundCommand | null>(null);

function forget(): void {
  batch(() => {
    running.value = [];
    shown.value = null;
    isOpen.value = false;
  });
}

async function load(conversation: string, signal?: AbortSignal): Promise<void> {
  const chars = shown.value === null ? LINE_CHARS : OUTPUT_CHARS;
  const path = `${inApi("conversations", conversation, "commands")}?chars=${chars}`;
  const { items } = await json<{ readonly items: readonly BackgroundCommand[] }>(path, signal ? { signal } : {});
  if (signal?.aborted) return;
  batch(() => {
    running.value = items;
    const { id = "" } = shown.value ?? {};
    const found = items.find((one) => one.id === id);
    if (found && chars === OUTPUT_CHARS) shown.value = found;
  });
}

async function show(conversation: string, command: BackgroundCommand | null): Promise<void> {
  shown.value = command;
  if (command !== null) await load(conversation);
}

async function stop(conversation: string, { id }: BackgroundCommand): Promise<void> {
  await request(inApi("conversations", conversation, "commands", id, "stop"), { method: "POST" });
}

export const runningCommands = { running, isOpen, shown, forget, load, show, stop };
