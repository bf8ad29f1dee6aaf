import { type AgentTask, task } from "../agent_task.ts";
import { json, list, number, text } from "../expect/answers.ts";
import { seeded } from "../seeded.ts";
import { hidden, paragraphs, prose } from "./_prose.ts";

const PEOPLE = ["Ada", "Bruno", "Clara", "Dmitri", "Elsa", "Farid"] as const;

export const FACT_TASKS: readonly AgentTask[] = [
  task("long/needle", () => ({
    context: paragraphs(hidden(prose(31, 6_000), [[0.63, "The combination of the green safe is 4471-20."]])),
    request: "Somewhere in the text the combination of a safe is given. Answer with the combination alone.",
    expects: text("4471-20"),
    wrong: ["4471", "It is not in the text."],
    script: [`context.match(/[^.]*combination[^.]*\\./g)`, `await answer("4471-20")`],
  })),
  task("long/three-hops", () => ({
    context: paragraphs(hidden(prose(32, 6_000), [
      [0.8, "The lamp in the chapel was made by Ottokar Weiss."],
      [0.1, "Ottokar Weiss learned his trade in the workshop of Maren Holt."],
      [0.5, "Maren Holt came from the village of Tannau."],
      [0.3, "Jonas Holt came from the village of Erlach."],
    ])),
    request:
      "From which village came the person in whose workshop the maker of the chapel's lamp learned? Answer with the name of the village alone.",
    expects: text("Tannau"),
    wrong: ["Erlach", "Maren Holt"],
    script: [
      `context.match(/[^.]*lamp in the chapel[^.]*\\./g)`,
      `context.match(/[^.]*(?:Ottokar Weiss learned|Holt came)[^.]*\\./g)`,
      `await answer("Tannau")`,
    ],
  })),
  task("long/payments", () => {
    const random = seeded(33);
    const paid = Array.from({ length: 140 }, () => ({ who: random.pick(PEOPLE), crowns: 1 + random.below(90) }));
    const facts = paid.map(({ who, crowns }) =>
      [random.next(), `${who} paid ${crowns} crowns${random.next() < 0.5 ? "" : " to the ferryman"}.`] as const
    );
    const clara = paid.filter(({ who }) => who === "Clara").reduce((sum, { crowns }) => sum + crowns, 0);
    return {
      context: paragraphs(hidden(prose(34, 5_000), [...facts, [0.5, "Clara owed 1000 crowns and never paid them."]])),
      request: "How many crowns did Clara pay in all, according to the text? Answer with the number alone.",
      expects: number(clara),
      wrong: [String(clara + 1000), String(paid.length)],
      script: `const all = [...context.matchAll(/Clara paid (\\d+) crowns/g)]
await answer(String(all.reduce((sum, [, crowns]) => sum + Number(crowns), 0)))`,
    };
  }),
  task("long/who-has-the-key", () => {
    const random = seeded(35);
    let holder: string = "Ada";
    const facts: (readonly [number, string])[] = [[0, "At first Ada had the iron key."]];
    for (let at = 1; at <= 60; at++) {
      const next = random.pick(PEOPLE.filter((one) => one !== holder));
      const [verb, key] = random.next() < 0.5 ? ["gave", "iron"] : ["lent", "brass"];
      facts.push([at / 61, `${key === "iron" ? holder : random.pick(PEOPLE)} ${verb} the ${key} key to ${next}.`]);
      if (key === "iron") holder = next;
    }
    return {
      context: paragraphs(hidden(prose(36, 4_000), facts)),
      request: "Who has the iron key at the end of the text? Answer with the name alone.",
      expects: text(holder),
      wrong: [PEOPLE.find((one) => one !== holder) ?? "", `${holder} or nobody`],
      script: `await answer([...context.matchAll(/gave the iron key to (\\w+)/g)].at(-1)[1])`,
    };
  }),
  task("long/contradiction", () => {
    const random = seeded(37);
    const sheds = Array.from({ length: 80 }, (_, at) => ({ name: `shed ${at + 1}`, barrels: 10 + random.below(80) }));
    const facts = sheds.flatMap(({ name, barrels }) => [
      [random.next(), `In ${name} there were ${barrels} barrels.`] as const,
      [
        random.next(),
        `The inspector counted ${name === "shed 57" ? barrels + 3 : barrels} barrels in ${name}.`,
      ] as const,
    ]);
    return {
      context: paragraphs(hidden(prose(38, 4_000), facts)),
      request:
        "The text says of each shed twice how many barrels it held. For one shed the two numbers differ. Answer with the number of that shed alone.",
      expects: number(57),
      wrong: ["56", "None differs"],
      script:
        `const first = new Map([...context.matchAll(/In shed (\\d+) there were (\\d+)/g)].map(([, shed, count]) => [shed, count]))
await answer([...context.matchAll(/counted (\\d+) barrels in shed (\\d+)/g)].find(([, count, shed]) => first.get(shed) !== count)[2])`,
    };
  }),
  task("long/timeline", () => {
    const random = seeded(39);
    const days = random.shuffle(Array.from({ length: 90 }, (_, at) => at));
    const events = days.slice(0, 30).map((day) => ({
      date: new Date(Date.UTC(1884, 3, 1 + day)).toISOString().slice(0, 10),
      kind: random.pick(["ship arrived", "ship left", "fire broke out"]),
      id: `No. ${100 + day}`,
    }));
    const fires = events.filter(({ kind }) => kind === "fire broke out").sort((a, b) => a.date < b.date ? -1 : 1);
    return {
      context: paragraphs(hidden(
        prose(40, 4_500),
        events.map(({ date, kind, id }) => [random.next(), `On ${date} a ${kind} (${id}).`] as const),
      )),
      request:
        `When did the first and the last fire in the text break out? The text is not in the order of time. Answer as JSON: {"first": "YYYY-MM-DD", "last": "YYYY-MM-DD"}.`,
      expects: json({ first: fires[0]?.date, last: fires.at(-1)?.date }),
      wrong: [JSON.stringify({ first: fires.at(-1)?.date, last: fires[0]?.date }), "In spring"],
      script: `const days = [...context.matchAll(/On (\\S+) a fire broke out/g)].map(([, day]) => day).sort()
await answer(JSON.stringify({ first: days[0], last: days.at(-1) }))`,
    };
  }),
  task("long/by-meaning", () => {
    const random = seeded(41);
    const cold = [
      "My soup had no warmth left in it",
      "The roast came to us stone cold",
      "We were served lukewarm stew",
    ];
    const other = [
      "The waiter was most kind",
      "Our room looked at a wall",
      "It was freezing outside, the food was hot",
    ];
    const letters = Array.from({ length: 400 }, (_, at) => {
      const said = random.next() < 0.03 ? random.pick(cold) : random.pick(other);
      const around = prose(4_000 + at, 6);
      return {
        id: `L${at + 1}`,
        said,
        text: `Letter L${at + 1}\n${[...around, `${said}.`, ...around.slice(0, 3)].join(" ")}`,
      };
    });
    const wanted = letters.filter(({ said }) => cold.includes(said)).map(({ id }) => id);
    return {
      context: letters.map((letter) => letter.text).join("\n\n"),
      request:
        "The text is a pile of letters, each with its id in the first line. Which of them complain that food was not hot? Answer with the ids in the order of the text, one per line.",
      expects: list(wanted),
      wrong: [wanted.slice(1).join("\n"), letters.map(({ id }) => id).join("\n")],
      script: [
        `const letters = context.split("\\n\\n")
const kinds = new Set(letters.flatMap((letter) => letter.split(". ").filter((line) => /soup|roast|stew|food|cold|warm|hot/i.test(line))));
[...kinds].slice(0, 20)`,
        `await answer(letters.filter((letter) => /no warmth left|stone cold|lukewarm/.test(letter)).map((letter) => letter.split("\\n")[0].slice(7)).join("\\n"))`,
      ],
    };
  }),
];
