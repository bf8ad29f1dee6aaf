import type { DoctorCheck, DoctorContext, z } from "@vis/extension";
import type settings from "./settings.ts";

/** Whether commands can run, and what they can access. */
export function checkShell({ config, spawn }: DoctorContext): readonly DoctorCheck[] {
  const { enabled, network, allow, deny } = config as z.infer<typeof settings>;
  const name = "shell";
  if (!enabled) return [{ name, state: "ok", found: "off", fix: "" }];
  if (!spawn) {
    const fix = "See the line about commands; vis config set shell.enabled false turns it off";
    return [{ name, state: "fail", found: "on, but no command can run", fix }];
  }
  const rules = allow.length + deny.length > 0 ? `, rules: ${allow.length} allow, ${deny.length} deny` : "";
  return [{
    name,
    state: "ok",
    found: `on, ${network ? "TCP to anywhere" : "asks you for the network"}${rules}`,
    fix: "",
  }];
}
