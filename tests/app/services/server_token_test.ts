import assert from "node:assert/strict";
import { join } from "node:path";
import { serverToken } from "../../../src/app/services/server_tokens.ts";
import { DEFAULT_CONFIG } from "../../../src/config/defaults.ts";
import { withFolder } from "../../helpers/with_folder.ts";

const settingsOf = (home: string | null) => ({ home, config: DEFAULT_CONFIG });

Deno.test("serverToken() makes a token once, for its owner alone, also when two starts race", async () => {
  await withFolder(async (folder) => {
    const home = join(folder, "new home");
    const make = () => serverToken({}, { env: {}, settings: settingsOf(home) });
    const made = await Promise.all([make(), make(), make()]);
    const [first] = made;
    assert.match(first?.token ?? "", /^[\w-]{43}$/);
    assert.equal(new Set(made.map(({ token }) => token)).size, 1);
    assert.equal((await make()).token, first?.token);
    const path = join(home, "server-token");
    assert.equal(first?.from, path);
    assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
    assert.equal(((await Deno.stat(home)).mode ?? 0) & 0o777, 0o700);
  });
});

Deno.test("serverToken() a flag wins over the file of a flag, the environment and the file", async () => {
  await withFolder(async (folder) => {
    const file = join(folder, "t");
    await Deno.writeTextFile(file, "from-the-file-0123\n", { mode: 0o600 });
    const at = { env: { VIS_TOKEN: "from-the-variable" }, settings: settingsOf(folder) };
    assert.equal((await serverToken({ token: "from-the-flag-0123", tokenFile: file }, at)).token, "from-the-flag-0123");
    assert.equal((await serverToken({ tokenFile: file }, at)).token, "from-the-file-0123");
    assert.deepEqual(await serverToken({}, at), { token: "from-the-variable", from: "VIS_TOKEN", notes: [] });
  });
});

Deno.test("serverToken() reports a file that others can read", async () => {
  await withFolder(async (folder) => {
    const file = join(folder, "t");
    await Deno.writeTextFile(file, "0123456789abcdef");
    await Deno.chmod(file, 0o644);
    const { notes } = await serverToken({ tokenFile: file }, { env: {}, settings: settingsOf(folder) });
    assert.deepEqual(notes, [`other users have access to ${file}; run chmod 600 on it`]);
  });
});

Deno.test("serverToken() refuses a token that could be guessed or not be sent, and never shows it", async () => {
  await withFolder(async (folder) => {
    const at = { env: {}, settings: settingsOf(folder) };
    for (const token of ["", "short", "has spaces in its middle", "ünicode-0123456789", "x".repeat(600)]) {
      await assert.rejects(serverToken({ token }, at), (error: Error) => {
        assert.equal(error.name, "UsageError");
        return token === "" || !error.message.includes(token);
      });
    }
    const file = join(folder, "empty");
    await Deno.writeTextFile(file, "\n");
    await assert.rejects(
      serverToken({ tokenFile: file }, at),
      /^ConfigError: Cannot use the token of .*empty: it is not 16 to 512 visible ASCII characters/,
    );
    await assert.rejects(serverToken({}, { ...at, env: { VIS_TOKEN: "short" } }), { name: "ConfigError" });
    await assert.rejects(
      serverToken({ tokenFile: folder }, at),
      /Cannot use token file .*: it is a folder; choose another with --token-file$/,
    );
    await assert.rejects(
      serverToken({ tokenFile: join(folder, "missing", "t") }, at),
      /Cannot use token file .*missing\/t: its folder does not exist; choose another with --token-file$/,
    );
    await assert.rejects(Deno.stat(join(folder, "missing")), Deno.errors.NotFound);
    await assert.rejects(
      serverToken({}, { env: {}, settings: settingsOf(null) }),
      /Vis has no home folder; use --token-file or VIS_TOKEN/,
    );
  });
});
