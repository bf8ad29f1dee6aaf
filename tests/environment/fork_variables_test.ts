import assert from "node:assert/strict";
import type { VariableImage } from "../../src/domain/query/variable.ts";
import { type ForkSource, forkVariables } from "../../src/environment/environment.ts";
import { VariableIndex } from "../../src/environment/variables.ts";
import { decode } from "../../src/sandbox/codec/codec.ts";
import { dataImage } from "./_fakes.ts";

function code(name: string, requires: readonly string[] = []): VariableImage {
  const image = dataImage(name, 0);
  return { ...image, kind: "function", bytes: new Uint8Array(), source: `function ${name}() {}`, requires };
}

function source(present: readonly VariableImage[], stored: readonly VariableImage[] = []): ForkSource {
  const index = new VariableIndex([], () => 1);
  for (const image of stored) index.saved(image, "");
  return {
    index,
    present: (name) => Promise.resolve(present.find((image) => image.name === name) ?? null),
    stored: (name) => Promise.resolve(stored.find((image) => image.name === name) ?? null),
  };
}

Deno.test("forkVariables() copies the present variables, not the stored versions", async () => {
  const stored = [dataImage("rows", [1]), code("f")];
  const present = [dataImage("rows", [1, 2, 3]), { ...code("f"), source: "function f(a) {}" }];
  const { images, copies } = await forkVariables(["rows", "f"], source(present, stored));
  assert.deepEqual(images.map(({ kind, bytes, source }) => kind === "data" ? decode(bytes) : source), [
    [1, 2, 3],
    "function f(a) {}",
  ]);
  assert.deepEqual(copies, []);
});

Deno.test("forkVariables() copies functions with their dependencies, each once, also of the running block", async () => {
  const present = [code("f", ["g", "limit", "Math"]), code("g", ["f", "older"]), dataImage("limit", 5)];
  const { images } = await forkVariables(["f", "g"], source(present, [dataImage("older", 1)]));
  assert.deepEqual(images.map(({ name }) => name), ["f", "g", "limit", "older"]);
});

Deno.test("forkVariables() copies a large text by its name", async () => {
  const large = { ...dataImage("context", ""), bytes: new Uint8Array(), large: "sha256:00" };
  assert.deepEqual(await forkVariables(["context"], source([], [large])), { images: [], copies: ["context"] });
});

Deno.test("forkVariables() refuses missing and lost variables, and system variables of the child", async () => {
  const lost: VariableImage = { ...dataImage("gone", 0), kind: "lost", reason: "a closure" };
  for (const from of [source([], [lost]), source([lost])]) {
    await assert.rejects(
      forkVariables(["nothing"], from),
      /^HostCallError: Cannot hand nothing to a sub-query: no variable has this name$/,
    );
    await assert.rejects(forkVariables(["gone"], from), /Cannot hand gone to a sub-query: a closure/);
    await assert.rejects(forkVariables(["$query"], from), /a sub-query has its own/);
  }
});
