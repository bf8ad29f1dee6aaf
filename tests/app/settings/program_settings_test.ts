import assert from "node:assert/strict";
import { settingsOf } from "../_settings.ts";
import { programSettings } from "../../../src/app/settings/settings.ts";

const of = async (config: object) => programSettings(await settingsOf({ config }));

Deno.test("programSettings() collects the settings of extensions for every program, from any section", async () => {
  assert.deepEqual(await of({}), { network: false, unwalled: "ask" });
  const said = { network: true, unwalled: "off" };
  assert.deepEqual(await of({ shell: said }), said);
  assert.deepEqual(await of({ extensions: { config: { "vis.shell": said } } }), said);
  const kernel = await settingsOf({ config: { sandbox: { require: ["kernel"] } } });
  assert.equal(programSettings(kernel, { mode: "run" }).unwalled, "off");
  assert.equal(
    programSettings(await settingsOf({ config: { shell: said } }), { mode: "run" }).unwalled,
    "run",
  );
  const other = { "vis.mcp": said, "com.acme.x": said };
  assert.deepEqual(
    await of({ extensions: { config: other } }),
    { network: false, unwalled: "ask" },
    "not those of others",
  );
  const wrong = { "vis.shell": { network: "yes", unwalled: "always" } };
  assert.deepEqual(await of({ extensions: { config: wrong } }), { network: false, unwalled: "ask" });
});

Deno.test("the earlier name of readFolders is an error that names the setting", async () => {
  await assert.rejects(
    settingsOf({ config: { shell: { read: ["/opt"] } } }),
    /shell\.read is now the setting readFolders/,
  );
});
