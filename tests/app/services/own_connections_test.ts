import assert from "node:assert/strict";
import { ownConnections } from "../../../src/app/services/serve.ts";

const ON = { os: "linux" };

Deno.test("ownConnections() looks for lost clients if the runtime does not report all of them, and only on Linux", () => {
  const looks = (version: string): boolean => ownConnections({ ...ON, version })?.missesLeaving ?? false;
  assert.deepEqual(["2.6.10", "2.7.14", "2.8.3", "2.9.6", "3.0.0"].map(looks), [false, false, true, true, true]);
  assert.equal(ownConnections({ ...ON, os: "darwin", version: "2.9.6" }), null);
});

Deno.test({
  name: "ownConnections() lists the connections of this process, even if there are many",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    const own = ownConnections({ ...ON, version: "2.9.6" });
    const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const port = listener.addr.port;
    const clients = await Promise.all(Array.from({ length: 100 }, () => Deno.connect({ hostname: "127.0.0.1", port })));
    try {
      const hex = (number: number): string => `:${number.toString(16).toUpperCase().padStart(4, "0")}`;
      const rows = (await own?.read() ?? "").split("\n");
      for (const { localAddr } of clients) {
        const own = rows.filter((row) => row.includes(hex(port)) && row.includes(hex(localAddr.port)));
        assert.ok(own.length >= 1, String(localAddr.port));
      }
    } finally {
      clients.forEach((client) => client.close());
      listener.close();
    }
  },
});
