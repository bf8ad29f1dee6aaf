/** Words that people type for commands of other names. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  login: ["auth", "login"],
  logout: ["auth", "logout"],
  history: ["conversations", "list"],
  export: ["conversations", "export"],
};

/** Every word that `spelled` knows besides the commands. */
export const OTHER_WORDS: readonly string[] = [...Object.keys(ALIASES), "resume"];

/** Also one that is too short or in capitals: it is not found, which costs nothing, and no model is asked. */
const ID = /^(?=.*\d)[0-9a-f-]{4,}$/i;
const PRINT: readonly string[] = ["-p", "--print"];

/** The arguments as the program spells them: with the command for an alias, and `run` for `-p`. `commands` are the names
 * that the program has. */
export function spelled(args: readonly string[], commands: readonly string[]): readonly string[] {
  const [first = "", ...rest] = args;
  if (commands.includes(first)) return args;
  if (first === "resume") {
    const [id = "", ...more] = rest;
    return ID.test(id) ? ["--conversation", id, ...more] : ["-c", ...rest];
  }
  const alias = Object.hasOwn(ALIASES, first) ? ALIASES[first] : undefined;
  if (alias) return [...alias, ...rest];
  const end = args.includes("--") ? args.indexOf("--") : args.length;
  if (!args.slice(0, end).some((arg) => PRINT.includes(arg))) return args;
  return ["run", ...args.filter((arg, at) => at >= end || !PRINT.includes(arg))];
}
