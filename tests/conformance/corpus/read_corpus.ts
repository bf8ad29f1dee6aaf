/** Reads the programs of the `.txt` files next to this file (docs/internals/conformance.md describes the lines). */
import { basename } from "node:path";
import { PLACES, type Program } from "../programs/program.ts";
import { KNOWN } from "./known.ts";

const FOLDER = new URL("./", import.meta.url);
const NEWLINE = "⏎", VALUE = "▸", STATEMENTS = "» ";
/** These topics are TypeScript, and the others are JavaScript. */
const TYPESCRIPT: ReadonlySet<string> = new Set(["types", "type_classes"]);
const CHOICE = /⟦([^⟦⟧]*)⟧/;
const MARK = /^\{([a-z ]+?)(?: only (top|braces))?\} /;

export function readCorpus(): readonly Program[] {
  const files = [...Deno.readDirSync(FOLDER)].map(({ name }) => name).filter((name) => name.endsWith(".txt")).sort();
  return files.flatMap((file) => programsIn(basename(file, ".txt"), Deno.readTextFileSync(new URL(file, FOLDER))));
}

export function programsIn(topic: string, text: string): readonly Program[] {
  return text.split("\n").flatMap((line, at) => {
    if (line.trim() === "" || line.startsWith("# ")) return [];
    return variants(line).map((one, n) => programOf(one, `${topic}:${at + 1}${n > 0 ? `.${n}` : ""}`));
  });
}

/** `⟦a¦b⟧` means two programs. */
function variants(line: string): readonly string[] {
  const choice = CHOICE.exec(line);
  if (!choice) return [line];
  return (choice[1] ?? "").split("¦").flatMap((one) => variants(line.replace(choice[0], () => one)));
}

function programOf(line: string, name: string): Program {
  const [mark = "", key = "", place] = MARK.exec(line) ?? [];
  if (mark && !(key in KNOWN)) throw new Error(`Cannot read ${name}: no known difference is called ${key}`);
  const places = PLACES.filter((one) => place === undefined || one === place);
  const text = line.slice(mark.length).replaceAll(NEWLINE, "\n");
  const language = TYPESCRIPT.has(name.split(":")[0] ?? "") ? "ts" : "js";
  return { name, language, messages: true, ...parts(text), ...mark && { known: { key, places } } };
}

function parts(text: string): Pick<Program, "text" | "value"> {
  if (text.startsWith(STATEMENTS)) return { text: text.slice(STATEMENTS.length).trim() };
  const at = text.indexOf(VALUE);
  return { text: at < 0 ? "" : text.slice(0, at).trim(), value: text.slice(at + 1).trim() };
}
