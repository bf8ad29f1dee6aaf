import type { Settings } from "./settings.ts";

const SHELL = ["shell", "vis.shell"];
/** Of a token without a quota, so that none is without limit. */
const QUOTA = { queriesPerDay: 1_000, costUsdPerDay: 20, concurrent: 4 } as const;

/** The settings of the locked profile: every wall must hold, nothing runs commands, and only extensions that are listed
 * are loaded. Nothing that the settings say takes this back. */
export function lockSettings<S extends Pick<Settings, "config">>(settings: S): S {
  const { config } = settings;
  const { quota } = config.server;
  return {
    ...settings,
    config: {
      ...config,
      sandbox: { ...config.sandbox, require: ["realm", "permissions", "process", "kernel"] },
      shell: { ...config.shell, enabled: false, network: false },
      extensions: {
        ...config.extensions,
        allow: (config.extensions.allow ?? []).filter((name) => !SHELL.includes(name)),
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
