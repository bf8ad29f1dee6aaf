import { type AgentTask, task } from "../agent_task.ts";
import { list, number } from "../expect/answers.ts";
import { hiddenTests } from "../expect/hidden_tests.ts";
import { all, file, jsonFile } from "../expect/workspace.ts";
import { seeded } from "../seeded.ts";

const SLUG = `export const slug = (title: string) => title.toLowerCase().replace(/[^a-z0-9]+/g, "-");\n`;
const TRIMMED =
  `export const slug = (title: string) => title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");\n`;
const UNIQUE = `${TRIMMED}
export function uniqueSlug(title: string, taken: string[]): string {
  const base = slug(title);
  let name = base;
  for (let n = 2; taken.includes(name); n++) name = base + "-" + n;
  return name;
}
`;

export const WORK_TASKS: readonly AgentTask[] = [
  task("series/undo", () => ({
    files: { "menu.txt": "soup 4\nstew 9\ntart 5\n" },
    turns: [
      {
        request: "Raise every price in menu.txt by 1.",
        expects: file("menu.txt", "soup 5\nstew 10\ntart 6\n"),
        wrong: ["Done.", { answer: "Done.", files: { "menu.txt": "soup 5\nstew 9\ntart 5\n" } }],
        script: `const menu = await fs.readFile("menu.txt")
await fs.writeFile("menu.txt", menu.replace(/\\d+/g, (price) => String(Number(price) + 1)))
await answer("Raised all prices.")`,
      },
      {
        request: "That was a mistake. Put the file back as it was before.",
        expects: file("menu.txt", "soup 4\nstew 9\ntart 5\n"),
        wrong: ["Done.", { answer: "Done.", files: { "menu.txt": "" } }],
        script: `await fs.undo()
await answer("Undid the change.")`,
      },
    ],
  })),
  task("series/settings", () => ({
    files: { "app.json": `{"name": "kiosk", "port": 80}` },
    turns: [
      {
        request: `Add "hosts": ["a", "b"] to app.json.`,
        expects: jsonFile("app.json", { name: "kiosk", port: 80, hosts: ["a", "b"] }),
        wrong: ["Done."],
        script: `const settings = JSON.parse(await fs.readFile("app.json"))
settings.hosts = ["a", "b"]
await fs.writeFile("app.json", JSON.stringify(settings))
await answer("Added hosts.")`,
      },
      {
        request: `Put "c" in front of them, and let the port be 8080.`,
        expects: jsonFile("app.json", { name: "kiosk", port: 8080, hosts: ["c", "a", "b"] }),
        wrong: ["Done."],
        script: `settings.hosts = ["c", ...settings.hosts]
settings.port = 8080
await fs.writeFile("app.json", JSON.stringify(settings))
await answer("Changed both.")`,
      },
      {
        request: "The name is not needed after all. Remove it.",
        expects: jsonFile("app.json", { port: 8080, hosts: ["c", "a", "b"] }),
        wrong: ["Done.", { answer: "Done.", files: { "app.json": `{"port": 8080}` } }],
        script: `const { name, ...rest } = settings
await fs.writeFile("app.json", JSON.stringify(rest))
await answer("Removed the name.")`,
      },
    ],
  })),
  task("series/fix-then-extend", () => ({
    files: { "src/slug.ts": SLUG },
    turns: [
      {
        request: `slug in src/slug.ts leaves a dash at the beginning or end for titles like "(New!)". Fix it.`,
        expects: hiddenTests(
          { "src/slug.ts": TRIMMED },
          `import { slug } from "@/src/slug.ts";
same(["(New!)", "A  b", "x"].map(slug), ["new", "a-b", "x"]);`,
        ),
        wrong: ["Done."],
        script: `await fs.readFile("src/slug.ts")
await fs.writeFile("src/slug.ts", ${JSON.stringify(TRIMMED)})
await answer("Fixed.")`,
      },
      {
        request:
          "Now export uniqueSlug(title, taken) from the same file: the slug, or if it is in the array taken, the first free one of slug-2, slug-3 and so on.",
        expects: hiddenTests(
          { "src/slug.ts": UNIQUE },
          `import { slug, uniqueSlug } from "@/src/slug.ts";
same([uniqueSlug("A b!", []), uniqueSlug("A b", ["a-b"]), uniqueSlug("A b", ["a-b", "a-b-2"]), slug("-x-")], ["a-b", "a-b-2", "a-b-3", "x"]);`,
        ),
        wrong: ["Done."],
        script: `await fs.writeFile("src/slug.ts", ${JSON.stringify(UNIQUE)})
await answer("Added uniqueSlug.")`,
      },
    ],
  })),
  task("series/narrowing", () => {
    const random = seeded(82);
    const rows = Array.from({ length: 300 }, (_, at) => ({
      name: `p${at}`,
      year: 1990 + random.below(30),
      price: 1 + random.below(500),
    }));
    const late = rows.filter(({ year }) => year >= 2010);
    const cheap = late.filter(({ price }) => price < 25).map(({ name }) => name);
    return {
      files: { "prints.csv": ["name,year,price", ...rows.map((row) => Object.values(row).join(","))].join("\n") },
      turns: [
        {
          request: "How many prints in prints.csv are from 2010 or later? Answer with the number alone.",
          expects: number(late.length),
          wrong: [String(late.length + 1), "300"],
          script: `const rows = (await fs.readFile("prints.csv")).split("\\n").slice(1).map((line) => line.split(","))
const late = rows.filter(([, year]) => Number(year) >= 2010)
await answer(String(late.length))`,
        },
        {
          request: "Which of these cost less than 25? Answer with their names in the order of the file, one per line.",
          expects: list(cheap),
          wrong: [cheap.slice(1).join("\n"), rows.filter(({ price }) => price < 25).map(({ name }) => name).join("\n")],
          script: `const cheap = late.filter(([, , price]) => Number(price) < 25).map(([name]) => name)
await answer(cheap.join("\\n"))`,
        },
        {
          request: "Write these names to cheap.txt, one per line, in the same order.",
          expects: file("cheap.txt", cheap.join("\n")),
          wrong: ["Done.", { answer: "Done.", files: { "cheap.txt": cheap.toReversed().join("\n") } }],
          script: `await fs.writeFile("cheap.txt", cheap.join("\\n") + "\\n")
await answer("Wrote cheap.txt.")`,
        },
      ],
    };
  }),
  task("series/rename-files", () => ({
    files: { "img/a 1.txt": "one", "img/B 2.txt": "two", "img/c.txt": "three" },
    turns: [
      {
        request: "Which files in img have a space in their name? Answer with the paths, sorted, one per line.",
        expects: list(["img/B 2.txt", "img/a 1.txt"], { anyOrder: true }),
        wrong: ["img/a 1.txt", "img/a 1.txt\nimg/B 2.txt\nimg/c.txt"],
        script: `const spaced = (await fs.glob("img/*")).filter((path) => path.includes(" ")).sort()
await answer(spaced.join("\\n"))`,
      },
      {
        request: "Rename these: lower case, and an underscore in place of the space.",
        expects: all(file("img/a_1.txt", "one"), file("img/b_2.txt", "two"), file("img/c.txt", "three")),
        wrong: ["Done.", { answer: "Done.", files: { "img/a_1.txt": "one", "img/B_2.txt": "two" } }],
        script: `for (const path of spaced) await fs.move(path, path.toLowerCase().replace(" ", "_"))
await answer("Renamed both.")`,
      },
    ],
  })),
  task("series/ledger", () => ({
    files: { "ledger.csv": "day,amount\n1,50\n2,-20\n" },
    turns: [
      {
        request: "What is the balance in ledger.csv? Answer with the number alone.",
        expects: number(30),
        wrong: ["70", "50"],
        script:
          `const balance = async () => (await fs.readFile("ledger.csv")).trim().split("\\n").slice(1).reduce((sum, line) => sum + Number(line.split(",")[1]), 0)
await answer(String(await balance()))`,
      },
      {
        request: "Append -45 for day 3.",
        expects: file("ledger.csv", "day,amount\n1,50\n2,-20\n3,-45\n"),
        wrong: ["Done.", { answer: "Done.", files: { "ledger.csv": "day,amount\n3,-45\n" } }],
        script: `await fs.writeFile("ledger.csv", (await fs.readFile("ledger.csv")) + "3,-45\\n")
await answer("Appended day 3.")`,
      },
      {
        request: "And the balance now? Answer with the number alone.",
        expects: number(-15),
        wrong: ["30", "15"],
        script:
          `await answer(String((await fs.readFile("ledger.csv")).trim().split("\\n").slice(1).reduce((sum, line) => sum + Number(line.split(",")[1]), 0)))`,
      },
    ],
  })),
];
