import assert from "node:assert/strict";
import { join } from "node:path";
import { ConfigError } from "../../src/domain/errors.ts";
import { Credentials } from "../../src/providers/credentials.ts";
import { withFolder } from "../helpers/with_folder.ts";

const KEY = { type: "key", key: "sk-4711-secret" } as const;
const LOGIN = { type: "copilot", githubToken: "gho_4712", domain: "github.com" } as const;

Deno.test("Credentials keeps keys in a file and a folder that only their owner may read", async () => {
  await withFolder(async (folder) => {
    const path = join(folder, "home", "auth.json");
    const credentials = new Credentials(path);
    assert.equal(await credentials.get("anthropic"), null);
    await credentials.set("anthropic", KEY);
    await credentials.set("github-copilot", LOGIN);
    const again = new Credentials(path);
    assert.deepEqual([await again.get("anthropic"), await again.get("github-copilot")], [KEY, LOGIN]);
    const modes = [await Deno.stat(path), await Deno.stat(join(folder, "home"))].map(({ mode }) => (mode ?? 0) & 0o777);
    assert.deepEqual(modes, [0o600, 0o700]);
  });
});

Deno.test("Credentials.set() leaves no other file with a key behind, even where the mask of the process is open", async () => {
  await withFolder(async (folder) => {
    const credentials = new Credentials(join(folder, "auth.json"));
    const mask = Deno.umask(0);
    try {
      await credentials.set("a", KEY);
      await credentials.set("a", { ...KEY, key: "sk-4713-other" });
    } finally {
      Deno.umask(mask);
    }
    const files = (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).sort();
    assert.deepEqual(files, ["auth.json", "auth.lock"]);
    assert.equal(((await Deno.stat(join(folder, "auth.json"))).mode ?? 0) & 0o777, 0o600);
    assert.doesNotMatch(await Deno.readTextFile(join(folder, "auth.json")), /4711/);
  });
});

Deno.test("Credentials refuses a file that others can reach, and names the fix", async () => {
  await withFolder(async (folder) => {
    const path = join(folder, "auth.json");
    await new Credentials(path).set("a", KEY);
    for (const mode of [0o644, 0o640, 0o602, 0o601]) {
      await Deno.chmod(path, mode);
      await assert.rejects(new Credentials(path).get("a"), (error) => {
        assert.ok(error instanceof ConfigError);
        assert.match(
          error.message,
          /^Cannot use the keys in .*: other users have access to the file \(mode 6\d\d\); run chmod 600 /,
        );
        return true;
      });
      await assert.rejects(new Credentials(path).set("b", KEY), ConfigError);
    }
    await Deno.chmod(path, 0o600);
    assert.deepEqual(await new Credentials(path).get("a"), KEY);
  });
});

Deno.test("Credentials reports a foreign file without quoting it", async () => {
  await withFolder(async (folder) => {
    const path = join(folder, "auth.json");
    const texts = ["", "sk-4711", "[1]", '{"version":1}', '{"version":1,"providers":{"a":{"key":"sk-4711"}}}'];
    for (const text of texts) {
      await Deno.writeTextFile(path, text, { mode: 0o600 });
      await assert.rejects(new Credentials(path).all(), (error) => {
        assert.ok(error instanceof ConfigError);
        assert.match(error.message, /the file does not have the format of vis auth; remove the file and log in again/);
        assert.doesNotMatch(error.message, /4711/);
        return true;
      });
    }
    await Deno.writeTextFile(path, '{"version":2,"providers":{}}', { mode: 0o600 });
    await assert.rejects(new Credentials(path).all(), /a newer Vis wrote it/);
  });
});

Deno.test("Credentials.remove() returns whether a key existed", async () => {
  await withFolder(async (folder) => {
    const credentials = new Credentials(join(folder, "auth.json"));
    assert.equal(await credentials.remove("a"), false);
    await credentials.set("a", KEY);
    await credentials.set("b", KEY);
    assert.equal(await credentials.remove("a"), true);
    assert.deepEqual(Object.keys(await credentials.all()), ["b"]);
  });
});

Deno.test("Credentials.set() of many at once loses none", async () => {
  await withFolder(async (folder) => {
    const path = join(folder, "auth.json");
    const names = Array.from({ length: 8 }, (_, at) => `p${at}`);
    await Promise.all(names.map((name) => new Credentials(path).set(name, { type: "key", key: `key-of-${name}` })));
    assert.deepEqual(Object.keys(await new Credentials(path).all()).sort(), names);
  });
});

Deno.test("Credentials.set() reports that it cannot write", async () => {
  await withFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "file"), "");
    await assert.rejects(new Credentials(join(folder, "file/auth.json")).set("a", KEY), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(
        error.message,
        /^Cannot save keys in .*auth\.json: (a part of its path is not a folder|a file or folder already exists there|access is denied; let Vis write this file)$/,
      );
      return true;
    });
  });
});

Deno.test("Credentials stores no key without a home, and finds no inherited names", async () => {
  const credentials = new Credentials(null);
  assert.equal(await credentials.get("constructor"), null);
  await assert.rejects(credentials.set("a", KEY), /set VIS_HOME/);
});
