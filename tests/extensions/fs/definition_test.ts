import assert from "node:assert/strict";
import { Workspace } from "./_workspace.ts";
import { runs } from "../../helpers/long_part.ts";

/** The definitions in these files are between `»NAME` and `«` lines, which are not part of the text. */
const FILES: Readonly<Record<string, string>> = {
  "a.ts": String.raw`import { x } from "./x.ts";

»parse
/** Reads { a text. */
export async function parse(
  text: string, // "}"
  { deep = false }: { readonly deep?: boolean } = {},
): Promise<{ readonly value: unknown }> {
  const open = text.match(/[{(]/) ? "{" : '}';
  const template = ${"`"}
}  ${"${"}deep ? ${"`{"}${"${"}open}${"}`"} : "}"} {
${"`"};
parseInt("1");
  return { value: [open, template] };
}
«

parse("x");
»limit
const limit = 5 as const;
«
»double
export const double = (n: number) =>
  n * 2;
«
»Shape
type Shape =
  | { readonly kind: "a" }
  | { readonly kind: "b" };
«
»Scanner
@sealed
export class Scanner<T extends object> {
»Scanner.next
  // The next one.
  async next(): Promise<T> {
    if (this.done()) { return null!; }
    return await this.#read((one) => {
      return one;
    });
  }
«

»done
  done = () => {
    return this.next({ done: true });
  };
«
}
«
»bound
bound = async function () {
};
«
function over(a: string): void;
function over(a: number): void;
»over
function over(a: unknown): void {
  next(a);
}
«
`,
  "b.py": String.raw`import os


»Reader
@dataclass(frozen=True)
class Reader:
    """A reader
of { many
    """

»Reader.read
    # How it reads.
    def read(
        self,
        path: str,
    ) -> str:
        text = """
def read(self): "not this one"
"""
# a comment at the left

        return f"{text}'"
«

    async def close(self): return None


«
»LIMIT
LIMIT: int = 3
«
»main
def main():
    def inner():
        pass
    read(inner)
    return [
]
«

if __name__ == "__main__":
    main()
`,
  "c.go": String.raw`package main

»Server
type Server struct {
	Name string
}
«

»Serve
// Serve serves { all.
func (s *Server) Serve(addr string) error {
	q := ${"`"}
}
{${"`"}
	if s.Name == "}" || '{' == rune(addr[0]) {
		return nil
	}
	return errors.New(q)
}
«
»Map
func Map[T any](in []T, f func(T) T) []T {
	return in
}
«
`,
  "d.rs": String.raw`»Parser
#[derive(Debug)]
pub struct Parser<'a> {
    text: &'a str,
}
«

impl<'a> Parser<'a> {
»next
    /// The next one: '{'.
    pub fn next(&mut self) -> Option<&'a str> {
        match self.text.chars().next() {
            Some('{') => Some(r#"}"#),
            _ => None,
        }
    }
«
}
»unit
pub struct Unit;
«
`.replace("»unit", "»Unit"),
  "e.c": String.raw`#define MAX(a, b) \
  ((a) > (b) ? (a) : (b))
struct node;
static int helper(int);

»node
struct node {
  int value;
};
«

»insert
/* Inserts it.
   In order { of value.
*/
static struct node *
insert(struct node *list, int value)
{
#ifdef DEEP
  if (value) {
#else
  if (!value) {
#endif
    helper(value);
  }
  return list;
}
«
»helper
static int helper(int a)
{
  char c = '}';
  return a;
}
«
int main(void) { return helper(1); }
`.replace("static struct node *\ninsert(", "static struct node *insert("),
  "F.java": String.raw`public final class F {
»sum
  @Override
  public static <T> Map<String, List<T>> sum(final List<T> all, int... rest) throws IOException {
    for (T one : all) { System.out.println("}"); }
    return rest(all);
  }
«
  private int rest;

»rest
  int rest(Object all)
  {
    return 1;
  }
«
}
`,
  "g.rb": String.raw`class G
»run
  # Runs { it.
  def run(all)
    all.each do |one|
      puts "end #{one}"
    end
  end
«
»done?
  def self.done?; true; end
«
»limit
  def limit = 5
«
end
`,
  "h.lua": `»M.add
function M.add(a, b)
  if a then
    return b
  end
end
«
`,
  "i.sh": `»build
build() {
  echo "}"
}
«
build
`,
  "j.php": `<?php
»handle
    public function handle(array $all): ?string
    {
        return '}' . "{";
    }
«
`,
  "k.kt": `»twice
inline fun <T> List<T>.twice(f: (T) -> Unit): Int {
    return 2
}
«
»short
fun short(a: Int) = a + 1
«
fun other() {}
`,
  "l.cs": `»Get
    [HttpGet]
    public async Task<IActionResult> Get(int id)
    {
        return Ok(id);
    }
«
`,
  "m.ex": `»add
  def add(a, b) do
    a + b
  end
«
  def next do
  end
`,
  "n.cpp": `»Tree::find
template <typename T>
std::vector<T> Tree<T>::find(const std::string &name) const noexcept {
  return {};
}
«
`.replace("»Tree::find", "»find"),
};

function marked(text: string): { readonly text: string; readonly parts: Map<string, [number, number]> } {
  const lines: string[] = [], parts = new Map<string, [number, number]>(), open: [string, number][] = [];
  for (const line of text.split("\n")) {
    if (line.startsWith("»")) open.push([line.slice(1), lines.length + 1]);
    else if (line === "«") {
      const [name, from] = open.pop()!;
      parts.set(name, [from, lines.length]);
    } else lines.push(line);
  }
  return { text: lines.join("\n"), parts };
}

Deno.test("fs.definition() gives whole definitions of any usual language, by name", async (t) => {
  for (const [path, file] of Object.entries(FILES)) {
    const { text, parts } = marked(file);
    await using workspace = await Workspace.with({ [path]: text });
    for (const [name, [from, end]] of parts) {
      const lines = text.split("\n");
      let to = end;
      while (lines[to - 1]!.trim() === "") to--;
      await t.step(`${path}: ${name}`, async () => {
        const found = await workspace.call("definition", path, name);
        assert.deepEqual([found.from, found.to], [from, to], found.text);
        assert.equal(found.text, lines.slice(from - 1, to).join("\n"));
      });
    }
  }
});

Deno.test("fs.definition() gives the innermost function or class around a line", async () => {
  const { text, parts } = marked(FILES["a.ts"]!);
  const python = marked(FILES["b.py"]!);
  await using workspace = await Workspace.with({
    "a.ts": text,
    "b.py": python.text,
    "t.ts":
      'const names = ["a"];\nDeno.test("adds", async (t) => {\n  assert(1);\n  await t.step("x", () => {\n    two();\n  });\n});\n',
  });
  const lineOf = (all: string, part: string): number => all.split("\n").findIndex((line) => line.includes(part)) + 1;
  const around = async (path: string, line: number): Promise<unknown[]> => {
    const { from, to } = await workspace.call("definition", path, line);
    return [from, to];
  };
  assert.deepEqual(await around("a.ts", lineOf(text, "return one;")), parts.get("Scanner.next"));
  assert.deepEqual(await around("a.ts", lineOf(text, "// The next one")), parts.get("Scanner.next"));
  assert.deepEqual(await around("a.ts", lineOf(text, "parseInt")), parts.get("parse"));
  assert.deepEqual(await around("a.ts", lineOf(text, "n * 2")), parts.get("double"));
  const [from] = python.parts.get("Reader.read")!;
  assert.deepEqual((await around("b.py", lineOf(python.text, "not this one")))[0], from);
  assert.deepEqual(await around("t.ts", 3), [2, 7]);
  assert.deepEqual(await around("t.ts", 5), [4, 6]);
  assert.match(
    await workspace.refusal("definition", "t.ts", 1),
    /Vis recognizes none there; read the lines with fs\.readFile\(path, \{from: 1, to: 21\}\)/,
  );
  assert.match(await workspace.refusal("definition", "t.ts", 99), /around line 99 of t\.ts: the file has \d+ lines$/);
});

Deno.test("fs.definition() names other definitions, and an alternative without one", async () => {
  await using workspace = await Workspace.with({
    "a.ts": "class A {\n  run() {\n    a();\n  }\n}\nclass B {\n  run() {\n    b();\n  }\n}\nrun();\n",
    "crlf.js": "function one() {\r\n  return 1;\r\n}\r\nfunction two() {}\r\n",
    "empty.ts": "",
  });
  assert.deepEqual(await workspace.call("definition", "a.ts", "run"), {
    path: "a.ts",
    from: 2,
    to: 4,
    text: "  run() {\n    a();\n  }",
    others: [7],
  });
  assert.equal((await workspace.call("definition", "a.ts", "B.run")).from, 7);
  assert.equal((await workspace.call("definition", "crlf.js", "one")).text, "function one() {\r\n  return 1;\r\n}");
  for (const name of ["gone", "(", "[", "a.b.c", "constructor", "ru", "\\"]) {
    assert.match(
      await workspace.refusal("definition", "a.ts", name),
      /Cannot find a definition of .*: Vis recognizes none in a\.ts; search with/,
    );
  }
  assert.match(await workspace.refusal("definition", "empty.ts", "x"), /Cannot find a definition/);
  assert.match(await workspace.refusal("definition", "empty.ts", 1), /Cannot find a definition/);
  assert.match(await workspace.refusal("definition", "a.tx", "x"), /no such file/);
});

Deno.test("fs.definition() needs bounded work for hostile texts", async () => {
  const n = runs(5_000, 60_000);
  const files = {
    "open.ts": "function f(\n".repeat(n),
    "calls.ts": "f(() => {\n".repeat(n),
    "long.ts": `function f() { ${"f(".repeat(5 * n)}`,
    "quotes.py": `"""'''`.repeat(2 * n),
    "words.c": "f ".repeat(6 * n),
    "comments.ts": "// f(\n".repeat(2 * n),
  };
  await using workspace = await Workspace.with(files);
  for (const path of Object.keys(files)) {
    for (const sought of ["f", 1, 50_000]) await workspace.call("definition", path, sought).catch(() => {});
  }
});
