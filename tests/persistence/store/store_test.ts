import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore } from "../../../src/persistence/open_store.ts";
import { storeSuite } from "../../conformance/store/suite.ts";

storeSuite("SQLite file", async (clock) => {
  const folder = await mkdtemp(join(tmpdir(), "vis-store-"));
  return {
    store: await openStore({ path: join(folder, "vis.db"), now: () => clock.now }),
    dispose: () => rm(folder, { recursive: true }),
  };
});
