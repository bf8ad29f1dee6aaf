import assert from "node:assert/strict";
import { join } from "node:path";
import { parseTarGzip } from "nanotar";
import { unzipSync } from "fflate";
import { packRelease } from "../../../scripts/release/pack.ts";
import { withFolder } from "../../helpers/with_folder.ts";

const HERE = "x86_64-unknown-linux-gnu";
const WINDOWS = "x86_64-pc-windows-msvc";
const PACKAGES = [{ name: "@scope/part", version: "1.2.3", licence: "MIT", texts: ["Permission is granted."] }];
const PROGRAM = "#!/bin/sh\necho vis 9.8.7\n";
const shellcheck = await new Deno.Command("sh", { args: ["-c", "command -v shellcheck"] }).output();
const onLinux = Deno.build.target === HERE;

interface Release {
  readonly folder: string;
  readonly url: string;
  install(args?: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ran>;
  installed(): Promise<string | null>;
}
type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

async function withRelease(work: (release: Release) => Promise<void>, { program = PROGRAM } = {}): Promise<void> {
  await withFolder(async (folder) => {
    const output = join(folder, "release");
    const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
      const bytes = await Deno.readFile(join(output, new URL(request.url).pathname)).catch(() => null);
      return bytes ? new Response(bytes) : new Response(null, { status: 404 });
    });
    const url = `http://127.0.0.1:${server.addr.port}`;
    try {
      const path = join(folder, "program");
      await Deno.writeTextFile(path, program);
      const programs = [HERE, WINDOWS].map((target) => ({ target, path }));
      await packRelease({
        version: "9.8.7",
        programs,
        output,
        baseUrl: `${url}/`,
        modifiedAt: 1_000_000_000_000,
        packages: PACKAGES,
      });
      const to = join(folder, "home/.local/bin/vis");
      await work({
        folder: output,
        url,
        install: async (args = [], env = {}) => {
          const { code, stdout, stderr } = await new Deno.Command("sh", {
            args: [join(output, "install.sh"), ...args],
            clearEnv: true,
            env: { PATH: "/usr/bin:/bin", HOME: join(folder, "home"), ...env },
            cwd: folder,
          }).output();
          const [out = "", err = ""] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
          return { code, stdout: out, stderr: err };
        },
        installed: () => Deno.readTextFile(to).catch(() => null),
      });
    } finally {
      await server.shutdown();
    }
  });
}

Deno.test("packRelease() writes archives that hold the executable, and checksums of all files", () =>
  withRelease(async ({ folder, url }) => {
    const names = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
    assert.deepEqual(names, [
      "SHA256SUMS",
      "install.sh",
      "latest.json",
      "sbom.cdx.json",
      `vis-9.8.7-${WINDOWS}.zip`,
      `vis-9.8.7-${HERE}.tar.gz`,
      "vis-agent-9.8.7.tgz",
      "vis-agent-linux-x64-9.8.7.tgz",
      "vis-agent-win32-x64-9.8.7.tgz",
      "vis-agent.rb",
      "vis-agent_9.8.7_amd64.deb",
    ]);
    const tar = await parseTarGzip(await Deno.readFile(join(folder, `vis-9.8.7-${HERE}.tar.gz`)));
    const [program] = tar.filter(({ name }) => name === "vis-9.8.7/vis");
    assert.deepEqual([program?.text, program?.attrs?.mode, program?.attrs?.uid], [PROGRAM, "0000755", 0]);
    assert.ok(tar.some(({ name, size }) => name === "vis-9.8.7/LICENSE" && size > 500));
    const readme = tar.find(({ name }) => name === "vis-9.8.7/README.md")?.text ?? "";
    assert.ok(readme.includes(`curl -fsSL ${url}/install.sh | sh`), "the README has the address of the release");
    assert.doesNotMatch(readme, /ADDRESS/);
    const licences = tar.find(({ name }) => name === "vis-9.8.7/LICENSE-third-party");
    assert.match(licences?.text ?? "", /pi-ai[^]*@scope\/part 1\.2\.3 \(MIT\)\n\nPermission is granted\./);
    const zip = unzipSync(await Deno.readFile(join(folder, `vis-9.8.7-${WINDOWS}.zip`)));
    assert.equal(new TextDecoder().decode(zip["vis-9.8.7/vis.exe"]), PROGRAM);
    const check = new Deno.Command("sha256sum", { args: ["--check", "--strict", "SHA256SUMS"], cwd: folder });
    const { code, stdout } = await check.output();
    assert.deepEqual([code, new TextDecoder().decode(stdout).split("\n").length], [0, names.length]);
  }));

Deno.test("packRelease() makes the same bytes of the same input", () =>
  withFolder(async (folder) => {
    const path = join(folder, "program");
    await Deno.writeTextFile(path, PROGRAM);
    const baseUrl = "https://example.org/vis/";
    const made = {
      version: "9.8.7",
      programs: [{ target: HERE, path }],
      baseUrl,
      modifiedAt: 1e12,
      packages: PACKAGES,
    };
    const sums = await Promise.all(["one", "two"].map(async (name) => {
      const output = join(folder, name);
      await packRelease({ ...made, output });
      assert.ok((await Deno.readTextFile(join(output, "install.sh"))).includes("'https://example.org/vis'"));
      return await Deno.readTextFile(join(output, "SHA256SUMS"));
    }));
    assert.equal(sums[0], sums[1]);
  }));

Deno.test("packRelease() refuses a version and an address that it cannot write", () =>
  withFolder(async (output) => {
    const made = { version: "1.0.0", programs: [], output, baseUrl: "", modifiedAt: 0, packages: [] };
    await assert.rejects(packRelease({ ...made, version: "1.0'" }), /Cannot release version/);
    await assert.rejects(
      packRelease({ ...made, baseUrl: "nowhere" }),
      /Cannot use the address nowhere: it is not an https address/,
    );
    await assert.rejects(
      packRelease({ ...made, baseUrl: "https://a/'$(x)" }),
      /Cannot use the address .*: it contains a quote/,
    );
  }));

Deno.test({
  name: "shellcheck finds nothing in install.sh",
  ignore: !shellcheck.success,
  fn: () =>
    withRelease(async ({ folder }) => {
      const { code, stdout } = await new Deno.Command("shellcheck", { args: ["-s", "sh", "install.sh"], cwd: folder })
        .output();
      assert.deepEqual([code, new TextDecoder().decode(stdout)], [0, ""]);
    }),
});

Deno.test({
  name: "install.sh checks, tries and puts the executable in place; a second time in place of the first",
  ignore: !onLinux,
  fn: () =>
    withRelease(async ({ install, installed }) => {
      for (let i = 0; i < 2; i++) {
        const { code, stdout, stderr } = await install();
        assert.deepEqual([code, stderr], [0, ""]);
        assert.match(stdout, /^installed vis 9\.8\.7 in .*home\/\.local\/bin\/vis\nadd it to your PATH: export PATH=/);
        assert.equal(await installed(), PROGRAM);
      }
      const other = await install(["--to", "here dir"]);
      assert.match(other.stdout, /in \/.*\/here dir\/vis\n/);
    }),
});

const faults: readonly (readonly [string, (release: Release) => Promise<Ran>, RegExp])[] = [
  ["an archive that was changed", async ({ folder, install }) => {
    const path = join(folder, `vis-9.8.7-${HERE}.tar.gz`);
    const bytes = await Deno.readFile(path);
    await Deno.writeFile(path, bytes.with(bytes.length - 1, (bytes.at(-1) ?? 0) ^ 1));
    return await install();
  }, /its checksum is not the one in SHA256SUMS, and nothing was installed/],
  ["an archive that was cut off", async ({ folder, install }) => {
    await Deno.truncate(join(folder, `vis-9.8.7-${HERE}.tar.gz`), 100);
    return await install();
  }, /its checksum is not the one in SHA256SUMS/],
  ["a release without this machine", async ({ folder, install }) => {
    await Deno.writeTextFile(join(folder, "SHA256SUMS"), `${"0".repeat(64)}  vis-9.8.7-${WINDOWS}.zip\n`);
    return await install();
  }, /the release has no vis-9\.8\.7-x86_64-unknown-linux-gnu\.tar\.gz/],
  [
    "a place where there is no release",
    ({ install, url }) => install(["--from", `${url}/gone`]),
    /Cannot download http/,
  ],
  ["no home", ({ install }) => install([], { HOME: "" }), /HOME is not set; use --to DIR/],
  ["an option that is none", ({ install }) => install(["--nothing"]), /./],
];
for (const [what, work, expected] of faults) {
  Deno.test({
    name: `install.sh changes nothing for ${what}`,
    ignore: !onLinux,
    fn: () =>
      withRelease(async (release) => {
        assert.equal((await release.install()).code, 0);
        const { code, stderr } = await work(release);
        assert.notEqual(code, 0);
        assert.match(stderr, expected);
        assert.equal(await release.installed(), PROGRAM);
      }),
  });
}

Deno.test({
  name: "install.sh does not install a program that does not run here",
  ignore: !onLinux,
  fn: () =>
    withRelease(async ({ install, installed }) => {
      const { code, stderr } = await install();
      assert.equal(code, 1);
      assert.match(stderr, /does not run here, and nothing was installed/);
      assert.equal(await installed(), null);
    }, { program: "#!/bin/sh\nexit 3\n" }),
});
