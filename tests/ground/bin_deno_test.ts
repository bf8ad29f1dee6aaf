import assert from "node:assert/strict";
import { join } from "node:path";
import { Checkout, fakeDeno } from "./_checkout.ts";

Deno.test("bin/deno uses the Deno on PATH when its version fits", async () => {
  await using checkout = await Checkout.make();
  for (const version of ["2.9.6", "2.9.7", "2.10.0", "2.11.3"]) {
    await checkout.put("deno", fakeDeno(version));
    const { code, stdout, stderr } = await checkout.run(["task", "a b", ""]);
    assert.equal(stdout, `ran ${version}: task a b \nstore=system,mozilla dir=unset\n`);
    assert.deepEqual([code, stderr], [0, ""]);
  }
});

Deno.test("bin/deno passes the exit code on", async () => {
  await using checkout = await Checkout.make();
  await checkout.put("deno", fakeDeno("2.9.6"));
  assert.equal((await checkout.run([], { env: { FAKE_EXIT: "7" } })).code, 7);
});

Deno.test("bin/deno installs its own where the version does not fit", async () => {
  for (const version of ["2.9.5", "2.8.1", "1.46.3", "3.0.0", "2.9.6-rc.1", "two", ""]) {
    await using checkout = await Checkout.make();
    await checkout.put("deno", fakeDeno(version));
    await checkout.putNpm("2.9.6");
    const { code, stdout, stderr } = await checkout.run(["x"]);
    assert.equal(stdout.split("\n")[0], "ran installed: x", version);
    assert.equal(stderr, `vis: installing Deno 2.9.6 into ${checkout.home}/.cache/vis/deno (once)\n`);
    assert.equal(code, 0);
  }
});

Deno.test("bin/deno looks behind an old Deno on PATH", async () => {
  await using checkout = await Checkout.make();
  await checkout.put("deno", fakeDeno("2.0.0"), "old");
  await checkout.put("deno", fakeDeno("2.9.8"));
  const path = ["old", "path", "tools"].map((name) => join(checkout.folder, name)).join(":");
  assert.match((await checkout.run([], { env: { PATH: path } })).stdout, /^ran 2\.9\.8:/);
});

Deno.test("bin/deno installs once, and cleans up after itself", async () => {
  await using checkout = await Checkout.make();
  await checkout.putNpm("2.9.6");
  await checkout.run([]);
  const second = await checkout.run(["again"]);
  assert.deepEqual([second.stdout.split("\n")[0], second.stderr], ["ran installed: again", ""]);
  assert.equal(await checkout.npmCalls(), 1);
  const left = await Array.fromAsync(Deno.readDir(join(checkout.home, ".cache/vis/deno")), ({ name }) => name);
  assert.deepEqual(left, ["2.9.6"]);
});

Deno.test("bin/deno works when several install at once", async () => {
  await using checkout = await Checkout.make();
  await checkout.putNpm("2.9.6");
  const ran = await Promise.all(Array.from({ length: 4 }, (_, at) => checkout.run([String(at)])));
  assert.deepEqual(ran.map(({ stdout }) => stdout.split("\n")[0]), [0, 1, 2, 3].map((at) => `ran installed: ${at}`));
  const left = await Array.fromAsync(Deno.readDir(join(checkout.home, ".cache/vis/deno")), ({ name }) => name);
  assert.deepEqual(left, ["2.9.6"]);
});

Deno.test("bin/deno chooses its cache: XDG_CACHE_HOME, the home, else the checkout", async () => {
  await using checkout = await Checkout.make();
  await checkout.putNpm("2.9.6");
  const xdg = join(checkout.folder, "xdg");
  const own = join(checkout.root, ".deno");
  const file = await checkout.put("file", "", "blocked");
  const cases: [Record<string, string>, string, string][] = [
    [{ XDG_CACHE_HOME: xdg }, join(xdg, "vis"), "unset"],
    [{ XDG_CACHE_HOME: "relative" }, join(checkout.home, ".cache/vis"), "unset"],
    [{ XDG_CACHE_HOME: file }, join(checkout.home, ".cache/vis"), "unset"],
    [{ HOME: join(checkout.folder, "not/there/yet") }, join(checkout.folder, "not/there/yet/.cache/vis"), "unset"],
    [{ HOME: "" }, own, join(own, "dir")],
    [{ HOME: file }, own, join(own, "dir")],
  ];
  for (const [env, cache, dir] of cases) {
    const { stdout, stderr } = await checkout.run([], { env });
    assert.match(stdout, new RegExp(`dir=${dir}\n`), JSON.stringify(env));
    assert.match(stderr, new RegExp(`into ${cache}/deno `));
    assert.ok((await Deno.stat(join(cache, "deno/2.9.6/deno"))).isFile);
    await Deno.remove(cache, { recursive: true });
  }
});

Deno.test("bin/deno works with HOME unset", async () => {
  await using checkout = await Checkout.make();
  await checkout.putNpm("2.9.6");
  const program = join(checkout.folder, "tools/env");
  const { stdout, stderr } = await checkout.run(["-u", "HOME", join(checkout.root, "bin/deno"), "x"], { program });
  assert.match(stdout, /^ran installed: x\n/, stderr);
  assert.ok((await Deno.stat(join(checkout.root, ".deno/deno/2.9.6/deno"))).isFile);
});

Deno.test("bin/deno leaves the settings of its caller alone", async () => {
  await using checkout = await Checkout.make();
  await checkout.put("deno", fakeDeno("2.9.6"));
  const env = { HOME: "", DENO_TLS_CA_STORE: "mozilla", DENO_DIR: "/elsewhere" };
  assert.match((await checkout.run([], { env })).stdout, /store=mozilla dir=\/elsewhere/);
});

Deno.test("bin/deno runs through links and from any folder", async () => {
  await using checkout = await Checkout.make();
  await checkout.putNpm("2.9.6");
  await Deno.symlink("../check out/bin/deno", join(checkout.folder, "home/one"));
  await Deno.symlink(join(checkout.folder, "home/one"), join(checkout.folder, "home/two"));
  const program = join(checkout.folder, "home/two");
  const { stdout } = await checkout.run(["y"], { program, cwd: "/", env: { HOME: "" } });
  assert.match(stdout, /^ran installed: y\n/);
  assert.ok((await Deno.stat(join(checkout.root, ".deno/deno/2.9.6/deno"))).isFile);
});

Deno.test("bin/deno does not call itself when its folder is on PATH", async () => {
  await using checkout = await Checkout.make();
  await using other = await Checkout.make();
  await checkout.putNpm("2.9.6");
  const path = [
    join(checkout.root, "bin"),
    join(other.root, "bin"),
    `${checkout.folder}/path`,
    `${checkout.folder}/tools`,
  ];
  assert.match((await checkout.run([], { env: { PATH: path.join(":") } })).stdout, /^ran installed:/);
});

Deno.test("without npm, bin/deno names the missing programs", async () => {
  await using checkout = await Checkout.make();
  const { code, stdout, stderr } = await checkout.run([]);
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /^bin\/deno: Deno 2\.9\.6 or a newer 2\.x is needed.*nodejs\.org or https:\/\/deno\.com\n$/);
});

Deno.test("bin/deno shows the messages of an npm that fails and leaves nothing behind", async () => {
  await using checkout = await Checkout.make();
  await checkout.put("node", "#!/bin/sh\n");
  await checkout.put("npm", "#!/bin/sh\necho 'no such registry' >&2\nexit 1\n");
  const { code, stdout, stderr } = await checkout.run([]);
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /no such registry\nbin\/deno: Cannot install deno@2\.9\.6/);
  assert.deepEqual(await Array.fromAsync(Deno.readDir(join(checkout.home, ".cache/vis/deno"))), []);
});

Deno.test("bin/deno refuses an installed Deno that does not run here", async () => {
  await using checkout = await Checkout.make();
  await checkout.putNpm("1.0.0");
  const { code, stderr } = await checkout.run([]);
  assert.equal(code, 1);
  assert.match(stderr, /Cannot run deno@2\.9\.6 from npm on /);
  assert.deepEqual(await Array.fromAsync(Deno.readDir(join(checkout.home, ".cache/vis/deno"))), []);
});
