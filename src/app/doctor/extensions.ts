import type { CheckResult } from "../../channels/channel.ts";
import { ConfigError, UsageError } from "../../domain/errors.ts";
import { AppExtensionAdmin } from "../extensions/extension_admin.ts";
import type { SessionParts } from "../session/open_session.ts";
import type { Settings } from "../settings/settings.ts";

/** Checks whether every extension that is found loads. Untrusted ones of a project are not a fault. */
export async function diagnoseExtensions(settings: Settings, parts: SessionParts): Promise<readonly CheckResult[]> {
  const name = "extensions";
  try {
    const all = await new AppExtensionAdmin(settings, parts).list();
    const loaded = all.filter(({ state }) => state === "loaded");
    const denied = (one: string): boolean => settings.config.extensions.deny.includes(one);
    const faults = all.filter((one) =>
      one.state !== "loaded" && !denied(one.name) && (one.path !== "" || one.state === "misconfigured")
    );
    return [
      { name, state: "ok", found: `${loaded.length} load: ${loaded.map((one) => one.alias).join(", ")}`, fix: "" },
      ...faults.map((one): CheckResult => ({
        name: `extension: ${one.name}`,
        state: "warn",
        found: one.reason,
        fix: one.state === "untrusted"
          ? "Review it, then run vis extensions trust"
          : one.state === "misconfigured"
          ? "vis config explain extensions.config shows its settings"
          : `vis extensions check ${one.path}; or exclude it: vis config set extensions.deny ${one.name}`,
      })),
    ];
  } catch (error) {
    if (!(error instanceof ConfigError) && !(error instanceof UsageError)) throw error;
    return [{ name, state: "fail", found: error.message, fix: "vis extensions list shows each of them" }];
  }
}
