import assert from "node:assert/strict";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { mayMake } from "../../processes/_place.ts";
import { replyJson } from "../../helpers/scripted_provider.ts";
import type { Launcher } from "../_launcher.ts";
import { launched } from "../helpers/together.ts";
import { User } from "../helpers/user.ts";

interface Project {
  readonly language: string;
  readonly needs: string;
  readonly files: Readonly<Record<string, string>>;
  readonly fault: string;
  readonly test: string;
  /** Changes the project or the home before the request. Returns the first folder of PATH. */
  readonly prepare?: (user: User) => Promise<string>;
}

const PYTHON = {
  "calc.py": "def add(a, b):\n    return a - b\n",
  "test_calc.py": `import socket, unittest
from calc import add

class Adds(unittest.TestCase):
    def test_add(self):
        server = socket.create_server(("127.0.0.1", 0))
        socket.create_connection(server.getsockname()).close()
        server.close()
        self.assertEqual(add(2, 3), 5)
`,
};

/** Each project has one test, which fails with the wrong sum -1 after it has reached its own server. Python stores no
 * bytecode, because the old one would still count for a change within the same second. */
const PROJECTS: readonly Project[] = [
  { language: "Python", needs: "python3", files: PYTHON, fault: "calc.py", test: "python3 -B -m unittest" },
  {
    language: "Python in a virtual environment",
    needs: "python3",
    files: PYTHON,
    fault: "calc.py",
    test: ".venv/bin/python -B -m unittest",
    prepare: async (user) => {
      const { success } = await ran("python3", ["-m", "venv", "--without-pip", ".venv"], user.workspace);
      assert.ok(success, "a virtual environment is made");
      return "";
    },
  },
  {
    language: "Node in the home folder",
    needs: "node",
    files: {
      "calc.mjs": "export const add = (a, b) => a - b;\n",
      "calc.test.mjs": `import assert from "node:assert/strict";
import { createServer } from "node:http";
import test from "node:test";
import { add } from "./calc.mjs";

test("adds over HTTP", async () => {
  const server = createServer((_, response) => response.end(String(add(2, 3))));
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const response = await fetch("http://127.0.0.1:" + server.address().port);
  const sum = await response.text();
  server.close();
  assert.equal(sum, "5");
});
`,
    },
    fault: "calc.mjs",
    test: "node --test",
    prepare: async (user) => {
      const program = join(user.home, ".nvm/versions/node/v1.0.0/bin/node");
      const { stdout } = await ran("node", ["-p", "process.execPath"]);
      await Deno.mkdir(dirname(program), { recursive: true });
      await Deno.copyFile(new TextDecoder().decode(stdout).trim(), program);
      return dirname(program);
    },
  },
  {
    language: "Rust",
    needs: "cargo",
    files: {
      "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
      "src/lib.rs": `pub fn add(a: i32, b: i32) -> i32 {
    a - b
}

#[test]
fn adds() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    std::net::TcpStream::connect(server.local_addr().unwrap()).unwrap();
    assert_eq!(add(2, 3), 5);
}
`,
    },
    fault: "src/lib.rs",
    test: "cargo test",
  },
  {
    language: "Go in the home folder",
    needs: "go",
    files: {
      "go.mod": "module calc\n\ngo 1.19\n",
      "calc.go": "package calc\n\nfunc Add(a, b int) int { return a - b }\n",
      "calc_test.go": `package calc

import (
	"net"
	"testing"
)

func TestAdd(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := net.Dial("tcp", server.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if sum := Add(2, 3); sum != 5 {
		t.Fatal(sum)
	}
}
`,
    },
    fault: "calc.go",
    test: "go test ./...",
    prepare: async (user) => {
      const { stdout } = await ran("go", ["env", "GOROOT"]);
      await Deno.symlink(new TextDecoder().decode(stdout).trim(), join(user.home, "sdk"));
      return join(user.home, "sdk/bin");
    },
  },
];

/** Tests of a project run with the toolchain of the user, without any setting. The toolchains of Python and Rust cannot
 * be moved, so the home folder is the real one, and only Vis's own is empty. */
export function toolchainsSuite(launcher: Launcher): void {
  for (const project of PROJECTS) {
    const here = { ...launcher, missing: launcher.missing || missingFor(project) };
    launched(here, `vis run makes the tests pass: ${project.language}`, async () => {
      const run = `await shell.run("${project.test}")`;
      await using user = await User.make(launcher, {
        reply: [
          block(`const before = ${run}; before.stdout + before.stderr`),
          block(`await fs.edit("${project.fault}", {old: "a - b", new: "a + b"}); const after = ${run}; after`),
          replyJson([], { final: "{{after.code}}" }),
        ],
      });
      for (const [path, text] of Object.entries(project.files)) {
        await Deno.mkdir(dirname(join(user.workspace, path)), { recursive: true });
        await user.write(path, text);
      }
      const own = await project.prepare?.(user) ?? "";
      const path = [own, Deno.env.get("PATH"), launcher.env["PATH"]].filter(Boolean).join(":");
      const home = own === "" ? userInfo().homedir : user.home;
      const { code, stdout, stderr } = await user.run(["run", "Make the tests pass."], {
        env: { HOME: home, PATH: path },
      });
      const shown = user.mock.requests.map(({ context }) => context.slice(-3_000));
      assert.deepEqual([code, stdout], [0, "0\n"], stderr + shown.join("\n"));
      assert.match(shown[1] ?? "", /-1\b/, "the test ran and failed before the change");
    });
  }
}

function block(expr: string): string {
  return JSON.stringify({ code: [{ expr, timeMs: 120_000 }] });
}

function missingFor({ needs }: Project): string {
  if (!mayMake) return "commands have no network of their own here";
  try {
    const args = [needs === "go" ? "version" : "--version"];
    return new Deno.Command(needs, { args }).outputSync().success ? "" : `${needs} does not run`;
  } catch {
    return `there is no ${needs}`;
  }
}

async function ran(program: string, args: readonly string[], cwd = "."): Promise<Deno.CommandOutput> {
  return await new Deno.Command(program, { args: [...args], cwd }).output();
}
