import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { LinuxWall } from "../../src/processes/linux/linux_wall.ts";
import { missing, place } from "./_place.ts";

const ignore = missing !== "";

const OPEN = [
  ".pyenv/versions/3.12/bin/tool",
  ".nvm/versions/node/v22/lib/module.js",
  ".volta/tools/image/node",
  ".cargo/bin/cargo",
  ".cargo/registry/index",
  ".cargo/git/db/one",
  ".rustup/toolchains/stable/bin/rustc",
  "go/bin/tool",
  "go/pkg/mod/cache",
  ".deno/bin/tool",
  ".bun/bin/tool",
  ".sdkman/candidates/java",
  ".asdf/installs/one",
  ".local/share/mise/installs/one",
  ".local/bin/tool",
  ".local/lib/python3/site",
  ".m2/repository/one",
  "miniconda/bin/tool",
  "miniconda/lib/library",
  "scripts/tool",
];
const CLOSED = [
  ".ssh/id_ed25519",
  ".aws/credentials",
  ".gnupg/private",
  ".config/gh/hosts.yml",
  ".config/gcloud/credentials.db",
  ".netrc",
  ".npmrc",
  ".pypirc",
  ".git-credentials",
  ".gitconfig",
  ".docker/config.json",
  ".kube/config",
  ".cargo/credentials.toml",
  ".cargo/config.toml",
  ".m2/settings.xml",
  ".mozilla/profile",
  ".local/share/keyrings/login",
  ".bash_history",
  ".vis/vis.db",
  "go/secret",
  "miniconda/secret",
  "documents/letter",
];

Deno.test(
  "commands read the toolchains of the home folder, and none of its keys",
  { ignore },
  () =>
    place(async ({ home, visHome, workspace, root }) => {
      for (const path of [...OPEN, ...CLOSED]) {
        await Deno.mkdir(dirname(join(home, path)), { recursive: true });
        await Deno.writeTextFile(join(home, path), "#!/bin/sh\necho ran\n", { mode: 0o755 });
      }
      // Folders of PATH that lead to keys are not opened.
      await Deno.symlink(join(home, ".ssh"), join(home, "keys"));
      await Deno.writeTextFile(
        join(home, ".gitconfig"),
        '[user]\n\tname = Ada "of" Byron\n\temail = ada@example.org\n[credential]\n\thelper = store\n',
      );
      const folders = [".pyenv/versions/3.12/bin", ".cargo/bin", "miniconda/bin", "scripts", "keys", ".config/gh"];
      const wall = new LinuxWall({
        home,
        visHome,
        read: [],
        network: false,
        env: { PATH: [...folders.map((folder) => join(home, folder)), home, "/usr/bin:/bin"].join(":") },
        temporary: join(root, "temporary"),
      });
      const all = [...OPEN, ...CLOSED].map((path) => join(home, path));
      const { stdout } = await wall.spawn(workspace, [
        "/bin/sh",
        "-c",
        'for path; do cat "$path" >/dev/null 2>&1 && echo "$path"; done',
        "sh",
        ...all,
      ]);
      assert.deepEqual(stdout.trim().split("\n"), OPEN.map((path) => join(home, path)));
      const { stdout: seen } = await wall.spawn(workspace, [
        "/bin/sh",
        "-c",
        'echo "$RUSTUP_HOME $GOMODCACHE"; ls "$HOME/.cargo" "$HOME/.m2/repository"; cat "$HOME/.gitconfig"; cargo; tool',
      ]);
      assert.match(seen, /\/home\/\.rustup .*\/home\/go\/pkg\/mod\n/);
      assert.match(seen, /git\nregistry\n[^]*\none\n/);
      assert.doesNotMatch(seen, /credential/);
      assert.match(seen, /email = "ada@example\.org"\n[^]*ran\nran\n$/);
      const { leftOut } = await wall.walls();
      assert.deepEqual(leftOut, [join(home, "keys"), join(home, ".config/gh"), home]);
    }),
);
