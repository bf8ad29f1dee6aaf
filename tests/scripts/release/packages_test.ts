import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash, createPublicKey, verify } from "node:crypto";
import { join } from "node:path";
import { gunzipSync } from "fflate";
import { parseTar } from "nanotar";
import { publicKeyOf, signature, signingKey } from "../../../scripts/release/minisign.ts";
import { systemFiles } from "../../../scripts/release/packages/system_files.ts";
import { packRelease } from "../../../scripts/release/pack.ts";
import { thirdParties } from "../../../scripts/release/third_party.ts";
import { withFolder } from "../../helpers/with_folder.ts";

const HERE = "x86_64-unknown-linux-gnu";
const PROGRAM = '#!/bin/sh\nif [ "$1" = exit ]; then exit "$2"; fi\necho vis 9.8.7 "$@"\n';
const PACKAGES = [{ name: "@scope/part", version: "1.2.3", licence: "MIT", texts: ["Permission is granted."] }];
const SYSTEM = [{ name: "lib/part/libc.so.6", bytes: new Uint8Array(8), executable: true }];
/** `minisign -G -W` made this key. */
const SECRET = `untrusted comment: minisign secret key
${
  Buffer.concat([
    Buffer.from("Ed"),
    Buffer.from([0, 0]),
    Buffer.from("B2"),
    Buffer.alloc(48),
    Buffer.from("0011223344556677", "hex"),
    Buffer.alloc(32, 7),
    Buffer.alloc(64),
  ]).toString("base64")
}
`;

async function has(program: string): Promise<boolean> {
  return (await new Deno.Command("sh", { args: ["-c", `command -v ${program}`] }).output()).success;
}

const [npm, dpkg, minisign] = await Promise.all(["npm", "dpkg-deb", "minisign"].map(has));
const onLinux = Deno.build.target === HERE;

async function ran(command: string, args: readonly string[], cwd: string) {
  const env = { PATH: Deno.env.get("PATH") ?? "", HOME: cwd };
  const { code, stdout, stderr } = await new Deno.Command(command, { args: [...args], cwd, clearEnv: true, env })
    .output();
  return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
}

async function withPackages(work: (folder: string) => Promise<void>): Promise<void> {
  await withFolder(async (folder) => {
    const path = join(folder, "program");
    await Deno.writeTextFile(path, PROGRAM);
    await packRelease({
      ...{ version: "9.8.7", programs: [{ target: HERE, path, system: SYSTEM }], output: join(folder, "release") },
      ...{ baseUrl: "https://example.org/vis/", modifiedAt: 1_000_000_000_000, packages: PACKAGES },
      key: signingKey(SECRET),
    });
    await work(folder);
  });
}

Deno.test({
  name: "the npm packages install offline, and vis passes on arguments and exit codes",
  ignore: !npm || !onLinux,
  fn: () =>
    withPackages(async (folder) => {
      const tarballs = ["vis-agent-linux-x64", "vis-agent"].map((name) => `./release/${name}-9.8.7.tgz`);
      const { code, err } = await ran("npm", ["install", "--offline", "--prefix", "there", ...tarballs], folder);
      assert.equal(code, 0, err);
      const vis = join(folder, "there/node_modules/.bin/vis");
      assert.equal((await ran(vis, ["run", "a b"], folder)).out, "vis 9.8.7 run a b\n");
      assert.equal((await ran(vis, ["exit", "7"], folder)).code, 7);
      await Deno.remove(join(folder, "there/node_modules/vis-agent-linux-x64"), { recursive: true });
      const gone = await ran(vis, [], folder);
      assert.equal(gone.code, 1);
      assert.match(gone.err, /^vis: Cannot start: the package vis-agent-linux-x64 is not installed/);
    }),
});

Deno.test({
  name: "the Debian package has the program, its manual, licences and completions, with their sums",
  ignore: !dpkg || !onLinux,
  fn: () =>
    withPackages(async (folder) => {
      const deb = "release/vis-agent_9.8.7_amd64.deb";
      const facts = await ran("dpkg-deb", ["--field", deb], folder);
      assert.match(facts.out, /^Package: vis-agent\nVersion: 9\.8\.7\nArchitecture: amd64\n/, facts.err);
      assert.equal((await ran("dpkg-deb", ["--raw-extract", deb, "root"], folder)).code, 0);
      assert.equal((await ran(join(folder, "root/usr/bin/vis"), [], folder)).out, "vis 9.8.7\n");
      const sums = await ran("md5sum", ["--check", "--strict", "DEBIAN/md5sums"], join(folder, "root"));
      assert.deepEqual([sums.code, sums.out.trim().split("\n").length], [0, 7]);
      assert.match((await ran("gzip", ["-dc", "root/usr/share/man/man1/vis.1.gz"], folder)).out, /^\.TH/m);
      assert.match(await Deno.readTextFile(join(folder, "root/usr/share/doc/vis-agent/copyright")), /@scope\/part/);
      assert.match(await Deno.readTextFile(join(folder, "root/usr/share/zsh/vendor-completions/_vis")), /vis/);
      const profile = await Deno.readTextFile(join(folder, "root/usr/share/vis-agent/apparmor"));
      assert.match(profile, /^profile vis-agent \/usr\/bin\/vis flags=\(unconfined\) \{\n {2}userns,\n\}$/m);
      for (const script of ["postinst", "prerm"]) {
        const checked = await ran("sh", ["-n", join(folder, "root/DEBIAN", script)], folder);
        assert.deepEqual([checked.code, checked.err], [0, ""]);
      }
    }),
});

Deno.test("the image has the program and its requirements, and no file that its user could change", () =>
  withPackages(async (folder) => {
    const bytes = await Deno.readFile(join(folder, "release/vis-agent-image-9.8.7-amd64.tar"));
    const files = new Map(parseTar(bytes).map(({ name, data }) => [name, data ?? new Uint8Array()]));
    const json = (name: string) => JSON.parse(new TextDecoder().decode(files.get(name)));
    const [{ Config, RepoTags, Layers }] = json("manifest.json");
    assert.deepEqual([RepoTags, Layers, files.size], [["vis-agent:9.8.7"], ["layer.tar"], 3]);
    const { config, rootfs, architecture } = json(Config);
    assert.equal(Config, `${createHash("sha256").update(files.get(Config)!).digest("hex")}.json`);
    assert.deepEqual([architecture, config.User, config.Entrypoint], ["amd64", "65532:65532", ["/usr/bin/vis"]]);
    assert.deepEqual(config.Healthcheck.Test, ["CMD", "/usr/bin/vis", "serve", "--check"]);
    const layer = gunzipSync(files.get("layer.tar")!);
    assert.deepEqual(rootfs.diff_ids, [`sha256:${createHash("sha256").update(layer).digest("hex")}`]);
    const root = parseTar(layer);
    const at = (path: string) => root.find(({ name }) => name === path);
    assert.equal(at("usr/bin/vis")?.text, PROGRAM);
    assert.equal(at("lib/part/libc.so.6")?.size, 8);
    assert.match(at("etc/passwd")?.text ?? "", /^vis:x:65532:65532:/m);
    assert.ok(root.every(({ name }) => !/(?:^|\/)(?:sh|bash|apt|dpkg)$/.test(name)));
    const others = root.filter(({ attrs }) => attrs?.uid !== 0 || /[2367]$/.test(attrs?.mode ?? ""));
    // The library nanotar reads the octal digits of an owner as decimal ones.
    assert.deepEqual(others.map(({ name, attrs }) => [name, parseInt(String(attrs?.uid), 8), attrs?.mode]), [
      ["tmp/", 0, "0001777"],
      ["var/lib/vis/", 65532, "0000700"],
    ]);
  }));

Deno.test({
  name: "systemFiles() has the files that an executable of this machine loads",
  ignore: !onLinux || !dpkg,
  fn: async () => {
    const files = await systemFiles(HERE);
    if (files === null) return assert.notEqual((await ran("dpkg", ["-s", "ca-certificates"], "/tmp")).code, 0);
    const names = files.map(({ name }) => `/${name}`);
    const { out } = await ran("ldd", [Deno.execPath()], "/tmp");
    const loaded = (out.match(/\/\S+/g) ?? []).map((path) => path.replace(/^\/usr/, ""));
    assert.ok(loaded.length > 4);
    assert.deepEqual(loaded.filter((path) => !names.includes(path)), []);
    const certificates = files.find(({ name }) => name === "etc/ssl/certs/ca-certificates.crt");
    assert.match(new TextDecoder().decode(certificates?.bytes), /-----END CERTIFICATE-----\n-----BEGIN/);
    assert.equal(await systemFiles("x86_64-apple-darwin"), null);
  },
});

Deno.test("systemFiles() is null without dpkg", async () => {
  const path = Deno.env.get("PATH") ?? "";
  Deno.env.set("PATH", "/nowhere");
  try {
    assert.equal(await systemFiles("x86_64-unknown-linux-gnu"), null);
  } finally {
    Deno.env.set("PATH", path);
  }
});

Deno.test("the formula names the archive with its checksum, and the bill of materials every package", () =>
  withPackages(async (folder) => {
    const name = `vis-9.8.7-${HERE}.tar.gz`;
    const bytes = await Deno.readFile(join(folder, "release", name));
    const formula = await Deno.readTextFile(join(folder, "release/vis-agent.rb"));
    assert.ok(formula.includes(`url "https://example.org/vis/${name}"`));
    assert.ok(formula.includes(`sha256 "${createHash("sha256").update(bytes).digest("hex")}"`));
    const bill = JSON.parse(await Deno.readTextFile(join(folder, "release/sbom.cdx.json")));
    assert.deepEqual([bill.bomFormat, bill.specVersion, bill.metadata.component.version], [
      "CycloneDX",
      "1.6",
      "9.8.7",
    ]);
    assert.deepEqual(bill.components, [{
      type: "library",
      "bom-ref": "pkg:npm/%40scope/part@1.2.3",
      name: "@scope/part",
      version: "1.2.3",
      licenses: [{ expression: "MIT" }],
      purl: "pkg:npm/%40scope/part@1.2.3",
    }]);
  }));

Deno.test("thirdParties() finds the packages that the entries import, with licences", async () => {
  const found = await thirdParties(["src/page/app.tsx", "src/markdown/parse_markdown.ts"]);
  const names = found.map(({ name }) => name);
  assert.ok(["preact", "markdown-it", "linkify-it"].every((name) => names.includes(name)), names.join());
  assert.ok(!names.includes("playwright-core"));
  assert.match(found.find(({ name }) => name === "preact")?.texts.join() ?? "", /MIT License/);
});

Deno.test("signature() signs the hash of a file, and the signature with its comment", () => {
  const key = signingKey(SECRET);
  const bytes = new TextEncoder().encode("a file");
  const [, own = "", trusted = "", global = ""] = signature(bytes, { key, comment: "made now" }).split("\n");
  const raw = Buffer.from(own, "base64");
  assert.deepEqual([raw.toString("latin1", 0, 2), raw.toString("hex", 2, 10)], ["ED", "0011223344556677"]);
  const der = Buffer.concat([
    Buffer.from("302a300506032b6570032100", "hex"),
    Buffer.from(publicKeyOf(key), "base64").subarray(10),
  ]);
  const publicKey = createPublicKey({ key: der, format: "der", type: "spki" });
  const signed = raw.subarray(10);
  assert.ok(verify(null, createHash("blake2b512").update(bytes).digest(), publicKey, signed));
  assert.equal(trusted, "trusted comment: made now");
  const both = Buffer.concat([signed, Buffer.from("made now")]);
  assert.ok(verify(null, both, publicKey, Buffer.from(global, "base64")));
  assert.throws(() => signingKey("no key"), /it is not a secret key of minisign/);
  const encrypted = Buffer.from(SECRET.split("\n")[1] ?? "", "base64");
  encrypted.write("Sc", 2);
  assert.throws(() => signingKey(`x\n${encrypted.toString("base64")}\n`), /it is encrypted/);
});

Deno.test({
  name: "minisign verifies every file of a release",
  ignore: !minisign,
  fn: () =>
    withPackages(async (folder) => {
      const key = publicKeyOf(signingKey(SECRET));
      const names = [...Deno.readDirSync(join(folder, "release"))].map(({ name }) => name);
      const files = names.filter((name) => !name.endsWith(".minisig"));
      assert.equal(files.length * 2, names.length);
      for (const name of files) {
        const { code, out, err } = await ran("minisign", ["-Vm", `release/${name}`, "-P", key], folder);
        assert.equal(code, 0, err);
        assert.match(out, new RegExp(`file:${name.replaceAll(".", "\\.")} vis 9\\.8\\.7`));
      }
    }),
});

Deno.test({
  name: "install.sh checks the signature where minisign is installed",
  ignore: !minisign || !onLinux,
  fn: () =>
    withPackages(async (folder) => {
      const install = ["release/install.sh", "--from", `file://${folder}/release`, "--to", "there"];
      const signed = await ran("sh", install, folder);
      assert.equal(signed.code, 0, signed.err);
      await Deno.writeTextFile(join(folder, "release/SHA256SUMS"), `${"0".repeat(64)}  other\n`, { append: true });
      const changed = await ran("sh", install, folder);
      assert.deepEqual(
        [changed.code, /Cannot trust the signature of SHA256SUMS/.test(changed.err)],
        [1, true],
        changed.err,
      );
    }),
});
