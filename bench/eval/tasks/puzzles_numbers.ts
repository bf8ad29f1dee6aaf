import { type AgentTask, task } from "../agent_task.ts";
import { json, list, number, text } from "../expect/answers.ts";

export const NUMBER_PUZZLES: readonly AgentTask[] = [
  task("puzzles/twin-primes", () => ({
    request: "How many pairs of primes that differ by 2 are there with both below 10000? Answer with the number alone.",
    expects: number(205),
    wrong: ["410", "204", "I counted 205 pairs, or 1229 primes."],
    script:
      `const prime = (n) => n > 1 && Array.from({ length: Math.floor(Math.sqrt(n)) - 1 }, (_, at) => at + 2).every((d) => n % d)
let pairs = 0
for (let n = 3; n + 2 < 10000; n += 2) if (prime(n) && prime(n + 2)) pairs++
await answer(String(pairs))`,
  })),
  task("puzzles/digits-of-a-power", () => ({
    request: "What is the sum of the decimal digits of 3 to the power of 500? Answer with the number alone.",
    expects: number(1035),
    wrong: ["1034", "3 to the power of 500 has the sum 1035"],
    script: `await answer(String([...String(3n ** 500n)].reduce((sum, digit) => sum + Number(digit), 0)))`,
  })),
  task("puzzles/collatz", () => ({
    request:
      "Halve a number when it is even, else triple it and add one, until it is 1. Which start below 10000 takes the most steps? Answer with the number alone.",
    expects: number(6171),
    wrong: ["261", "9999"],
    script: [
      `function steps(n) { let count = 0; while (n !== 1) { n = n % 2 ? 3 * n + 1 : n / 2; count++ } return count }
steps(6)`,
      `let best = 1
for (let n = 1; n < 10000; n++) if (steps(n) > steps(best)) best = n
await answer(String(best))`,
    ],
  })),
  task("puzzles/coins", () => ({
    request:
      "In how many ways can 2.50 be paid with coins of 1, 2, 5, 10, 20, 50 and 100 cents, the order not mattering? Answer with the number alone.",
    expects: number(199736),
    wrong: ["250", "73682"],
    script: `const ways = [1, ...Array(250).fill(0)]
for (const coin of [1, 2, 5, 10, 20, 50, 100]) for (let sum = coin; sum <= 250; sum++) ways[sum] += ways[sum - coin]
await answer(String(ways[250]))`,
  })),
  task("puzzles/friday-13", () => ({
    request:
      "How many Fridays in the years 2001 to 2100, both included, fall on the 13th of a month? Answer with the number alone.",
    expects: number(172),
    wrong: ["1200", "100"],
    script: `let count = 0
for (let year = 2001; year <= 2100; year++) for (let month = 0; month < 12; month++) {
  if (new Date(Date.UTC(year, month, 13)).getUTCDay() === 5) count++
}
await answer(String(count))`,
  })),
  task("puzzles/knapsack", () => ({
    request:
      `A van carries 50 kg. Parcels as weight:fee are 7:13, 12:24, 9:15, 16:31, 11:19, 5:11, 14:26, 8:17, 13:21, 6:9. What is the highest total fee, each parcel taken at most once? Answer with the number alone.`,
    expects: number(98),
    wrong: ["97", "186"],
    script:
      `const parcels = [[7, 13], [12, 24], [9, 15], [16, 31], [11, 19], [5, 11], [14, 26], [8, 17], [13, 21], [6, 9]]
const best = Array(51).fill(0)
for (const [weight, fee] of parcels) for (let free = 50; free >= weight; free--) best[free] = Math.max(best[free], best[free - weight] + fee)
await answer(String(best[50]))`,
  })),
  task("puzzles/change-of-base", () => ({
    request:
      "Which numbers from 1 to 2000 read the same backwards both in decimal and in binary? Answer with the numbers in ascending order, separated by commas.",
    expects: list(["1", "3", "5", "7", "9", "33", "99", "313", "585", "717"]),
    wrong: ["1, 3, 5, 7, 9, 33, 99, 313, 585", "33, 99, 313, 585, 717"],
    script: `const same = (text) => text === [...text].reverse().join("")
const found = Array.from({ length: 2000 }, (_, at) => at + 1).filter((n) => same(String(n)) && same(n.toString(2)))
await answer(found.join(", "))`,
  })),
  task("puzzles/fraction", () => ({
    request:
      "Add 1/1 + 1/2 + 1/3 and so on up to 1/20 exactly. Answer with the reduced fraction alone, written as a/b.",
    expects: text("55835135/15519504"),
    wrong: ["3.5977", "111670270/31039008"],
    script: `const gcd = (a, b) => b === 0n ? a : gcd(b, a % b)
let [top, bottom] = [0n, 1n]
for (let n = 1n; n <= 20n; n++) {
  const sum = top * n + bottom
  const common = gcd(sum, bottom * n);
  [top, bottom] = [sum / common, bottom * n / common]
}
await answer(top + "/" + bottom)`,
  })),
  task("puzzles/bisection", () => ({
    request:
      `Which x between 0 and 1 solves cos(x) = x * x * x + x? Answer as JSON: {"x": the value rounded to 6 decimals}.`,
    expects: json({ x: 0.60352 }),
    wrong: ['{"x": 0.739085}', "x is between 0 and 1"],
    script: `let [low, high] = [0, 1]
for (let turn = 0; turn < 80; turn++) {
  const middle = (low + high) / 2
  if (Math.cos(middle) > middle ** 3 + middle) low = middle
  else high = middle
}
await answer(JSON.stringify({ x: Number(low.toFixed(6)) }))`,
  })),
];
