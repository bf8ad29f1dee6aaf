import type { ExtensionDescription } from "../../extension/registry/description.ts";
import type { ExtensionSource } from "../../extension/registry/lazy_registry.ts";
import type { OffPart } from "../../extension/registry/off_part.ts";
import { isWanted } from "../../extension/loading/is_wanted.ts";
import type { Settings } from "../settings/settings.ts";
import type { ShippedParts } from "../settings/shipped_parts.ts";

/** The source, which also says which shipped extensions the settings switch off, or do not let in. */
export function withOffParts(
  source: ExtensionSource,
  { config, described }: Pick<Settings, "config"> & Pick<ShippedParts, "described">,
): ExtensionSource {
  const off = Object.entries(described).flatMap(([name, one]) =>
    one && (one.howToEnable || !isWanted(name, one, config.extensions)) ? [offPart(name, one, config.extensions)] : []
  );
  if (off.length === 0) return source;
  return {
    activate: async (env, own) => {
      const active = await source.activate(env, own);
      const there = new Set(active.list.map(({ namespace }) => namespace));
      return { ...active, off: off.filter(({ namespace }) => !there.has(namespace)) };
    },
    known: (envId) => source.known?.(envId) ?? [],
    release: (envId) => source.release?.(envId),
  };
}

function offPart(
  name: string,
  { namespace, functions, settings, howToEnable }: ExtensionDescription,
  { allow, deny, config }: Settings["config"]["extensions"],
): OffPart {
  const isListed = (list: readonly string[]): boolean => list.includes(namespace) || list.includes(name);
  const section = settings?.section ?? `extensions.config["${namespace}"]`;
  const how = isListed(deny)
    ? `remove ${name} from extensions.deny, or run without --no-extension ${name}`
    : allow !== null && !isListed(allow)
    ? `add ${name} to extensions.allow`
    : (Object(config[namespace]).enabled === false ? undefined : howToEnable) ??
      `vis config set ${section}.enabled true`;
  return { namespace, alias: functions[0]?.split(".")[0] ?? name, functions, how };
}
