import { seeded } from "../seeded.ts";

const WHO = ["The clerk", "A carter", "The miller", "An old sailor", "The innkeeper", "A student", "The night watch"];
const DID = ["walked along", "looked across", "waited at", "swept", "painted", "talked about", "crossed"];
const WHERE = ["the harbour", "the long bridge", "the market", "the north gate", "the orchard", "the empty mill"];
const WHEN = [
  "before the rain came",
  "while the bells rang",
  "late in the day",
  "as on every morning",
  "without a word",
];

export function prose(seed: number, sentences: number): string[] {
  const { pick } = seeded(seed);
  return Array.from({ length: sentences }, () => `${pick(WHO)} ${pick(DID)} ${pick(WHERE)} ${pick(WHEN)}.`);
}

export function hidden(
  sentences: readonly string[],
  facts: readonly (readonly [at: number, fact: string])[],
): string[] {
  const result = [...sentences];
  for (const [at, fact] of facts.toSorted(([a], [b]) => b - a)) {
    result.splice(Math.floor(at * sentences.length), 0, fact);
  }
  return result;
}

export function paragraphs(sentences: readonly string[]): string {
  const all: string[] = [];
  for (let at = 0; at < sentences.length; at += 10) all.push(sentences.slice(at, at + 10).join(" "));
  return all.join("\n\n");
}
