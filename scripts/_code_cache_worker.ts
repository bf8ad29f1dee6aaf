/** The sandbox's worker, which afterwards also sends the code cache of its bundle through the port from its setup. */
import { recorded } from "./_code_cache_record.ts";
import "../src/sandbox/child/worker/entry.ts";

// The first listener empties the realm before this one is called.
const Message = MessageEvent;
const scope = globalThis as unknown as Pick<Worker, "addEventListener">;
scope.addEventListener("message", (event) => {
  if (!(event instanceof Message)) return;
  const port: MessagePort = event.data.cachePort;
  port.onmessage = () => port.postMessage(recorded.get(import.meta.url)?.createCachedData());
}, { once: true });
