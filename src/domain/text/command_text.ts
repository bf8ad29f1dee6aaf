/** Words as a shell needs them to be written: one text has only one meaning. */
export function shellText(words: readonly string[]): string {
  return words.map((word) => /^[\w\-./:=,+@%^]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
}

/** A command as a question shows it: where it runs, its variables and its input, then every word of it. */
export function commandText(
  command: string | readonly string[],
  { cwd = "", env = {}, input = "" }: {
    readonly cwd?: string;
    readonly env?: Readonly<Record<string, string>>;
    readonly input?: string;
  },
): string {
  const variables = Object.entries(env).map(([key, value]) => `${key}=${shellText([value])}`);
  const facts = [
    cwd === "" || cwd === "." ? "" : `in ${shellText([cwd])}`,
    variables.length === 0 ? "" : `with ${variables.join(" ")}`,
    input === "" ? "" : `with the input of ${input.length} characters ${JSON.stringify(input)}`,
  ].filter((fact) => fact !== "");
  const text = typeof command === "string" ? command : shellText(command);
  return facts.length === 0 ? text : `${facts.join(", ")}: ${text}`;
}
