import { type AgentTask, task } from "../agent_task.ts";
import { exact, list, number, text } from "../expect/answers.ts";
import { hidden, paragraphs, prose } from "./_prose.ts";

const NOTED = { request: "", expects: exact("OK"), wrong: ["Noted: 740"], script: `await answer("OK")` };

export const TALK_TASKS: readonly AgentTask[] = [
  task("series/budget", () => ({
    turns: [
      { ...NOTED, request: "I have 740 euros for chairs, and a chair costs 95. Remember it and answer with OK alone." },
      {
        request: "How many chairs can I buy? Answer with the number alone.",
        expects: number(7),
        wrong: ["8", "740"],
        script: `const chairs = Math.floor(740 / 95)
await answer(String(chairs))`,
      },
      {
        request: "And how many euros are left then? Answer with the number alone.",
        expects: number(75),
        wrong: ["74", "7"],
        script: `await answer(String(740 - chairs * 95))`,
      },
    ],
  })),
  task("series/manner", () => ({
    turns: [
      { ...NOTED, request: "From now on write every answer in capital letters. Answer this one with OK alone." },
      {
        request: "Which river flows through Vienna? Answer with its English name alone.",
        expects: exact("DANUBE"),
        wrong: ["Danube", "THE RHINE"],
        script: `await answer("DANUBE")`,
      },
      {
        request: "And which through Prague? Answer with its Czech name alone.",
        expects: exact("VLTAVA"),
        wrong: ["Vltava", "DANUBE"],
        script: `await answer("VLTAVA")`,
      },
    ],
  })),
  task("series/corrected", () => ({
    turns: [
      {
        request: "Which multiples of 7 are between 10 and 50? Answer with the numbers, separated by commas.",
        expects: list(["14", "21", "28", "35", "42", "49"]),
        wrong: ["14, 21, 28, 35, 42"],
        script: `const found = Array.from({ length: 39 }, (_, at) => at + 11).filter((n) => n % 7 === 0)
await answer(found.join(", "))`,
      },
      {
        request: "I meant only the odd ones. Answer in the same way.",
        expects: list(["21", "35", "49"]),
        wrong: ["14, 28, 42", "21, 35"],
        script: `await answer(found.filter((n) => n % 2 === 1).join(", "))`,
      },
      {
        request: "Now the sum of these. Answer with the number alone.",
        expects: number(105),
        wrong: ["189", "21, 35, 49"],
        script: `await answer(String(found.filter((n) => n % 2 === 1).reduce((a, b) => a + b)))`,
      },
    ],
  })),
  task("series/function", () => ({
    turns: [
      {
        request:
          "Define f(1) = 1, f(2) = 3 and f(n) = 2 * f(n - 1) - f(n - 2) + n. What is f(10)? Answer with the number alone.",
        expects: number(211),
        wrong: ["210", "f(10) is recursive"],
        script: `function f(n) { return n === 1 ? 1 : n === 2 ? 3 : 2 * f(n - 1) - f(n - 2) + n }
await answer(String(f(10)))`,
      },
      {
        request: "And f(15)? Answer with the number alone.",
        expects: number(666),
        wrong: ["211", "15"],
        script: `await answer(String(f(15)))`,
      },
    ],
  })),
  task("series/follow-up-on-a-text", () => ({
    context: paragraphs(hidden(prose(71, 3_000), [
      [0.2, "The baker Lene Voss keeps two grey geese."],
      [0.9, "In the flood the geese of Lene Voss were carried to Brake."],
    ])),
    turns: [
      {
        request: "Which animals does the baker in the text keep? Answer with the noun in the plural alone.",
        expects: text("geese"),
        wrong: ["hens", "bread"],
        script: `await answer(/baker [^.]* keeps two grey (\\w+)/.exec(context)[1])`,
      },
      {
        request: "Where were they carried? Answer with the name of the place alone.",
        expects: text("Brake"),
        wrong: ["Bremen", "the flood"],
        script: `await answer(/geese of Lene Voss were carried to (\\w+)/.exec(context)[1])`,
      },
    ],
  })),
  task("series/first-question", () => ({
    files: { "birds.txt": "wren\nrook\ntern\n", "trees.txt": "ash\nelm\noak\nyew\n" },
    turns: [
      {
        request: "How many lines has trees.txt? Answer with the number alone.",
        expects: number(4),
        wrong: ["3", "5"],
        script: `await answer(String((await fs.readFile("trees.txt")).trim().split("\\n").length))`,
      },
      {
        request: "And birds.txt? Answer with the number alone.",
        expects: number(3),
        wrong: ["4", "2"],
        script: `await answer(String((await fs.readFile("birds.txt")).trim().split("\\n").length))`,
      },
      {
        request: "Which file did I ask about first? Answer with its name alone.",
        expects: text("trees.txt"),
        wrong: ["birds.txt", "trees"],
        script: `await answer("trees.txt")`,
      },
    ],
  })),
];
