import type { ShippedParts } from "./shipped_parts.ts";
import type { Settings } from "./settings.ts";

/** The quota of tokens without their own, so that every token has a limit. */
const QUOTA = { queriesPerDay: 1_000, costUsdPerDay: 20, concurrent: 4 } as const;

/** The settings of the locked profile: every wall is required, and only listed extensions are loaded, without those
 * that must be switched on. Nobody is asked for more. No setting can undo this. */
export function lockSettings<S extends Pick<Settings, "config">>(
  settings: S,
  { described }: Pick<ShippedParts, "described">,
): S {
  const { config } = settings;
  const off = Object.entries(described).flatMap(([name, one]) =>
    one?.onByDefault !== undefined ? [name, one.namespace] : []
  );
  const { quota } = config.server;
  return {
    ...settings,
    config: {
      ...config,
      approvals: "never",
      sandbox: { ...config.sandbox, require: ["realm", "permissions", "process", "kernel"] },
      extensions: {
        ...config.extensions,
        allow: (config.extensions.allow ?? []).filter((name) => !off.includes(name)),
      },
      server: {
        ...config.server,
        quota: {
          queriesPerDay: quota.queriesPerDay ?? QUOTA.queriesPerDay,
          costUsdPerDay: quota.costUsdPerDay ?? QUOTA.costUsdPerDay,
          concurrent: quota.concurrent ?? QUOTA.concurrent,
        },
      },
    },
  };
}
