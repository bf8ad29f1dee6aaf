const MAX_CHARS = 600;

/** What git says of a failure, without its own words around it. */
export function plainReason(stderr: string): string {
  const lines = stderr.trim().split("\n").filter((line) => !/^(hint|warning):/.test(line));
  const text = lines.map((line) => line.replace(/^(fatal|error): /, "").trim()).filter((line) => line !== "").join(
    "; ",
  );
  const plain = text || stderr.trim() || "git said nothing";
  return plain.length > MAX_CHARS ? `${plain.slice(0, MAX_CHARS)}…` : plain.replace(/[.;]+$/, "");
}
