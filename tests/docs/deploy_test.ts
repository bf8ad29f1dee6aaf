import assert from "node:assert/strict";
import { ALLOWED } from "../../src/sandbox/confine/allowed_calls.ts";

const folder = new URL("../../docs/serve/deploy/", import.meta.url);
const read = (name: string): string => Deno.readTextFileSync(new URL(name, folder));
const unit = read("vis.service");
/** The walls are set by src/sandbox/confine and V8's guard of its code. */
const NEEDED = [
  ...["landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "seccomp", "prctl", "prlimit64"],
  ...[
    "capset",
    "pkey_alloc",
    "pkey_mprotect",
    "pkey_free",
    "clone3",
    "clone",
    "execve",
    "socketpair",
    "kill",
    "wait4",
    "openat2",
  ],
];

async function analyze(...args: readonly string[]): Promise<string | null> {
  try {
    const { stdout, success } = await new Deno.Command("systemd-analyze", { args: [...args], stderr: "null" }).output();
    return success ? new TextDecoder().decode(stdout) : null;
  } catch {
    return null;
  }
}

const hasAnalyze = (await analyze("syscall-filter", "--no-pager", "@system-service")) !== null;

/** Defines a test that needs systemd-analyze, and is skipped without it. */
function analyzed(name: string, fn: () => Promise<void>): void {
  const why = hasAnalyze ? "" : " (skipped: no systemd-analyze)";
  Deno.test({ name: `docs/serve/deploy ${name}${why}`, ignore: !hasAnalyze, fn });
}

analyzed("the unit is exposed no more than 2.0", async () => {
  const path = new URL("vis.service", folder).pathname;
  const text = await analyze("security", "--offline=true", "--no-pager", path) ?? "";
  const score = Number(/Overall exposure level for vis\.service: ([\d.]+)/.exec(text)?.[1]);
  assert.ok(score <= 2, text);
});

async function expanded(name: string): Promise<readonly string[]> {
  if (!name.startsWith("@")) return [name];
  const lines = (await analyze("syscall-filter", "--no-pager", name) ?? "").split("\n").slice(1).map((line) =>
    line.trim()
  );
  return (await Promise.all(lines.filter((line) => /^[@\w]/.test(line)).map(expanded))).flat();
}

analyzed("the unit's list of system calls permits the calls that the walls need and a sandbox uses", async () => {
  const allowed = new Set<string>();
  for (const [, no, names = ""] of unit.matchAll(/^SystemCallFilter=(~?)(.*)$/gm)) {
    for (const name of (await Promise.all(names.split(" ").map(expanded))).flat()) {
      if (no) allowed.delete(name);
      else allowed.add(name);
    }
  }
  assert.ok(allowed.size > 200);
  const wanted = [...NEEDED, ...ALLOWED];
  assert.deepEqual(wanted.filter((name) => !allowed.has(name)), []);
  for (const name of ["ptrace", "mount", "bpf", "kexec_load", "init_module"]) assert.ok(!allowed.has(name), name);
});

Deno.test("docs/serve/deploy the unit leaves enough time to end in", () => {
  const stop = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]);
  assert.ok(stop * 1000 > 10_000 + 5_000, "more than server.shutdownMs");
  assert.match(unit, /^ExecStart=.* serve --profile locked .*--tokens %S\/vis\/tokens\.json$/m);
});

Deno.test("docs/serve/deploy the page fills the folders of the units, and allows extensions in each", () => {
  const page = read("README.md");
  for (const name of ["vis", "vis-telegram"]) {
    const home = `/var/lib/${name}`;
    assert.match(read(`${name}.service`), new RegExp(`^Environment=VIS_HOME=%S/${name} .*\nWorkingDirectory=`, "m"));
    assert.match(page, new RegExp(`^export VIS_HOME=${home}\\s[^]*?^vis config set extensions\\.allow fs `, "m"));
  }
  assert.match(page, /^echo .* > "\$VIS_HOME\/tokens\.json"$/m);
});

Deno.test("docs/serve/deploy proxies hold no event back and pass the name and the address on", () => {
  assert.match(read("nginx.conf"), /proxy_buffering off;[^]*proxy_read_timeout 1h;/);
  assert.match(
    read("nginx.conf"),
    /proxy_set_header Host \$http_host;\n\s*proxy_set_header X-Forwarded-For \$remote_addr;/,
  );
  assert.match(read("nginx.conf"), /client_header_timeout 10s;/);
  assert.match(read("Caddyfile"), /read_header 10s/);
  assert.doesNotMatch(read("Caddyfile"), /^\s*flush_interval/m, "with -1 a client that leaves is not noticed");
});

Deno.test("docs/serve/deploy the image with tools runs without root, like a release's image", () => {
  const lines = read("Containerfile").split("\n");
  assert.ok(
    lines.findLastIndex((line) => /^USER 65532:65532$/.test(line)) > lines.findLastIndex((line) => /^RUN/.test(line)),
  );
  assert.match(read("README.md"), /--read-only --tmpfs \/tmp --cap-drop=all --security-opt=no-new-privileges/);
});
