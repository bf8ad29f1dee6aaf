import type { NormalExtension } from "./validate_extension.ts";

/** What an extension makes of its section of the configuration. Throws TypeError that names the key at fault. */
export function readConfig({ namespace, config }: NormalExtension, section: unknown): unknown {
  if (!config) {
    if (section === undefined) return undefined;
    throw new TypeError(`Cannot use extension ${namespace}: extensions.config.${namespace} is set, it has no settings`);
  }
  const checked = config.safeParse(section ?? {});
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  const key = ["extensions.config", namespace, ...issue?.path.map(String) ?? []].join(".");
  throw new TypeError(`Cannot use extension ${namespace}: ${key}: ${issue?.message ?? "is wrong"}`);
}
