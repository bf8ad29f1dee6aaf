import { signal } from "@preact/signals";
import { type ApiModelList, type ApiServer, json } from "./api.ts";

const about = signal<ApiServer | null>(null);
/** Names of all models, as "provider/name". */
const models = signal<readonly string[]>([]);

async function load(): Promise<void> {
  about.value = await json<ApiServer>("/api/v1");
}

/** Providers may take a while to list their models, and may fail. */
async function loadModels(): Promise<void> {
  const { items } = await json<ApiModelList>("/api/v1/models");
  models.value = items.flatMap(({ provider, models }) => models.map(({ name }) => `${provider}/${name}`));
}

/** The server that the page belongs to. */
export const serverFacts = { about, models, load, loadModels };

const LIMITS = ["maxIterations", "maxCostUsd", "timeoutMs"] as const;
export type LimitName = typeof LIMITS[number];

/** What the user chose for the next requests. "" is the server's own model or workspace. */
export const choices = {
  plan: signal(false),
  model: signal(""),
  workspace: signal(""),
  limits: signal<Readonly<Partial<Record<LimitName, number>>>>({}),
};

/** The choices as a request carries them. */
export function chosen(): Readonly<Record<string, unknown>> {
  const { plan, model, limits } = choices;
  return {
    ...limits.value,
    ...(plan.value ? { plan: true } : {}),
    ...(model.value === "" ? {} : { model: model.value }),
  };
}

/** The workspace of a new conversation; null if the server has only one. */
export function chosenWorkspace(): string | null {
  const { workspaces = [] } = serverFacts.about.value ?? {};
  return workspaces.length > 1 ? choices.workspace.value || (workspaces[0] ?? null) : null;
}
