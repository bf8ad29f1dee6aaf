import {
  firstBytes,
  firstEntries,
  isBelow,
  isWithin,
  openPlainFile,
  plainFile,
  renameOver,
} from "../../../src/domain/kit/files.ts";
import { withFolder } from "../../helpers/with_folder.ts";
import { join, posix, win32 } from "node:path";
import assert from "node:assert/strict";
import { runs } from "../../helpers/long_part.ts";

function held(times: number, code = "EPERM") {
  const pauses: number[] = [], names: string[] = [];
  const attempt = (from: string, to: string): Promise<void> => {
    names.push(`${from} ${to}`);
    if (names.length > times) return Promise.resolve();
    return Promise.reject(Object.assign(new Error("rename failed"), { code }));
  };
  const sleep = (ms: number): Promise<void> => {
    pauses.push(ms);
    return Promise.resolve();
  };
  return { names, pauses, attempt, sleep };
}

Deno.test("renameOver() replaces a file", async () => {
  await withFolder(async (folder) => {
    const [from, to] = [join(folder, "from"), join(folder, "to")];
    await Deno.writeTextFile(from, "new");
    await Deno.writeTextFile(to, "old");
    await renameOver(from, to);
    assert.equal(await Deno.readTextFile(to), "new");
    await assert.rejects(renameOver(from, to), { code: "ENOENT" });
  });
});

Deno.test("renameOver() on Windows closes open files and waits for other holders of the file", async () => {
  const windows = { ...held(3), os: "windows" as const };
  let released = 0;
  await renameOver("a", "b", { ...windows, release: () => released++ });
  assert.deepEqual([windows.names, windows.pauses, released], [Array(4).fill("a b"), [50, 50, 50], 1]);
  const forever = { ...held(99, "EBUSY"), os: "windows" as const };
  await assert.rejects(renameOver("a", "b", forever), { code: "EBUSY" });
  assert.equal(forever.names.length, 10);
  const missing = { ...held(1, "ENOENT"), os: "windows" as const };
  await assert.rejects(renameOver("a", "b", missing), { code: "ENOENT" });
  assert.equal(missing.names.length, 1);
});

Deno.test("renameOver() elsewhere keeps open files with their locks, and fails at once", async () => {
  const linux = { ...held(1), os: "linux" as const, release: () => assert.fail("the lock is held") };
  await assert.rejects(renameOver("a", "b", linux), { code: "EPERM" });
  assert.equal(linux.names.length, 1);
});

for (const os of [Deno.build.os, "freebsd"] as const) {
  Deno.test(`firstEntries() lists a folder with the kinds of its entries, and no more than it is asked for (${os})`, () =>
    withFolder(async (folder) => {
      await Deno.mkdir(join(folder, "sub"));
      await Deno.writeTextFile(join(folder, "ä.txt"), "");
      if (Deno.build.os !== "windows") await Deno.symlink("nowhere", join(folder, "link"));
      const { entries, hasMore } = await firstEntries(folder, { most: 10, os });
      const kinds = entries.map((one) => `${one.name} ${one.isDirectory ? "d" : one.isFile ? "f" : "l"}`).sort();
      assert.deepEqual(kinds.filter((one) => one !== "link l"), ["sub d", "ä.txt f"]);
      assert.equal(hasMore, false);
      assert.deepEqual((await firstEntries(folder, { most: entries.length, os })).hasMore, false);
      for (let at = 0; at < 1_200; at++) Deno.writeTextFileSync(join(folder, `${"long ".repeat(20)}${at}`), "");
      const first = await firstEntries(folder, { most: 800, os });
      assert.deepEqual([first.entries.length, first.hasMore], [800, true]);
      const all = await firstEntries(folder, { most: 10_000, os });
      assert.equal(new Set(all.entries.map(({ name }) => name)).size, 1_200 + entries.length);
      assert.equal(all.hasMore, false);
    }));

  Deno.test(`firstEntries() reports why a folder cannot be listed (${os})`, () =>
    withFolder(async (folder) => {
      await assert.rejects(firstEntries(join(folder, "none"), { most: 1, os }), Deno.errors.NotFound);
      await Deno.writeTextFile(join(folder, "a"), "");
      await assert.rejects(firstEntries(join(folder, "a"), { most: 1, os }), Deno.errors.NotADirectory);
    }));
}

Deno.test("isWithin() and isBelow() go by the paths of each system", () => {
  for (const path of ["/w", "/w/a", "/w/..a", "/w/a/../b"]) assert.ok(isWithin(path, "/w", posix), path);
  for (const path of ["", "/", "/w2", "/w/..", "/w/../x", "/other"]) assert.ok(!isWithin(path, "/w", posix), path);
  for (const path of ["/", "/w", "//w"]) assert.ok(isWithin(path, "/", posix), path);
  const folder = "C:\\Users\\me";
  for (const path of [folder, "c:\\users\\ME\\a", "C:/Users/me/a"]) assert.ok(isWithin(path, folder, win32), path);
  for (const path of ["C:\\Users", "D:\\Users\\me\\a", "C:\\Users\\me2"]) {
    assert.ok(!isWithin(path, folder, win32), path);
  }
  assert.ok(isBelow("/w/a", "/w"));
  for (const path of ["/w", "/w/", "/w/a/.."]) assert.ok(!isBelow(path, "/w"), path);
});

/** After each look at the kind of a file, replaces the file as another process would. */
async function replacedAfterLooks<T>(replace: () => void, read: () => T): Promise<Awaited<T>> {
  const { lstatSync, statSync } = Deno;
  const replacing = (look: typeof statSync): typeof statSync => (path) => {
    const info = look(path);
    replace();
    return info;
  };
  try {
    Object.assign(Deno, { lstatSync: replacing(lstatSync), statSync: replacing(statSync) });
    return await read();
  } finally {
    Object.assign(Deno, { lstatSync, statSync });
  }
}

Deno.test("a file that another process replaces between the look and the read is not read", {
  ignore: Deno.build.os === "windows",
}, async () => {
  await withFolder(async (folder) => {
    const at = (name: string): string => join(folder, name);
    await Deno.writeTextFile(at("other"), "secret");
    const replacements = {
      pipe: () => assert.ok(new Deno.Command("mkfifo", { args: [at("file")] }).outputSync().success),
      link: () => Deno.symlinkSync("other", at("file")),
      folder: () => Deno.mkdirSync(at("file")),
      file: () => Deno.writeTextFileSync(at("file"), "evil"),
      nothing: () => {},
    };
    for (const [name, replacement] of Object.entries(replacements)) {
      const replaced = async <T>(read: (path: string) => T): Promise<Awaited<T>> => {
        await Deno.remove(at("file")).catch(() => {});
        await Deno.writeTextFile(at("file"), "four");
        const kept = at(crypto.randomUUID());
        return await replacedAfterLooks(
          () => (Deno.renameSync(at("file"), kept), replacement()),
          () => read(at("file")),
        );
      };
      assert.equal(await replaced((path) => firstBytes(path, 4)), null, name);
      for (const links of [true, false]) {
        const { message } = name === "nothing" ? { message: /ENOENT/ } : { message: /another process replaced it/ };
        await assert.rejects(replaced((path) => plainFile(path, { links })), { message }, name);
      }
    }
  });
});

Deno.test("only plain files are opened for reading", {
  ignore: Deno.build.os === "windows",
}, async () => {
  await withFolder(async (folder) => {
    const at = (name: string): string => join(folder, name);
    await Deno.writeTextFile(at("file"), "four");
    await Deno.symlink("file", at("link"));
    await Deno.mkdir(at("folder"));
    assert.ok((await new Deno.Command("mkfifo", { args: [at("pipe")] }).output()).success);
    assert.equal(new TextDecoder().decode(firstBytes(at("file"), 3) ?? undefined), "fou");
    assert.equal(new TextDecoder().decode(await plainFile(at("link"))), "four");
    for (const name of ["link", "folder", "pipe", "missing"]) {
      assert.equal(openPlainFile(at(name)), null, name);
      assert.equal(firstBytes(at(name), 3), null, name);
      await assert.rejects(plainFile(at(name), { links: false }), Error, name);
    }
    await assert.rejects(plainFile(at("file"), { most: 3 }), /it has 4 bytes, and the limit is 3 bytes/);
    // Both names become another file again and again, after a check too.
    const turns = "mv file kept; mv pipe file; mv file pipe; mv kept file";
    const script = `cd ${folder} && echo up && for turn in $(seq ${runs(5, 100)}); do ${turns}; done`;
    const process = new Deno.Command("/bin/sh", { args: ["-c", script], stdout: "piped" }).spawn();
    for await (const _ of process.stdout) break;
    let isOver = false, read = 0;
    const over = process.status.then(() => void (isOver = true));
    // The reads are synchronous, so only a turn of the event loop between them reports the end of the process.
    for (; !isOver; await new Promise<void>((resolve) => setImmediate(resolve))) {
      if (firstBytes(at("file"), 4) !== null) read++;
      await plainFile(at("file")).then(() => read++, () => {});
    }
    await over;
    assert.ok(read > 0);
  });
});
