import assert from "node:assert/strict";
import { join } from "node:path";
import { publicKeyOf } from "../../../scripts/release/minisign.ts";
import { Cancelled, ConfigError, UsageError } from "../../../src/domain/errors.ts";
import { collectGarbage } from "../../helpers/wires/collect_garbage.ts";
import { KEY, OTHER_KEY, type TestRelease, withRelease } from "./_release.ts";

const ARCHIVE = "vis-1.10.0-test.tar.gz";
/** After this many bytes, the other end must be reading them. */
const MORE_THAN_BUFFERED = 32 << 20;
const ignore = Deno.build.os === "windows";
const minisign = !ignore && (await new Deno.Command("sh", { args: ["-c", "command -v minisign"] }).output()).success;

async function text(path: string): Promise<string> {
  return await Deno.readTextFile(path);
}

/** Asserts that the update fails, and that the folder of the executable is unchanged. */
async function refuses(
  release: TestRelease,
  error: new (...args: never[]) => Error,
  message: RegExp,
  request: Parameters<TestRelease["run"]>[0] = {},
): Promise<void> {
  await assert.rejects(() => release.run(request), (found) => {
    assert.ok(found instanceof error, String(found));
    assert.match(found.message, message);
    return true;
  });
  assert.deepEqual(release.files(), ["vis"]);
  assert.match(await text(release.program), /1\.2\.0/);
}

function test(
  name: string,
  work: (release: TestRelease) => Promise<void>,
  options: Parameters<typeof withRelease>[1] = {},
) {
  Deno.test({ name, ignore, fn: () => withRelease(work, options) });
}

test("update() installs a newer release, keeps the old executable and shows the changes", async (release) => {
  const done = await release.run();
  assert.deepEqual(done, { path: release.program, kept: `${release.program}.old` });
  assert.match(await text(release.program), /1\.10\.0/);
  assert.match(await text(`${release.program}.old`), /1\.2\.0/);
  assert.deepEqual(release.files(), ["vis", "vis.old"]);
  assert.equal((await Deno.stat(release.program)).mode! & 0o777, 0o755);
  const changes = "## 1.10.0 – 2030-01-02\n\n- Newest.\n\n## 1.2.1\n\n- Between.";
  assert.deepEqual(release.found, [{ version: "1.10.0", age: "newer", changes }]);
});

test("update() accepts a folder, replaces the target of a link, and keeps only the previous executable", async (release) => {
  const path = `${release.program}-real`;
  await Deno.rename(release.program, path);
  await Deno.symlink(path, release.program);
  await Deno.writeTextFile(`${path}.old`, "older");
  assert.equal((await release.run({ from: release.folder }))?.path, path);
  assert.deepEqual(release.files(), ["vis", "vis-real", "vis-real.old"]);
  assert.match(await text(`${path}.old`), /1\.2\.0/);
  assert.ok((await Deno.lstat(release.program)).isSymlink);
});

test("update() leaves the executable unchanged if it cannot keep the old one", async (release) => {
  await Deno.mkdir(`${release.program}.old`);
  await assert.rejects(() => release.run(), { name: "UsageError", message: /^Cannot replace/ });
  assert.deepEqual(release.files(), ["vis", "vis.old"]);
  assert.match(await text(release.program), /1\.2\.0/);
});

test("update() with check only looks", async (release) => {
  release.answer = (name) => name.startsWith(ARCHIVE) ? assert.fail("The archive was not to be asked for") : null;
  assert.equal(await release.run({ check: true }), null);
  assert.deepEqual([release.found[0]?.age, release.files()], ["newer", ["vis"]]);
});

test("update() refuses signatures that do not belong to the file or the key", async (release) => {
  for (const name of ["latest.json", ARCHIVE]) {
    const path = join(release.folder, `${name}.minisig`);
    const good = await text(path);
    await release.sign(name, OTHER_KEY);
    await refuses(
      release,
      UsageError,
      /^Cannot trust the signature of .*: it does not match the file, and Vis changed nothing; check the address and the public key$/,
    );
    await release.sign(name, { ...OTHER_KEY, id: new Uint8Array(8) });
    await refuses(release, UsageError, /key 0000000000000000 made it instead of key 7766554433221100/);
    await Deno.writeTextFile(path, good.replace("file:", "file: "));
    await refuses(release, UsageError, /its trusted comment was changed/);
    await Deno.writeTextFile(path, "");
    await refuses(release, UsageError, /it is not a signature of minisign/);
    await Deno.remove(path);
    await refuses(
      release,
      UsageError,
      /^Cannot read .*: the server responded with status 404; check --from or the setting update\.from$/,
    );
    await Deno.writeTextFile(path, good);
  }
  assert.ok(await release.run());
});

test("update() refuses a file that was changed after it was signed", async (release) => {
  for (const name of [ARCHIVE, "latest.json"]) {
    const bytes = await Deno.readFile(join(release.folder, name));
    bytes[bytes.length - 1]! ^= 1;
    await Deno.writeFile(join(release.folder, name), bytes);
    await refuses(
      release,
      UsageError,
      /it does not match the file, and Vis changed nothing; check the address and the public key/,
    );
  }
});

test("update() refuses a signed archive that the index does not name", async (release) => {
  await release.edit(({ archives }) => archives[0]!.sha256 = "0".repeat(64));
  await refuses(
    release,
    UsageError,
    /its checksum does not match latest\.json, and Vis changed nothing; try again later$/,
  );
  await release.edit(({ archives }) => archives[0]!.bytes--);
  await refuses(
    release,
    UsageError,
    /Cannot read .*: it is larger than 176 bytes, the limit; check --from or the setting update\.from$/,
  );
  await release.edit(({ archives }) => archives[0]!.target = "another");
  await refuses(release, UsageError, /the release has no executable for test, only for /);
  await release.edit(({ archives }) => archives[0]!.name = "vis-/../../x");
  await refuses(release, UsageError, /^Cannot read latest\.json/);
});

test("update() refuses an archive that ends early", async (release) => {
  const bytes = await Deno.readFile(join(release.folder, ARCHIVE));
  release.answer = (name) => name === ARCHIVE ? new Response(bytes.slice(0, -9)) : null;
  await refuses(
    release,
    UsageError,
    /it does not match the file, and Vis changed nothing; check the address and the public key/,
  );
  using listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const served = listener.accept().then(async (connection) => {
    await connection.read(new Uint8Array(4096));
    await connection.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n123"));
    connection.close();
  });
  const url = `http://127.0.0.1:${listener.addr.port}/`;
  release.answer = (name) => name === ARCHIVE ? Response.redirect(url) : null;
  await refuses(release, UsageError, /^Cannot read .*tar\.gz: /);
  await served;
});

test("update() leaves nothing behind when it is interrupted", async (release) => {
  const controller = new AbortController();
  release.answer = (name) => {
    if (name !== ARCHIVE) return null;
    queueMicrotask(() => controller.abort());
    return new Response(new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array(9)) }));
  };
  await refuses(release, Cancelled, /./, { signal: controller.signal });
});

test("update() is interrupted while an archive arrives, also after a garbage collection", async (release) => {
  await release.edit(({ archives }) => archives[0]!.bytes = 2 * MORE_THAN_BUFFERED);
  const controller = new AbortController();
  const pieces = async function* () {
    for (let sent = 0; sent < MORE_THAN_BUFFERED; sent += 1 << 20) yield new Uint8Array(1 << 20);
    await collectGarbage();
    controller.abort();
    await new Promise(() => {});
  };
  release.answer = (name) => name === ARCHIVE ? new Response(ReadableStream.from(pieces())) : null;
  await refuses(release, Cancelled, /./, { signal: controller.signal });
});

test("update() refuses an older release without force", async (release) => {
  await refuses(
    release,
    UsageError,
    /^Cannot update to vis 1\.1\.9: it is older than \S+, this version; add --force to install it$/,
  );
  assert.ok(await release.run({ force: true }));
}, { version: "1.1.9", program: "#!/bin/sh\necho vis 1.1.9\n" });

test("update() does nothing if the version is the same", async (release) => {
  assert.equal(await release.run(), null);
  assert.deepEqual([release.found[0]?.age, release.files()], ["same", ["vis"]]);
}, { version: "1.2.0" });

test("update() refuses an executable that reports another version", async (release) => {
  await refuses(
    release,
    UsageError,
    /^Cannot update to vis 1\.10\.0: the downloaded executable is version 1\.9\.0, and Vis changed nothing; report this to the publisher$/,
  );
}, { program: "#!/bin/sh\necho vis 1.9.0\n" });

test("update() refuses an executable that the system cannot run", async (release) => {
  await refuses(
    release,
    UsageError,
    /^Cannot update to vis 1\.10\.0: the downloaded executable does not run here, and Vis changed nothing; report this to the publisher$/,
  );
}, { program: "#!/no/such/program\n" });

test("update() needs a key, and a release address that no other party controls", async (release) => {
  await refuses(release, ConfigError, /no public key is set; use --key KEY/, { key: undefined });
  await refuses(release, ConfigError, /it is not a public key of minisign/, { key: "RWQ" });
  await refuses(release, ConfigError, /no address of releases is set; use --from URL or DIR/, { from: undefined });
  await refuses(release, ConfigError, /it is neither an https address nor a folder/, { from: "http://192.0.2.1/vis" });
  const withLogin = { from: "http://me:hunter2@192.0.2.1/vis" };
  await refuses(release, ConfigError, /^Cannot update from http:\/\/192\.0\.2\.1\/vis: /, withLogin);
  release.answer = () => new Response(null, { status: 302, headers: { location: "http://192.0.2.1/vis" } });
  await refuses(
    release,
    UsageError,
    /Cannot read .*: the server redirects to an address that is neither https nor on this machine/,
  );
  release.answer = (name) => new Response(null, { status: 302, headers: { location: `/${name}` } });
  await refuses(release, UsageError, /the server redirects more than 5 times/);
});

test("update() uses the address and the key of the build if neither a setting nor the request names others", async (release) => {
  const built = { from: release.url, publicKey: publicKeyOf(KEY) };
  const none = { from: undefined, key: undefined };
  assert.equal((await release.run({ ...none, built }))?.path, release.program);
  const unsigned = { ...none, own: "1.1.0", built: { ...built, publicKey: null } };
  await assert.rejects(release.run(unsigned), /Cannot verify an update: no public key is set/);
  const other = { ...none, own: "1.1.0", built: { ...built, publicKey: publicKeyOf(OTHER_KEY) } };
  await assert.rejects(release.run(other), /Cannot trust the signature of latest.json/);
});

test("update() follows redirects", async (release) => {
  release.answer = (name) => name.startsWith("x") ? null : Response.redirect(`${release.url}/x${name}`);
  for (const { name } of [...Deno.readDirSync(release.folder)]) {
    await Deno.rename(join(release.folder, name), join(release.folder, `x${name}`));
  }
  assert.ok(await release.run());
});

Deno.test({
  name: "update() accepts signatures of minisign itself",
  ignore: !minisign,
  fn: () =>
    withRelease(async (release) => {
      const [secret, key] = ["vis.key", "vis.pub"].map((name) => join(release.folder, name)) as [string, string];
      const run = async (...args: string[]) => {
        const { success, stderr } = await new Deno.Command("minisign", { args, stdin: "null" }).output();
        assert.ok(success, new TextDecoder().decode(stderr));
      };
      await run("-G", "-W", "-s", secret, "-p", key);
      await refuses(release, UsageError, /key 7766554433221100 made it/, { key: await text(key) });
      for (const name of ["latest.json", ARCHIVE]) await run("-S", "-s", secret, "-m", join(release.folder, name));
      await refuses(
        release,
        UsageError,
        /made it instead of key 7766554433221100, and Vis changed nothing/,
        { key: publicKeyOf(KEY) },
      );
      assert.ok(await release.run({ key: await text(key) }));
    }),
});

test("update() orders versions by number, a suffix before the version itself", async (release) => {
  const ordered = ["0.9.9", "1.2.0-rc.2", "1.2.0-rc.10", "1.2.0", "1.2.1", "1.10.0", "2.0.0"];
  for (const [at, version] of ordered.entries()) {
    await release.edit((index) => index.version = version);
    for (const own of ordered) await release.run({ own, check: true });
    const ages = release.found.splice(0).map(({ age }) => age);
    assert.deepEqual(ages, ordered.map((_, own) => own < at ? "newer" : own > at ? "older" : "same"), version);
  }
});
