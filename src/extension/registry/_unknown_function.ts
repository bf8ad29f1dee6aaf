import { HostCallError } from "../../domain/errors.ts";

/** The error for a call of a function that is not active; it lists those of the same alias. */
export function unknownFunction(name: string, known: readonly string[]): HostCallError {
  const [alias = "", symbol = name] = name.split(".");
  const there = known.filter((one) => one.startsWith(`${alias}.`));
  const hint = there.length > 0 ? `${alias} has ${there.join(", ")}` : "";
  return new HostCallError(`Cannot call ${name}: no such function is active`, {
    namespace: alias,
    symbol,
    ...(hint ? { hint } : {}),
  });
}
