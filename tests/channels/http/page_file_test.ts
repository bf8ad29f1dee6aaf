import assert from "node:assert/strict";
import { PAGE_FILES } from "../../../src/channels/http/page/files.ts";

const scripts = Object.entries(PAGE_FILES).filter(([name]) => name.endsWith(".js"));

Deno.test("PAGE_FILES is all of the folder, and small", async () => {
  const folder = new URL("../../../src/channels/http/page/", import.meta.url);
  const names =
    (await Promise.all([folder, new URL("style/", folder)].map((one) => Array.fromAsync(Deno.readDir(one)))))
      .flat().filter(({ isFile }) => isFile).map(({ name }) => name);
  assert.deepEqual(Object.keys(PAGE_FILES).toSorted(), names.filter((name) => name !== "files.ts").toSorted());
  const bytes = Object.values(PAGE_FILES).reduce((sum, text) => sum + new TextEncoder().encode(text).length, 0);
  assert.ok(bytes < 150_000, `${bytes} bytes`);
});

Deno.test("PAGE_FILES has no way to turn text into markup or code", () => {
  assert.ok(scripts.length > 5);
  const ways =
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|srcdoc|\beval\b|new Function|setHTML/;
  for (const [name, text] of scripts) assert.doesNotMatch(text, ways, name);
});

Deno.test("PAGE_FILES loads its own files alone, and nothing inline", () => {
  const html = PAGE_FILES["index.html"] ?? "";
  assert.doesNotMatch(html, /<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=|javascript:/i);
  for (const [, target = ""] of html.matchAll(/(?:src|href)="([^"#]+)"/g)) {
    assert.ok(target.startsWith("/assets/") && target.slice(8) in PAGE_FILES, target);
  }
  for (const [name, text] of scripts) {
    for (const [, target = ""] of text.matchAll(/from "([^"]+)"/g)) {
      assert.ok(target.startsWith("./") && target.slice(2) in PAGE_FILES, `${name}: ${target}`);
    }
  }
  const early = [...html.matchAll(/rel="modulepreload" href="\/assets\/([^"]+)"/g)].map(([, name]) => name);
  const modules = scripts.map(([name]) => name).filter((name) => name !== "app.js");
  assert.deepEqual(early.toSorted(), modules.toSorted(), "no script waits for another one to be read");
  const styles = Object.entries(PAGE_FILES).filter(([name]) => name.endsWith(".css"));
  assert.ok(styles.length > 3);
  for (const [name, text] of styles) assert.doesNotMatch(text, /url\(|@import/, name);
});
