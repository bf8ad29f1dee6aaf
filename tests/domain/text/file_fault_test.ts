import assert from "node:assert/strict";
import { fileFault } from "../../../src/domain/text/file_fault.ts";

Deno.test("fileFault() says it in words, of Deno's errors and of Node's", async () => {
  const fault = async (work: () => Promise<unknown>): Promise<string> => {
    try {
      await work();
    } catch (error) {
      return fileFault(error);
    }
    return "";
  };
  assert.equal(await fault(() => Deno.readTextFile("/nowhere/at/all")), "there is no such file or folder");
  assert.equal(await fault(() => Deno.readTextFile("/")), "it is a folder");
  const full = Object.assign(new Error("No space left on device (os error 28)"), { code: "ENOSPC" });
  assert.match(fileFault(full), /^the disk is full, or has no inodes left/);
  assert.match(fileFault(new Error("File too large (os error 27)")), /limit on the size of files .*ulimit -f/);
  assert.equal(fileFault(new Deno.errors.NotCapable("Requires all access")), "access is denied");
  assert.equal(fileFault(new Error("something else")), "something else");
  assert.equal(fileFault(new Error("with a secret"), "Error"), "Error");
  assert.equal(fileFault("text"), "text");
});
