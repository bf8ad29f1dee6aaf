import { type AnyNode, parseExpressionAt } from "acorn";

/** What the stripper writes for a member with a value: `const A = …; E[E["A"] = A] = "A";`, or without the constant if
 * its name cannot be one. */
const MEMBER = /(?:const ([\w$]+) = ([^;]*); )?(?<![\w$])([\w$]+)\[\3\["((?:[^"\\]|\\.)*)"\] = ([^;]*)\] = "\4";/gu;

/** And for a single literal of text: `E["A"] = A`. */
const LITERAL = /(?<![\w$[])([\w$]+)\["((?:[^"\\]|\\.)*)"\] = /g;

/** A member whose value is text has no reverse mapping; the stripper knows that only of single literals. The length of
 * the text stays the same. */
export function withStringEnums(js: string): string {
  const members = new Set(Array.from(js.matchAll(LITERAL), ([, name, key]) => `${name}.${key}`));
  return js.replace(
    MEMBER,
    (whole, constant: string | undefined, init: string, name: string, key: string, value: string) => {
      if (!isText(expressionOf(constant === undefined ? value : init), { name, members })) return whole;
      members.add(`${name}.${key}`);
      const before = constant === undefined ? "" : `const ${constant} = ${init}; `;
      return `${before}${name}["${key}"] = ${value};`.padEnd(whole.length);
    },
  );
}

/** Null if there is more or less than one expression. */
function expressionOf(text: string): AnyNode | null {
  try {
    const found = parseExpressionAt(text, 0, { ecmaVersion: "latest" });
    return text.slice(found.end).trim() === "" ? found : null;
  } catch {
    return null;
  }
}

interface Enum {
  readonly name: string;
  /** Members that are text, with the name of their enum. */
  readonly members: ReadonlySet<string>;
}

function isText(node: AnyNode | null, of: Enum): boolean {
  switch (node?.type) {
    case "Literal":
      return typeof node.value === "string";
    case "TemplateLiteral":
      return true;
    case "BinaryExpression":
      return node.operator === "+" && (isText(node.left, of) || isText(node.right, of));
    case "Identifier":
      return of.members.has(`${of.name}.${node.name}`);
    case "MemberExpression":
      return node.object.type === "Identifier" && node.property.type === "Identifier" && !node.computed &&
        of.members.has(`${node.object.name}.${node.property.name}`);
    default:
      return false;
  }
}
