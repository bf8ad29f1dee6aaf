/** An extension that exists and is switched off. */
export interface OffPart {
  readonly namespace: string;
  readonly alias: string;
  /** "search.find" */
  readonly functions: readonly string[];
  /** What the user does to switch it on. */
  readonly how: string;
}

/** One line for the prompt; "" if nothing is off. */
export function offLine(off: readonly OffPart[]): string {
  if (off.length === 0) return "";
  return `Off; tell the user if one would help: ${off.map(({ alias, how }) => `${alias} (${how})`).join(", ")}`;
}

/** Why a function, or a whole alias, cannot be used; null if it belongs to nothing that is off. */
export function offReason(name: string, off: readonly OffPart[]): string | null {
  const found = off.find(({ alias }) => name === alias || name.startsWith(`${alias}.`));
  return found ? `${found.alias} is off; the user switches it on: ${found.how}` : null;
}
