import { signal } from "@preact/signals";
import { serverFacts } from "./server_facts.ts";

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
