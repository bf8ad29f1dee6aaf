import assert from "node:assert/strict";
import { wallHint } from "../../../extensions/shell/run.ts";

const hint = (output: string): string | null => wallHint({ config: {}, workspace: "/home/me/project" }, output);

Deno.test("wallHint() explains files that commands do not see, but not missing files", () => {
  for (const line of ["cat: /var/log/syslog: No such file or directory", "touch: /usr/x: Read-only file system"]) {
    assert.match(hint(line) ?? "", /see the system, toolchains, cwd and \$TMPDIR/, line);
  }
  const below = { config: {}, workspace: "/home/me/project/web", root: "/home/me/project" };
  const hinted = wallHint(below, "touch: /usr/x: Read-only file system") ?? "";
  assert.match(hinted, /see the system, toolchains, the repository around cwd and \$TMPDIR/);
  for (
    const line of ["cat: a/b: No such file or directory", "/home/me/project/src/a.ts: ENOENT", "ls: /usr/x: ENOENT"]
  ) {
    assert.equal(hint(line), null, line);
  }
});

Deno.test("wallHint() names the functions of git where a command cannot change the repository", () => {
  for (
    const line of [
      "fatal: Unable to create '/home/me/project/.git/index.lock': Read-only file system",
      "error: could not lock config file .git/config: Read-only file system",
      "mv: cannot move '.git' to 'old': Device or resource busy",
    ]
  ) assert.match(hint(line) ?? "", /functions of git/, line);
});

Deno.test("wallHint() explains an unresolved name of a command with network access", () => {
  const view = { config: {}, workspace: "/home/me/project" };
  for (
    const output of [
      "curl: (6) Could not resolve host: example.org",
      "Error: getaddrinfo EAI_AGAIN example.org",
      "dial tcp: lookup example.org: dial udp 10.0.0.1:53: socket: operation not permitted",
      "wget: bad address 'example.org'",
    ]
  ) {
    assert.match(
      wallHint(view, output, { network: true }) ?? "",
      /looked up over TCP, since commands have no UDP/,
      output,
    );
  }
  assert.equal(wallHint(view, "curl: (7) Failed to connect to example.org port 443", { network: true }), null);
  assert.match(
    wallHint(view, "curl: (6) Could not resolve host: example.org") ?? "",
    /no network: \{network: true\} asks/,
  );
});
