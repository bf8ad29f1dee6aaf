import { type AgentTask, type Expectation, task } from "../agent_task.ts";
import { counted, text } from "../expect/answers.ts";
import { seeded } from "../seeded.ts";

/* Like OOLONG, the tasks aggregate many lines, and only the meaning of a line determines its label. A count has partial
 * credit. */

const PHRASES = {
  billing: ["I was charged twice for {}", "the invoice for {} has the wrong sum", "when is my money for {} returned"],
  delivery: ["{} has not arrived yet", "the courier left {} at a neighbour", "which day does {} come"],
  account: ["I cannot sign in to see {}", "my password was refused for {}", "please change my address for {}"],
  fault: ["{} does not start", "{} makes a grinding noise", "the screen of {} stays black"],
  praise: ["I am very happy with {}", "{} is the best that I have owned", "thank you, {} works wonderfully"],
} as const;
type Label = keyof typeof PHRASES;
const LABELS = Object.keys(PHRASES) as Label[];
const THINGS = ["the kettle", "the drill", "the lamp", "the radio", "the pump", "the scale", "the fan", "the heater"];
const LINES = 600;

interface Line {
  readonly user: number;
  readonly label: Label;
  readonly said: string;
}

function linesOf(seed: number): readonly Line[] {
  const random = seeded(seed);
  const weighted = random.shuffle(LABELS).flatMap((label, at) => Array<Label>(2 + at).fill(label));
  return Array.from({ length: LINES }, () => {
    const label = random.pick(weighted);
    const said = random.pick(PHRASES[label]).replace("{}", random.pick(THINGS));
    return { user: 100 + random.below(25), label, said };
  });
}

const ABOUT = `Each line of the text is a message of a user to a shop. Each belongs to one of the labels ${
  LABELS.join(", ")
}; the line does not say to which.`;

const LABELLED = `const phrases = ${JSON.stringify(PHRASES)}
const rows = context.split("\\n").map((line) => {
  const [, user, said] = /^User (\\d+): (.*)$/.exec(line)
  const label = Object.keys(phrases).find((name) =>
    phrases[name].some((phrase) => { const [a, b] = phrase.split("{}"); return said.startsWith(a) && said.endsWith(b) }))
  return { user: Number(user), label }
})
const of = (name) => rows.filter(({ label }) => label === name).length
const ranked = Object.keys(phrases).sort((a, b) => of(b) - of(a))`;

interface Question {
  readonly request: string;
  readonly expects: Expectation;
  readonly wrong: readonly string[];
  readonly script: string;
}

const QUESTIONS: Readonly<Record<string, (lines: readonly Line[]) => Question>> = {
  count: (lines) => {
    const wanted = lines.filter(({ label }) => label === "fault").length;
    return {
      request: "How many messages have the label fault? Answer with the number alone.",
      expects: counted(wanted),
      wrong: [String(wanted + 1), "many"],
      script: `await answer(String(of("fault")))`,
    };
  },
  "of-users": (lines) => {
    const wanted = lines.filter(({ label, user }) => label === "delivery" && user < 110).length;
    return {
      request: "How many messages of the users 100 to 109 have the label delivery? Answer with the number alone.",
      expects: counted(wanted),
      wrong: [String(wanted - 1), "none"],
      script: `await answer(String(rows.filter(({ label, user }) => label === "delivery" && user < 110).length))`,
    };
  },
  most: (lines) => {
    const [first = "", second = ""] = ranked(lines);
    return {
      request: "Which label is the most frequent? Answer with the label alone.",
      expects: text(first),
      wrong: [second, ""],
      script: `await answer(ranked[0])`,
    };
  },
  compare: (lines) => {
    const [one, other] = [lines.slice(0, LINES / 2), lines.slice(LINES / 2)].map((half) =>
      half.filter(({ label }) => label === "praise").length
    );
    const wanted = one === other ? "the same" : (one ?? 0) > (other ?? 0) ? "first" : "second";
    return {
      request: "Does the label praise occur more often in the first 300 lines or in the last 300 lines? " +
        "Answer with one of: first, second, the same.",
      expects: text(wanted),
      wrong: [wanted === "first" ? "second" : "first", "both"],
      script:
        `const halves = [rows.slice(0, 300), rows.slice(300)].map((half) => half.filter(({ label }) => label === "praise").length)
await answer(halves[0] === halves[1] ? "the same" : halves[0] > halves[1] ? "first" : "second")`,
    };
  },
};

function ranked(lines: readonly Line[]): readonly Label[] {
  const count = (name: Label): number => lines.filter(({ label }) => label === name).length;
  return LABELS.toSorted((a, b) => count(b) - count(a));
}

export const COUNTING_TASKS: readonly AgentTask[] = [71, 72, 73].flatMap((seed) =>
  Object.entries(QUESTIONS).map(([name, question]) =>
    task(`counting/${name}-${seed}`, () => {
      const lines = linesOf(seed);
      const { request, script, ...rest } = question(lines);
      return {
        ...rest,
        context: lines.map(({ user, said }) => `User ${user}: ${said}`).join("\n"),
        request: `${ABOUT} ${request}`,
        script: [LABELLED, script],
      };
    })
  )
);
