import { join } from "node:path";
import { AppExtensionAdmin } from "../../../src/app/extensions/extension_admin.ts";
import { fn, z } from "../../../src/extension/mod.ts";
import { manifestOf, write } from "../../extension/_folders.ts";
import { sample } from "../../extension/_sample.ts";
import type { Settings } from "../../../src/app/settings/settings.ts";
import { withFolder } from "../../helpers/with_folder.ts";
import { settingsOf } from "../_settings.ts";

export const say = fn("say", () => "hi", { doc: "Says hi.", args: z.tuple([]), returns: "string" });
const shipped = { one: () => Promise.resolve({ default: sample({ namespace: "test.one", symbols: [say] }) }) };
export const parts = { shipped, env: {} };

export async function adminIn(folder: string, config: object = {}): Promise<{
  readonly admin: AppExtensionAdmin;
  readonly settings: Settings;
  readonly home: string;
  readonly workspace: string;
}> {
  const [home, workspace] = [join(folder, "home"), join(folder, "ws")];
  await Deno.mkdir(workspace, { recursive: true });
  const settings = { ...await settingsOf({ config, home }), workspace };
  return { admin: new AppExtensionAdmin(settings, parts), settings, home, workspace };
}

export async function faultsOf(files: Readonly<Record<string, string>>): Promise<readonly string[]> {
  let faults: readonly string[] = [];
  await withFolder(async (folder) => {
    const { admin } = await adminIn(folder);
    await write(join(folder, "x"), { "vis.json": manifestOf(), ...files });
    const checks = await admin.check(join(folder, "x"));
    faults = checks.filter(({ ok }) => !ok).map(({ what, found }) => `${what}: ${found}`);
  });
  return faults;
}
