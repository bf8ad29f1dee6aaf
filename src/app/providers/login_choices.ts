import type { LoginChoice } from "../../domain/reports.ts";
import { BOT_LOGIN } from "../../domain/settings.ts";
import { discoverLocal, type LocalAddress, usualAddresses } from "../../providers/models/discover.ts";
import { PRESETS } from "../../providers/models/presets.ts";
import type { Settings } from "../settings/settings.ts";

/** A person waits here, not a query: an idle server may take longer than a start could wait. */
const PROBE_MS = 400;

/** Login choices, servers on this machine first: these need no key. */
export async function loginChoices(
  names: readonly string[],
  { config: { localServers, providers }, variable }: Pick<Settings, "config" | "variable">,
  { addresses = usualAddresses(variable) }: { readonly addresses?: readonly LocalAddress[] | undefined } = {},
): Promise<readonly LoginChoice[]> {
  const servers = localServers ? await discoverLocal(addresses, { probeMs: PROBE_MS }) : [];
  const found = servers.map(({ preset, title, baseUrl, models }): LoginChoice => {
    const count = `${models.length} model${models.length === 1 ? "" : "s"}`;
    return { name: preset, title: `${title} at ${new URL(baseUrl).host}, ${count}`, need: "optional" };
  });
  const stopped = Object.entries(PRESETS).flatMap(([name, { title, start }]): LoginChoice[] => {
    if (start === undefined || !localServers || [...found, ...providers].some((one) => one.name === name)) return [];
    return [{ name, title: `${title}, not running here`, need: "optional", start }];
  });
  const others = names.filter((name) => !found.some((one) => one.name === name)).map((name): LoginChoice => {
    if (name === BOT_LOGIN) return { name, title: "the token of a bot, for vis telegram", need: "required" };
    const entry = providers.find((one) => one.name === name);
    const preset = PRESETS[entry?.preset ?? name];
    return { name, title: preset?.title ?? "of your configuration", need: preset?.key ?? "required" };
  });
  return [...found, ...others, ...stopped];
}
