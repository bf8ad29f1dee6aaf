import { shipped } from "../../extensions/index.ts";
import { shippedExtensions } from "../../src/app/settings/settings.ts";

const NAMES = Object.keys(shipped);
const SYMBOLS = [...(await shippedExtensions({ shipped })).values()].flatMap(({ alias: { alias }, symbols = [] }) =>
  symbols.map(({ name }) => `${alias}.${name}`)
);
const any = (words: readonly string[]): string => `(?:${words.join("|").replaceAll(".", "\\.")})`;
const NAME = any(NAMES);

/** These names of shipped extensions are also ordinary words: a level of the log, a protocol, a key of stored states. */
const HOMONYMS: readonly string[] = ["debug", "mcp", "history"];

const WAYS: readonly RegExp[] = [
  new RegExp(`\\bvis\\.(?:ext\\.)?${NAME}\\b`, "g"),
  // This matches `fs.readFile` in code for the model, in a message or in a comment. It does not match `this.#git.add`
  // or a module of the project.
  new RegExp(`(?<![\\w.#$])${any(SYMBOLS)}\\b`, "g"),
  new RegExp(`(["'\`])${any(NAMES.filter((name) => !HOMONYMS.includes(name)))}\\1`, "g"),
  new RegExp(`\\bconfig\\??\\.${NAME}\\b|\\bconfig: \\{ ${NAME}\\b`, "g"),
  new RegExp(`\\b(?:any )?extensions? [\`"']?${NAME}\\b`, "g"),
  new RegExp(`\\|${NAME}\\b|\\b${NAME}\\|`, "g"),
  new RegExp(`extensions/${NAME}/`, "g"),
];

export function shippedNamesIn(text: string): readonly string[] {
  return WAYS.flatMap((way) => [...text.matchAll(way)].map(([found]) => found));
}
