import type { Relay, RelayOptions } from "./relay.ts";
import { type ScriptSource, scriptValue } from "../setup/script_value.ts";

/** Creates the relay from the bundle of script.ts. */
export function loadRelay(script: ScriptSource, options: RelayOptions): Relay {
  const found = scriptValue(script, { name: "sandbox.relay" });
  if (!isMaker(found)) throw new TypeError("Cannot relay frames: the bundle of the relay is not one");
  return found(options);
}

function isMaker(value: unknown): value is (options: RelayOptions) => Relay {
  return typeof value === "function";
}
