import assert from "node:assert/strict";
import { settingsOf } from "../_settings.ts";
import { programSettings } from "../../../src/app/settings/settings.ts";

const of = async (config: object) => programSettings(await settingsOf({ config }));

Deno.test("programSettings() collects the settings of extensions for every program, from any section", async () => {
  assert.deepEqual(await of({}), { read: [], network: false, unwalled: "ask" });
  const said = { read: ["/opt/tools"], network: true, unwalled: "off" };
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
    { read: [], network: false, unwalled: "ask" },
    "not those of others",
  );
  const wrong = { "vis.shell": { read: [7, "/a"], network: "yes", unwalled: "always" } };
  assert.deepEqual(await of({ extensions: { config: wrong } }), { read: ["/a"], network: false, unwalled: "ask" });
});
