import { z } from "zod";
import { nearestName } from "../domain/kit/nearest_name.ts";

/** The JSON Schema of a setting, as far as names of keys need it. */
interface Node {
  readonly properties?: Readonly<Record<string, Node>>;
  readonly items?: Node;
}

/** What to say about a key that no setting has: the one that was probably meant, else those that are there. */
export function unknownKey(key: string, path: readonly PropertyKey[], schema: z.ZodType): string {
  let node: Node | undefined = z.toJSONSchema(schema, { io: "input" }) as Node;
  for (const step of path) node = typeof step === "number" ? node?.items : node?.properties?.[String(step)];
  const names = Object.keys(node?.properties ?? {});
  const near = nearestName(key, names);
  return near === null
    ? `There is no such key; there are ${names.join(", ")}`
    : `There is no such key; is ${near} meant`;
}
