import assert from "node:assert/strict";
import { settingSecrets } from "../../../src/app/settings/settings.ts";
import { withFolder } from "../../helpers/with_folder.ts";

const variable = (name: string): string | null => name === "KEY" ? "of the environment" : null;

Deno.test("settingSecrets() fills values from the environment and the key file, and keeps the rest", () =>
  withFolder(async (home) => {
    const providers = {
      hub: { type: "key", key: "of the file" },
      git: { type: "copilot", githubToken: "token", domain: "x" },
    };
    await Deno.writeTextFile(`${home}/auth.json`, JSON.stringify({ version: 1, providers }), { mode: 0o600 });
    const fill = await settingSecrets(["${auth:hub}"], { home, variable });
    const text = "${KEY} ${NONE} ${auth:hub} ${auth:git} ${auth:none} ${auth:constructor} $KEY";
    assert.equal(
      fill?.(text),
      "of the environment ${NONE} of the file token ${auth:none} ${auth:constructor} $KEY",
    );
  }));

Deno.test("settingSecrets() reads no key if none is named", () =>
  withFolder(async (home) => {
    await Deno.writeTextFile(`${home}/auth.json`, "nonsense", { mode: 0o600 });
    assert.equal(await settingSecrets({ a: "x", b: undefined }, { home, variable }), undefined);
    const fill = await settingSecrets({ a: "${KEY}" }, { home, variable });
    assert.equal(fill?.("${KEY} ${auth:hub}"), "of the environment ${auth:hub}");
  }));
