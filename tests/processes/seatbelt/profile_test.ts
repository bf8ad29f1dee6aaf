import assert from "node:assert/strict";
import fc from "fast-check";
import { seatbeltArguments, type SeatbeltPolicy, seatbeltProfile } from "../../../src/processes/seatbelt/profile.ts";
import { ATTACKS, LOCAL_TCP, NEEDS, NETWORK_NEEDS } from "./_operations.ts";
import { type Operation, Profile } from "./_dialect.ts";
import { HOME, POLICY, WORKSPACE } from "./_policy.ts";

/** Only newer or only older systems have these operations. */
const NEWER = ["file-mount", "file-mount-update", "file-unmount", "file-link", "file-clone", "system-fcntl"].concat(
  ["system-mac-syscall", "file-map-executable", "iokit-get-properties", "mach-task-read", "mach-task-inspect"],
  ["file-mknod", "mach-host*", "distributed-notification-post", "user-preference-write"],
);
const OLDER = ["file-write-mount", "file-write-umount", "file-write-unmount", "nvram*"];

function profileOf(policy: Partial<SeatbeltPolicy> = {}, unknown: readonly string[] = []): Profile {
  const { text, parameters } = seatbeltProfile({ ...POLICY, ...policy });
  return new Profile(text, parameters, unknown);
}

function wrong(profile: Profile, cases: readonly (readonly [string, Operation])[], allowed: boolean): string[] {
  return cases.filter(([, one]) => profile.allows(one) !== allowed).map(([name]) => name);
}

Deno.test("seatbeltProfile() denies operations that no program may use, and allows the ones that tools need", () => {
  assert.ok(ATTACKS.length >= 90, `${ATTACKS.length} attacks`);
  assert.ok(NEEDS.length >= 60, `${NEEDS.length} needs`);
  const profile = profileOf();
  assert.deepEqual(wrong(profile, ATTACKS, false), [], "get through");
  assert.deepEqual(wrong(profile, NEEDS, true), [], "are denied");
});

Deno.test("seatbeltProfile() is valid on systems that lack an operation, and denies it on others", () => {
  for (const unknown of [NEWER, OLDER]) {
    const profile = profileOf({}, unknown);
    const had = ATTACKS.filter(([, { operation }]) =>
      !unknown.some((name) => operation.startsWith(name.replace("*", "")))
    );
    assert.deepEqual(wrong(profile, had, false), []);
  }
});

Deno.test("seatbeltProfile() opens the network only if the policy has it, and only to clients", () => {
  const closed = profileOf(), network = profileOf({ network: true });
  assert.deepEqual(wrong(closed, [...LOCAL_TCP, ...NETWORK_NEEDS], false), []);
  assert.deepEqual(wrong(network, NETWORK_NEEDS, true), []);
  const listening: Operation = { operation: "network-inbound", local: "host:8080", protocol: "tcp" };
  assert.equal(network.allows(listening), false, "the network is for clients");
  const keychain: Operation = { operation: "mach-lookup", name: "com.apple.SecurityServer" };
  assert.equal(network.allows(keychain), false);
});

Deno.test("seatbeltProfile() lets a workspace be anywhere, below settings of servers too", () => {
  const path = "/opt/homebrew/var/www";
  const profile = profileOf({ write: [{ path, folder: true }], kept: [`${path}/.git`], hidden: [] });
  assert.ok(profile.allows({ operation: "file-write-data", path: `${path}/index.html` }));
  assert.ok(profile.allows({ operation: "file-read-data", path: `${path}/index.html` }));
  assert.equal(profile.allows({ operation: "file-write-data", path: `${path}/.git/config` }), false);
  assert.equal(profile.allows({ operation: "file-read-data", path: "/opt/homebrew/var/mysql/ibdata1" }), false);
});

Deno.test("seatbeltProfile() opens a file, but no path next to it or below it", () => {
  const path = `${HOME}/notes.txt`;
  const profile = profileOf({ write: [{ path, folder: false }], kept: [], hidden: [] });
  assert.ok(profile.allows({ operation: "file-write-data", path }));
  for (const other of [`${path}/x`, `${path}x`, HOME, `${WORKSPACE}/a`]) {
    assert.equal(profile.allows({ operation: "file-write-data", path: other }), false, other);
  }
});

Deno.test("seatbeltProfile() opens a part of a kept folder, and no path next to it", () => {
  const profile = profileOf({ opened: [{ path: `${WORKSPACE}/.git/refs`, folder: true }] });
  assert.ok(profile.allows({ operation: "file-write-create", path: `${WORKSPACE}/.git/refs/heads/new` }));
  for (const path of [`${WORKSPACE}/.git/config`, `${WORKSPACE}/.git/refs2`, `${WORKSPACE}/.git`]) {
    assert.equal(profile.allows({ operation: "file-write-create", path }), false, path);
  }
  assert.equal(profile.allows({ operation: "file-write-setugid", path: `${WORKSPACE}/.git/refs/s` }), false);
});

Deno.test("seatbeltProfile() is the profile that was reviewed", async () => {
  const golden = await Deno.readTextFile(new URL("./profile.sb", import.meta.url));
  const { text, parameters } = seatbeltProfile({ ...POLICY, network: true });
  const named = Object.entries(parameters).map(([name, path]) => `; ${name} ${path}\n`).join("");
  assert.equal(text + named, golden);
});

Deno.test("seatbeltProfile() no name of a file can add a rule", () => {
  const name = fc.string({
    unit: fc.constantFrom("a", '"', "(", ")", "\\", "\n", "'", ";", "#", "=", " ", "ü", "-D", '"))(allow default)("'),
    minLength: 1,
    maxLength: 12,
  });
  const path = name.map((text) => `/Users/ada/${text}`);
  const grant = fc.record({ path, folder: fc.boolean() });
  const policy = fc.record({
    read: fc.array(grant, { maxLength: 3 }),
    write: fc.array(grant, { maxLength: 3 }),
    kept: fc.array(path, { maxLength: 3 }),
    opened: fc.array(grant, { maxLength: 2 }),
    hidden: fc.array(path, { maxLength: 3 }),
    devices: fc.array(path, { maxLength: 2 }),
  });
  fc.assert(fc.property(policy, (paths) => {
    const { text, parameters } = seatbeltProfile({ ...paths, network: false });
    // The same number of paths of each kind, without special characters, gives the same text.
    let next = 0;
    const plain = new Map<string, string>();
    const renamed = (one: string): string => {
      const known = plain.get(one) ?? `/Users/ada/plain${next++}`;
      plain.set(one, known);
      return known;
    };
    const grants = (all: typeof paths.read) => all.map((one) => ({ ...one, path: renamed(one.path) }));
    const other = seatbeltProfile({
      read: grants(paths.read),
      write: grants(paths.write),
      kept: paths.kept.map(renamed),
      opened: grants(paths.opened),
      hidden: paths.hidden.map(renamed),
      devices: paths.devices.map(renamed),
      network: false,
    });
    assert.equal(text, other.text);
    const profile = new Profile(text, parameters);
    for (const { path: hidden } of paths.write) {
      if (!paths.hidden.includes(hidden)) continue;
      assert.equal(profile.allows({ operation: "file-read-data", path: hidden }), false);
    }
    assert.equal(profile.allows({ operation: "file-read-data", path: "/Users/eve/secret" }), false);
    const args = seatbeltArguments({ text, parameters });
    assert.deepEqual(args.slice(0, 2), ["-p", text]);
    assert.equal(args.at(-1), "--");
    for (const arg of args.slice(2, -1)) {
      const [, key = "", value] = /^-D([A-Z]+_\d+)=(.*)$/s.exec(arg) ?? [];
      assert.equal(parameters[key], value);
    }
  }));
});
