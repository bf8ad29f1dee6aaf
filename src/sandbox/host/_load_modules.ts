import { messageOf, SandboxEnded } from "../../domain/errors.ts";
import { encode } from "../codec/codec.ts";
import { type Bytes, MAX_PAYLOAD_BYTES } from "../protocol.ts";
import type { SandboxOptions } from "../sandbox.ts";

/** Loads modules into a child, in order. Rejects with SandboxEnded if one of them ended it; any other that fails is
 * reported and skipped. */
export async function loadModules(
  { modules = {}, onModuleFailed }: Pick<SandboxOptions, "modules" | "onModuleFailed">,
  ask: (header: { readonly t: "module"; readonly name: string }, payload: Bytes) => Promise<unknown>,
): Promise<void> {
  for (const [name, script] of Object.entries(modules)) {
    try {
      await ask({ t: "module", name }, encode(script, { maxBytes: MAX_PAYLOAD_BYTES }));
    } catch (error) {
      const ended = error instanceof SandboxEnded;
      const reason = ended ? error.why : messageOf(error);
      onModuleFailed?.({ name, reason, ended });
      if (ended) throw error;
    }
  }
}
