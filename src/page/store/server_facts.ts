import { signal } from "@preact/signals";
import { json } from "./api.ts";
import type { ApiModelList, ApiServer } from "./api_types.ts";

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
