export interface EvalTask {
  readonly request: string;
  readonly context: string;
  readonly json: boolean;
  readonly isRight: (answer: string) => boolean;
}

const FILLER = "Nothing of note happened on this day, and the clerk wrote so in the book. ";

export function needleTask(chars: number, at: number): EvalTask {
  const needle = "The access code is 730519. ";
  const before = Math.floor((chars - needle.length) * at);
  const context = filler(before) + needle + filler(chars - needle.length - before);
  return {
    request: "Find the access code in context.",
    context,
    json: false,
    isRight: (text) => text.includes("730519"),
  };
}

export function hintTask(chars: number): EvalTask {
  const hint = "Her coat had the shade of ripe lemons. ";
  const before = Math.floor(chars * 0.61);
  const context = filler(before) + hint + filler(chars - hint.length - before);
  return {
    request: "Which colour is hinted at in context?",
    context,
    json: false,
    isRight: (text) => text.startsWith("It is yellow"),
  };
}

const QUESTIONS: Readonly<Record<string, readonly string[]>> = {
  number: ["How many bones has a hand?", "How far is the moon?", "What year did the bridge open?"],
  person: ["Who wrote the ballad?", "Whose ship came last?", "Name the inventor of the loom."],
  place: ["Where is the oldest mill?", "Which city has the longest wall?", "Which country grows it?"],
  reason: ["Why do leaves fall?", "What makes bread rise?", "For what purpose is the bell rung?"],
};
const KINDS = ["number", "person", "place", "reason"] as const;

interface Line {
  readonly user: number;
  readonly kind: typeof KINDS[number];
  readonly text: string;
}

function questionLines(count: number, users: number): readonly Line[] {
  const random = numbers(count * 31 + users);
  return Array.from({ length: count }, () => {
    const kind = KINDS[Math.floor(random() ** 1.5 * KINDS.length)] ?? "reason";
    const choices = QUESTIONS[kind] ?? [];
    const user = 1 + Math.floor(random() * users);
    const day = 1 + Math.floor(random() * 28);
    const question = choices[Math.floor(random() * choices.length)] ?? "";
    return { user, kind, text: `user ${user}, 2026-03-${String(day).padStart(2, "0")}: ${question}` };
  });
}

export function countTask(lines: number): EvalTask {
  const all = questionLines(lines, 50);
  const expected = KINDS.map((kind) => [kind, all.filter((line) => line.kind === kind).length] as const)
    .filter(([, count]) => count > 0).map(([kind, count]) => `${kind}: ${count}`).join("\n");
  return {
    request: "How many lines of context ask for each kind of thing?",
    context: all.map(({ text }) => text).join("\n"),
    json: false,
    isRight: (text) => text.trim() === expected,
  };
}

export function pairTask(lines: number, users: number): EvalTask {
  const all = questionLines(lines, users);
  const asked = [...new Set(all.filter(({ kind }) => kind === "place").map(({ user }) => user))].sort((a, b) => a - b);
  const expected = asked.flatMap((a, at) => asked.slice(at + 1).map((b) => `(${a}, ${b})`)).join("\n");
  return {
    request: "List all pairs of users in context who both asked for a place.",
    context: all.map(({ text }) => text).join("\n"),
    json: false,
    isRight: (text) => text.trim() === expected,
  };
}

export function hopTask(documents: number): EvalTask {
  const texts = Array.from(
    { length: documents },
    (_, at) =>
      `${FILLER}Widget-${at} is made by Firm-${(at * 7 + 3) % documents}. Firm-${at} was founded by Person-${
        (at * 11 + 5) % documents
      }. Person-${at} was born in Town-${(at * 13 + 1) % documents}. ${FILLER}`,
  );
  const widget = Math.floor(documents / 3);
  const firm = (widget * 7 + 3) % documents;
  const town = (((firm * 11 + 5) % documents) * 13 + 1) % documents;
  return {
    request: `Where was the founder of the maker of Widget-${widget} born, by the documents in context?`,
    context: JSON.stringify(texts.map((text, id) => ({ id, text }))),
    json: true,
    isRight: (text) => text.startsWith(`In Town-${town}:`),
  };
}

export function treeTask(depth: number): EvalTask {
  const sumOf = (branch: readonly number[], left: number): number =>
    left === 0
      ? branch.reduce((a, b) => a + b, 0)
      : [1, 2, 3, 4].reduce((sum, n) => sum + sumOf([...branch, n], left - 1), 0);
  return {
    request: `Sum the numbers below 1 to depth ${depth}.`,
    context: "",
    json: false,
    isRight: (text) => text.trim() === String(sumOf([1], depth)),
  };
}

function filler(chars: number): string {
  return FILLER.repeat(Math.ceil(chars / FILLER.length)).slice(0, Math.max(0, chars));
}

function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
