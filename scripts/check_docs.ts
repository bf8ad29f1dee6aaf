/** The checks find missing targets of links and headings, missing paths in AGENTS.md, and rows outside a table, which
 * pages show as running text. */
import { dirname, join, normalize } from "node:path";
import { ROOT } from "./_project.ts";

async function pages(folder = ""): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of Deno.readDir(join(ROOT, folder))) {
    const path = join(folder, entry.name);
    if (entry.isDirectory && (folder !== "" || entry.name === "docs")) found.push(...await pages(path));
    else if (entry.isFile && entry.name.endsWith(".md")) found.push(path);
  }
  return found.sort();
}

export function linksOf(markdown: string): string[] {
  const text = markdown.replace(/```[\s\S]*?```|`[^`\n]*`/g, "");
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? "")
    .filter((target) => !/^[a-z]+:/.test(target));
}

export function fragmentsOf(markdown: string): string[] {
  const headings = markdown.replace(/^```[^]*?^```/gm, "").matchAll(/^#+ +(.+)$/gm);
  return [...headings].map(([, text = ""]) =>
    text.replace(/\[(.*?)\]\(.*?\)/g, "$1").toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(" ", "-")
  );
}

export function pathsOf(markdown: string): string[] {
  return [...markdown.matchAll(/`([\w.-]+\/[\w./-]*)`/g)].map((match) => match[1] ?? "");
}

export function strayRowsOf(markdown: string): string[] {
  const lines = markdown.replace(/^ *```[^]*?^ *```/gm, "").split("\n");
  return lines.filter((line, at) => {
    const begins = line.startsWith("|") && !lines[at - 1]?.startsWith("|");
    return begins && !/^\|[\s:|-]+$/.test(lines[at + 1] ?? "");
  });
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(join(ROOT, path)).then(() => true, () => false);
}

export async function problems(): Promise<string[]> {
  const found: string[] = [];
  for (const page of await pages()) {
    const text = await Deno.readTextFile(join(ROOT, page));
    for (const row of strayRowsOf(text)) found.push(`${page}: a row outside a table: ${row.slice(0, 60)}`);
    for (const link of linksOf(text)) {
      const [file = "", fragment] = link.split("#");
      const path = file === "" ? page : normalize(join(dirname(page), file));
      if (!await exists(path)) found.push(`${page}: no such file: ${link}`);
      else if (fragment !== undefined && path.endsWith(".md")) {
        const there = fragmentsOf(await Deno.readTextFile(join(ROOT, path)));
        if (!there.includes(fragment)) found.push(`${page}: no such heading: ${link}`);
      }
    }
    if (page !== "AGENTS.md") continue;
    for (const path of pathsOf(text)) if (!await exists(path)) found.push(`${page}: no such path: ${path}`);
  }
  return found;
}

if (import.meta.main) {
  const found = await problems();
  for (const problem of found) console.error(problem);
  Deno.exit(found.length === 0 ? 0 : 1);
}
