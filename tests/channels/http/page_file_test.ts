import assert from "node:assert/strict";
import { PAGE_FILES } from "../../../src/channels/http/page/files.ts";

const scripts = Object.entries(PAGE_FILES).filter(([name]) => name.endsWith(".js"));

const PAGE = new URL("../../../src/channels/http/page/", import.meta.url);

function importsOf(text: string): { readonly early: readonly string[]; readonly late: readonly string[] } {
  const found = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, name = ""]) => name);
  return { early: found(/(?:^|;)(?:import|export)(?:[^"();]*from)?"([^"]+)"/g), late: found(/import\("([^"]+)"\)/g) };
}

function size(names: readonly string[]): number {
  return names.reduce((sum, name) => sum + new TextEncoder().encode(PAGE_FILES[name]).length, 0);
}

async function sources(folder: URL): Promise<readonly URL[]> {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  const found = await Promise.all(
    entries.map(async ({ name, isDirectory }) =>
      isDirectory ? await sources(new URL(`${name}/`, folder)) : [new URL(name, folder)]
    ),
  );
  return found.flat();
}

Deno.test("PAGE_FILES has the built scripts and all styles, at most 150 KB together", async () => {
  const styles = await Array.fromAsync(Deno.readDir(new URL("style/", PAGE)), ({ name }) => name);
  const built = await Array.fromAsync(Deno.readDir(new URL("../../../../build/page/", PAGE)), ({ name }) => name);
  assert.deepEqual(Object.keys(PAGE_FILES).toSorted(), ["index.html", ...built, ...styles].toSorted());
  assert.deepEqual(scripts.flatMap(([, text]) => importsOf(text).late), [], "nothing is transferred later");
  for (const name of styles.filter((one) => one.endsWith(".css"))) {
    assert.doesNotMatch(PAGE_FILES[name] ?? "", /^\s|\/\*/m);
  }
  const whole = size(Object.keys(PAGE_FILES));
  assert.ok(whole <= 150_000, `${whole} bytes`);
});

Deno.test("the page has no way to turn text into markup or code", async () => {
  const ways =
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|srcdoc|\beval\b|new Function|setHTML/i;
  const files = (await sources(new URL("../../../page/", PAGE))).filter(({ pathname }) => /\.tsx?$/.test(pathname));
  assert.ok(files.some(({ pathname }) => pathname.endsWith("/app.tsx")));
  for (const file of files) assert.doesNotMatch(await Deno.readTextFile(file), ways, file.pathname);
  for (const [name, text] of scripts) {
    // Preact has a property for markup, which the sources do not use. The browser would refuse a text given to it.
    const own = text.replaceAll(/dangerouslySetInnerHTML|\.innerHTML\b/g, "");
    assert.doesNotMatch(own, ways, name);
    assert.ok(text.length - own.length < 200, name);
  }
});

Deno.test("PAGE_FILES loads its own files alone, and nothing inline", () => {
  const html = PAGE_FILES["index.html"] ?? "";
  assert.doesNotMatch(html, /<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=|javascript:/i);
  for (const [, target = ""] of html.matchAll(/(?:src|href)="([^"#]+)"/g)) {
    assert.ok(target.startsWith("/assets/") && target.slice(8) in PAGE_FILES, target);
  }
  for (const [name, text] of scripts) {
    const { early, late } = importsOf(text);
    for (const target of [...early, ...late]) {
      assert.ok(target.startsWith("./") && target.slice(2) in PAGE_FILES, `${name}: ${target}`);
    }
  }
  const early = [...html.matchAll(/rel="modulepreload" href="\/assets\/([^"]+)"/g)].map(([, name]) => `./${name}`);
  assert.deepEqual(early, importsOf(PAGE_FILES["app.js"] ?? "").early, "no script waits for another one to be read");
  const [next] = early.map((name) => importsOf(PAGE_FILES[name.slice(2)] ?? "").early);
  assert.deepEqual(next ?? [], []);
  const styles = Object.entries(PAGE_FILES).filter(([name]) => name.endsWith(".css"));
  assert.ok(styles.length > 3);
  for (const [name, text] of styles) assert.doesNotMatch(text, /url\(|@import/, name);
});
