import { dirname } from "node:path";
import { Cancelled, ConfigError, fileFault, reasonOf } from "../../domain/errors.ts";
import { isSecureUrl, withoutLogin } from "../../domain/kit/addresses.ts";
import { ensureFolder, replaceFile } from "../../domain/kit/files.ts";
import type { RefreshReport } from "../../domain/admin_reports.ts";
import { readCatalog } from "../../providers/models/catalog.ts";
import { type DataFile, MODEL_DATA_SETS, type ModelDataSet, refreshedPath } from "../../providers/models/model_data.ts";
import type { Settings } from "../settings/settings.ts";
import { download } from "../update/download.ts";

const MAX_BYTES = 16 * 1024 * 1024;
const TIMEOUT_MS = 60_000;

export async function refreshModels(
  { config: { modelCatalog: from }, home }: Pick<Settings, "config" | "home">,
  { signal, now }: { readonly signal: AbortSignal; readonly now: number },
): Promise<RefreshReport> {
  if (home === null) {
    throw new ConfigError(
      "Cannot save the models: Vis has no home folder; set VIS_HOME to a writable folder",
    );
  }
  const date = new Date(now).toISOString().slice(0, 10);
  const found = await catalog(from, { source: `${new URL(from).host}, ${date}`, signal });
  for (const [set, { source, models }] of found) {
    const path = refreshedPath(set, home);
    try {
      await ensureFolder(dirname(path));
      await replaceFile(path, `${JSON.stringify({ source, models })}\n`);
    } catch (error) {
      throw new ConfigError(`Cannot save the models of ${set} in ${path}: ${fileFault(error)}`, {
        advice: "correct this, and repeat vis models --refresh",
      });
    }
  }
  return {
    ...{ from, date },
    providers: [...found].map(([name, { models }]) => ({ name, models: Object.keys(models).length })),
    missing: MODEL_DATA_SETS.filter((set) => !found.has(set)),
  };
}

async function catalog(
  from: string,
  { source, signal }: { readonly source: string; readonly signal: AbortSignal },
): Promise<ReadonlyMap<ModelDataSet, DataFile>> {
  const refused = (why: string, advice: string) =>
    new ConfigError(`Cannot refresh the models from ${withoutLogin(from)}: ${why}, and Vis changed nothing`, {
      advice,
    });
  const other = "name another catalogue with vis config set modelCatalog URL";
  if (!isSecureUrl(from)) throw refused("it is neither an https address nor on this machine", other);
  let text: string;
  try {
    text = new TextDecoder().decode(await download(from, { maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS, signal }));
  } catch (error) {
    if (signal.aborted) throw new Cancelled("Cancelled");
    throw refused(reasonOf(error), `check the network and try again, or ${other}`);
  }
  try {
    return readCatalog(text, source);
  } catch (error) {
    throw refused(reasonOf(error), other);
  }
}
