import { dirname, join, normalize } from "node:path";
import { ROOT } from "../_project.ts";

const VITEPRESS = "1.6.4";
const OUT = join(ROOT, "dist/docs");

/** The site has no files outside docs/, so links to these files become text. */
export function sitePage(markdown: string, path: string): string {
  const outside = (target: string): boolean => normalize(join(dirname(path), target)).startsWith("..");
  return markdown.replace(/^<!--[^]*?-->\n/gm, "").replace(/<!--.*?-->/g, "").replace(
    /(!?)\[((?:[^\][]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g,
    (whole, image: string, text: string, target: string) => {
      if (image !== "" || /^[a-z]+:|^#/.test(target)) return whole;
      const [file = "", fragment] = target.split("#");
      if (outside(file) || !/(?:\.md|\/)$/.test(file)) return text;
      const page = file.endsWith("/") ? `${file}README.md` : file;
      return `[${text}](${page}${fragment === undefined ? "" : `#${fragment}`})`;
    },
  );
}

/** The links of the README start one folder above docs/. */
export function homePage(readme: string): string {
  return sitePage(readme.replaceAll(/\]\((?!docs\/|[a-z]+:|#)/g, "](../").replaceAll("](docs/", "]("), "index.md");
}

export function partsOf(index: string): { readonly text: string; readonly pages: readonly [string, string][] }[] {
  return index.split(/^## /m).slice(1).map((part) => ({
    text: part.slice(0, part.indexOf("\n")),
    pages: [...part.matchAll(/^- \[(.+?)\]\((.+?)\.md\)/gm)].map(([, title = "", path = ""]) => [path, title]),
  }));
}

function siteConfig(index: string): string {
  const sidebar = partsOf(index).map(({ text, pages }) => ({
    text,
    collapsed: false,
    items: pages.map(([path, title]) => ({ text: title.replaceAll("`", ""), link: `/${path}` })),
  }));
  const themeConfig = { sidebar, search: { provider: "local" }, outline: [2, 3] };
  const config = {
    title: "Vis",
    description: "An agent in one executable",
    cleanUrls: false,
    outDir: OUT,
    themeConfig,
  };
  return `const whole = ${JSON.stringify(config)};
export default { ...whole, markdown: { config: plain } };

// Pages use <name> and {{name}} as plain text.
function plain(md) {
  md.set({ html: false });
  for (const rule of ["text", "code_inline"]) {
    const before = md.renderer.rules[rule];
    md.renderer.rules[rule] = (...given) => before(...given).replaceAll("{{", "&#123;&#123;");
  }
}
`;
}

async function copyPages(target: string, folder = ""): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(join(ROOT, "docs", folder))) {
    const path = join(folder, name);
    if (isDirectory) await copyPages(target, path);
    else if (name.endsWith(".md")) {
      const text = await Deno.readTextFile(join(ROOT, "docs", path));
      await Deno.mkdir(dirname(join(target, path)), { recursive: true });
      await Deno.writeTextFile(join(target, path), sitePage(text, path));
    } else if (/\.(png|svg)$/.test(name)) {
      await Deno.mkdir(dirname(join(target, path)), { recursive: true });
      await Deno.copyFile(join(ROOT, "docs", path), join(target, path));
    }
  }
}

async function command(program: string, args: readonly string[], cwd: string): Promise<void> {
  const { success } = await new Deno.Command(program, { args: [...args], cwd, stdin: "null" }).spawn().status;
  if (!success) throw new Error(`Cannot render the pages: ${program} ${args.join(" ")} failed`);
}

async function render(): Promise<void> {
  const cache = join(Deno.env.get("XDG_CACHE_HOME") ?? join(Deno.env.get("HOME") ?? "/tmp", ".cache"), "vis-docs");
  await Deno.mkdir(cache, { recursive: true });
  const installed = join(cache, "node_modules/vitepress/package.json");
  const version = await Deno.readTextFile(installed).then((text) => JSON.parse(text).version, () => "");
  if (version !== VITEPRESS) {
    await Deno.writeTextFile(join(cache, "package.json"), '{ "type": "module" }');
    await command("npm", ["install", "--no-audit", "--no-fund", "--loglevel=error", `vitepress@${VITEPRESS}`], cache);
  }
  const site = join(cache, "site");
  await Deno.remove(site, { recursive: true }).catch(() => {});
  await copyPages(site);
  const index = await Deno.readTextFile(join(ROOT, "docs/README.md"));
  await Deno.writeTextFile(join(site, "index.md"), homePage(await Deno.readTextFile(join(ROOT, "README.md"))));
  await Deno.mkdir(join(site, ".vitepress"), { recursive: true });
  await Deno.writeTextFile(join(site, ".vitepress/config.mjs"), siteConfig(index));
  await command("node", [join(cache, "node_modules/vitepress/bin/vitepress.js"), "build", "site"], cache);
  console.log(`Open ${OUT}/index.html, or serve the folder`);
}

if (import.meta.main) await render();
