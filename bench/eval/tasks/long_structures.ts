import { type AgentTask, task } from "../agent_task.ts";
import { json, list, number, text } from "../expect/answers.ts";
import { jsonFile } from "../expect/workspace.ts";
import { seeded } from "../seeded.ts";
import { hidden, paragraphs, prose } from "./_prose.ts";

export const STRUCTURE_TASKS: readonly AgentTask[] = [
  task("long/chapter", () => {
    const titles = Array.from({ length: 40 }, (_, at) => `Chapter ${at + 1}: ${prose(50 + at, 1)[0]?.slice(0, -1)}`);
    const chapters = titles.map((title, at) => {
      const body = prose(100 + at, 150);
      return `${title}\n\n${paragraphs(at === 28 ? hidden(body, [[0.4, "A heron stood on the roof."]]) : body)}`;
    });
    return {
      context: chapters.join("\n\n"),
      request: "In which chapter does a heron appear? Answer with the number of the chapter alone.",
      expects: number(29),
      wrong: ["28", "Chapters 28 and 29"],
      script: `const at = context.indexOf("heron")
await answer([...context.slice(0, at).matchAll(/^Chapter (\\d+)/gm)].at(-1)[1])`,
    };
  }),
  task("long/repeated-paragraph", () => {
    const all = paragraphs(prose(61, 5_000)).split("\n\n");
    all.splice(401, 0, all[77] ?? "");
    return {
      context: all.join("\n\n"),
      request:
        `One paragraph of the text occurs twice. Counting paragraphs from 1, which two are the same? Answer as JSON: [first, second].`,
      expects: json([78, 402]),
      wrong: ["[77, 401]", "78"],
      script: `const all = context.split("\\n\\n"), seen = new Map()
for (const [at, paragraph] of all.entries()) {
  if (seen.has(paragraph)) { await answer(JSON.stringify([seen.get(paragraph) + 1, at + 1])); break }
  seen.set(paragraph, at)
}`,
    };
  }),
  task("long/json-records", () => {
    const random = seeded(62);
    const records = Array.from({ length: 3_000 }, (_, at) => ({
      id: at,
      team: random.pick(["north", "south", "east", "west"]),
      visits: Array.from(
        { length: random.below(5) },
        () => ({ minutes: 5 + random.below(60), paid: random.next() < 0.6 }),
      ),
    }));
    const minutes = (team: string): number =>
      records.filter((one) => one.team === team).flatMap(({ visits }) => visits).filter(({ paid }) => paid)
        .reduce((sum, visit) => sum + visit.minutes, 0);
    const wanted = { north: minutes("north"), south: minutes("south"), east: minutes("east"), west: minutes("west") };
    return {
      context: JSON.stringify(records),
      request:
        "context is a list of records. Write paid.json: an object from each team to the minutes of its paid visits.",
      expects: jsonFile("paid.json", wanted),
      wrong: [
        { answer: "Done.", files: { "paid.json": JSON.stringify({ ...wanted, west: 0 }) } },
        JSON.stringify(wanted),
      ],
      script: `const records = typeof context === "string" ? JSON.parse(context) : context
const sums = {}
for (const { team, visits } of records) for (const { minutes, paid } of visits) if (paid) sums[team] = (sums[team] ?? 0) + minutes
await fs.writeFile("paid.json", JSON.stringify(sums))
await answer("Wrote paid.json.")`,
    };
  }),
  task("long/dialogue", () => {
    const random = seeded(63);
    const lines = Array.from({ length: 5_000 }, () => ({
      who: random.pick(["MIRA", "TOMAS", "ILSE", "GUARD"]),
      said: prose(random.below(1e6), 1)[0] ?? "",
    }));
    const count = lines.filter(({ who }, at) => who === "ILSE" && lines[at - 1]?.who === "TOMAS").length;
    return {
      context: lines.map(({ who, said }) => `${who}: ${said}`).join("\n"),
      request: "How often in this play does ILSE speak directly after TOMAS? Answer with the number alone.",
      expects: number(count),
      wrong: [String(count - 1), "Often"],
      script: `await answer(String((context.match(/^TOMAS: .*\\n(?=ILSE: )/gm) ?? []).length))`,
    };
  }),
  task("long/most-frequent", () => {
    const words = prose(64, 5_000).join(" ").toLowerCase().match(/[a-z]{6,}/g) ?? [];
    const ranked = [...Map.groupBy(words, (word) => word)].map(([word, { length }]) => ({ word, length }))
      .sort((a, b) => b.length - a.length || (a.word < b.word ? -1 : 1)).map(({ word }) => word);
    return {
      context: paragraphs(prose(64, 5_000)),
      request:
        "Which five words of six or more letters are the most frequent in the text, without regard to case? Answer with the words, the most frequent first, one per line.",
      expects: list(ranked.slice(0, 5)),
      wrong: [ranked.slice(0, 4).join("\n"), ranked.slice(1, 6).join("\n")],
      script: `const counts = new Map()
for (const word of context.toLowerCase().match(/[a-z]{6,}/g)) counts.set(word, (counts.get(word) ?? 0) + 1)
await answer([...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 5).map(([word]) => word).join("\\n"))`,
    };
  }),
  task("long/broken-numbering", () => {
    const articles = Array.from(
      { length: 900 },
      (_, at) => `Art. ${at < 612 ? at + 1 : at + 2}. ${prose(5_000 + at, 5).join(" ")}`,
    );
    return {
      context: articles.join("\n"),
      request:
        "The articles of this statute are numbered, one to a line. One number is left out. Which one? Answer with the number alone.",
      expects: number(613),
      wrong: ["612", "614"],
      script: [
        `const numbers = [...context.matchAll(/^Art\\. (\\d+)\\./gm)].map(([, number]) => Number(number))
numbers.length`,
        `await answer(String(numbers.find((number, at) => number !== at + 1) - 1))`,
      ],
    };
  }),
  task("long/last-version", () => {
    const random = seeded(66);
    const versions = Array.from({ length: 300 }, (_, at) => ({
      name: random.pick(["Pump", "Valve", "Filter", "Gauge"]),
      text: `Revision ${at + 1}: ${prose(7_000 + at, 8).join(" ")}`,
      pressure: 2 + random.below(40),
    }));
    const last = versions.findLast(({ name }) => name === "Valve");
    return {
      context: versions.map(({ name, text, pressure }) => `${text} ${name} pressure is now ${pressure} bar.`).join(
        "\n\n",
      ),
      request:
        "The text lists revisions in the order in which they were made. What pressure holds for the valve after the last of them? Answer like this: 7 bar",
      expects: text(`${last?.pressure} bar`),
      wrong: [`${(last?.pressure ?? 0) + 1} bar`, "Valve"],
      script: `await answer([...context.matchAll(/Valve pressure is now (\\d+ bar)/g)].at(-1)[1])`,
    };
  }),
];
