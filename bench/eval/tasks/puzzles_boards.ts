import { type AgentTask, task } from "../agent_task.ts";
import { list, number, text } from "../expect/answers.ts";

const SUDOKU = "...26.7.168..7..9.19...45..82.1...4...46.29...5...3.28..93...74.4..5..367.3.18...";
const SOLVED = "435269781682571493197834562826195347374682915951743628519326874248957136763418259";

export const BOARD_PUZZLES: readonly AgentTask[] = [
  task("puzzles/queens", () => ({
    request:
      "In how many ways can 8 queens stand on a chessboard so that none attacks another, if one of them must stand in the corner a1? Answer with the number alone.",
    expects: number(4),
    wrong: ["92", "8"],
    script: `function place(rows) {
  if (rows.length === 8) return 1
  let count = 0
  for (let row = 0; row < 8; row++) {
    if (rows.every((other, at) => other !== row && Math.abs(other - row) !== rows.length - at)) count += place([...rows, row])
  }
  return count
}
await answer(String(place([0])))`,
  })),
  task("puzzles/knight", () => ({
    request:
      "How many moves does a chess knight need at least from (0, 0) to (17, 42) on a board without borders? Answer with the number alone.",
    expects: number(21),
    wrong: ["20", "59"],
    script: `const jumps = [[1, 2], [2, 1], [-1, 2], [-2, 1], [1, -2], [2, -1], [-1, -2], [-2, -1]]
let edge = [[0, 0]], moves = 0
const seen = new Set(["0,0"])
while (!seen.has("17,42")) {
  moves++
  const next = []
  for (const [x, y] of edge) for (const [dx, dy] of jumps) {
    const key = (x + dx) + "," + (y + dy)
    if (seen.has(key)) continue
    seen.add(key)
    next.push([x + dx, y + dy])
  }
  edge = next
}
await answer(String(moves))`,
  })),
  task("puzzles/sudoku", () => ({
    request:
      `Solve this sudoku, given row by row with dots for empty cells: ${SUDOKU} Answer with the 81 digits alone, without spaces.`,
    expects: text(SOLVED),
    wrong: [SUDOKU, SOLVED.replace(/^43/, "34")],
    script: `const cells = [..."${SUDOKU}"]
function solve() {
  const at = cells.indexOf(".")
  if (at === -1) return true
  const [row, column] = [Math.floor(at / 9), at % 9]
  for (const digit of "123456789") {
    const taken = cells.some((cell, other) => {
      const [r, c] = [Math.floor(other / 9), other % 9]
      const near = Math.floor(r / 3) === Math.floor(row / 3) && Math.floor(c / 3) === Math.floor(column / 3)
      return cell === digit && (r === row || c === column || near)
    })
    if (taken) continue
    cells[at] = digit
    if (solve()) return true
    cells[at] = "."
  }
  return false
}
solve()
await answer(cells.join(""))`,
  })),
  task("puzzles/life", () => ({
    request:
      "In Conway's game of life on an endless board, the R-pentomino is the cells (1,0), (2,0), (0,1), (1,1), (1,2). How many cells live after 100 generations? Answer with the number alone.",
    expects: number(121),
    wrong: ["116", "5"],
    script: `let alive = new Set(["1,0", "2,0", "0,1", "1,1", "1,2"])
for (let turn = 0; turn < 100; turn++) {
  const near = new Map()
  for (const cell of alive) {
    const [x, y] = cell.split(",").map(Number)
    for (let dx = -1; dx <= 1; dx++) for (let dy = -1; dy <= 1; dy++) {
      if (dx !== 0 || dy !== 0) near.set((x + dx) + "," + (y + dy), (near.get((x + dx) + "," + (y + dy)) ?? 0) + 1)
    }
  }
  alive = new Set([...near].filter(([cell, count]) => count === 3 || count === 2 && alive.has(cell)).map(([cell]) => cell))
}
await answer(String(alive.size))`,
  })),
  task("puzzles/brackets", () => ({
    request:
      "Which of these are balanced: a=([]{}), b=([)], c={[()()]}, d=((), e=[{()}](), f=}{? Answer with the letters, separated by commas.",
    expects: list(["a", "c", "e"]),
    wrong: ["a, b, c, e", "a, c"],
    script: `const all = { a: "([]{})", b: "([)]", c: "{[()()]}", d: "((", e: "[{()}]()", f: "}{" }
function balanced(text) {
  const open = []
  for (const sign of text) {
    if ("([{".includes(sign)) open.push(")]}"["([{".indexOf(sign)])
    else if (open.pop() !== sign) return false
  }
  return open.length === 0
}
await answer(Object.keys(all).filter((name) => balanced(all[name])).join(", "))`,
  })),
  task("puzzles/cipher", () => ({
    request:
      'Each letter of this text was moved by the same number of places in the alphabet: "Jxu bqij jhqyd ev jxu uludydw buqlui ruvehu cytdywxj". Decipher it and answer with the sixth word of the plain text alone.',
    expects: text("evening"),
    wrong: ["uludydw", "train"],
    script: [
      `const shift = (by) => "jxu bqij jhqyd ev jxu uludydw buqlui ruvehu cytdywxj".replace(/[a-z]/g, (letter) => String.fromCharCode(97 + (letter.charCodeAt(0) - 97 + by) % 26))
Array.from({ length: 26 }, (_, by) => by + " " + shift(by)).filter((line) => line.includes("the"))`,
      `await answer(shift(10).split(" ")[5])`,
    ],
  })),
];
