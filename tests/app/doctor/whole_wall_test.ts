import assert from "node:assert/strict";
import { apparmorProfile, type MachineFacts, wholeWallFix } from "../../../src/app/doctor/walls.ts";

const FILES = {
  "/proc/version": "Linux version 6.8.0-generic",
  "/proc/sys/user/max_user_namespaces": "127000",
  "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "0",
};

function fix(
  files: Readonly<Record<string, string | null>> = {},
  { landlock = null, mode = "ask", ...more }: Partial<MachineFacts & Parameters<typeof wholeWallFix>[1]> = {},
): string {
  const all: Readonly<Record<string, string | null>> = { ...FILES, ...files };
  return wholeWallFix({
    os: "linux",
    executable: "/usr/bin/vis",
    isRoot: false,
    read: (path) => all[path] ?? "",
    exists: (path) => typeof all[path] === "string",
    ...more,
  }, { landlock, mode });
}

Deno.test("wholeWallFix() names the command that completes the wall, for each reason", () => {
  const restricted = { "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1" };
  assert.equal(
    fix(restricted),
    "Give Vis an AppArmor profile: printf '%s\\n' 'abi <abi/4.0>,' 'include <tunables/global>' 'profile vis-agent /usr/bin/vis flags=(unconfined) {' '  userns,' '}' | sudo tee /etc/apparmor.d/vis-agent && sudo apparmor_parser -r /etc/apparmor.d/vis-agent",
  );
  assert.match(
    fix({ ...restricted, "/proc/sys/user/max_user_namespaces": "0" }),
    /echo user\.max_user_namespaces=15000 \| sudo tee \/etc\/sysctl\.d\/60-vis\.conf && sudo sysctl --system$/,
  );
  assert.match(fix({ "/proc/sys/kernel/unprivileged_userns_clone": "0" }), /kernel\.unprivileged_userns_clone=1/);
  assert.match(fix({}, { isRoot: true }), /CAP_SYS_ADMIN/);
  assert.match(fix({ "/.dockerenv": "" }), /--security-opt seccomp=unconfined .*shell\.unwalled run/);
  for (const mode of ["run", "off"] as const) {
    assert.match(fix({ "/.dockerenv": "" }, { mode }), /^Start the container with .*systempaths=unconfined$/);
  }
  assert.match(fix({ "/run/.containerenv": "" }, { isRoot: true }), /--cap-add SYS_ADMIN --security-opt apparmor/);
  assert.match(fix({ "/proc/1/cgroup": "0::/kubepods/pod1" }), /^Start the container with/);
  assert.match(fix({ "/proc/version": "Linux version 4.4.0 (gVisor)" }, { landlock: "old" }), /--runtime=runc/);
  assert.equal(fix({}, { landlock: "which Linux has from 6.2 on" }), "Use Linux 6.2 or later");
  assert.equal(
    fix({ "/sys/kernel/security/lsm": "capability,yama" }, { landlock: "booted without" }),
    "Boot with the kernel parameter lsm=landlock,capability,yama",
  );
  assert.match(fix({}, { os: "darwin" }), /Linux virtual machine or container/);
  assert.match(fix({}, { os: "windows" }), /WSL 2/);
});

Deno.test("apparmorProfile() quotes a path with blanks", () => {
  assert.match(
    apparmorProfile("/opt/my tools/vis"),
    /^profile vis-agent "\/opt\/my tools\/vis" flags=\(unconfined\) \{$/m,
  );
});
