import { type AgentTask, type Files, task } from "../agent_task.ts";
import { json, list, number, text } from "../expect/answers.ts";
import { file } from "../expect/workspace.ts";
import { seeded } from "../seeded.ts";

const PATHS = ["/", "/cart", "/login", "/search", "/orders", "/help"] as const;

interface Hit {
  readonly address: string;
  readonly minute: number;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
}

function hits(seed: number, count: number): readonly Hit[] {
  const random = seeded(seed);
  return Array.from({ length: count }, (_, at) => {
    const path = random.pick(PATHS);
    const failed = random.next() < (path === "/orders" ? 0.12 : 0.02);
    return {
      address: `10.0.${random.below(4)}.${random.below(40)}`,
      minute: Math.floor((at * 1440) / count),
      path,
      status: failed ? random.pick([500, 502, 503]) : random.next() < 0.05 ? 404 : 200,
      ms: 5 + random.below(path === "/search" ? 900 : 200),
    };
  });
}

function accessLog(all: readonly Hit[]): Files {
  const clock = (minute: number): string =>
    [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, "0")).join(":");
  const line = ({ address, minute, path, status, ms }: Hit): string =>
    `2026-04-07T${clock(minute)}:00Z ${address} GET ${path} ${status} ${ms}ms`;
  return { "logs/access.log": `${all.map(line).join("\n")}\n` };
}

const READ = `const hits = (await fs.readFile("logs/access.log")).trim().split("\\n").map((line) => {
  const [time, address, , path, status, ms] = line.split(" ")
  return { hour: Number(time.slice(11, 13)), address, path, status: Number(status), ms: parseInt(ms) }
})
`;

export const LOG_TASKS: readonly AgentTask[] = [
  task("files/server-errors", () => {
    const all = hits(11, 2_000);
    const wanted = all.filter(({ status }) => status >= 500).length;
    return {
      files: accessLog(all),
      request:
        "How many requests in logs/access.log ended with a status of 500 or above? Answer with the number alone.",
      expects: number(wanted),
      wrong: [String(all.filter(({ status }) => status >= 400).length), "none"],
      script: [`${READ}hits.length`, `await answer(String(hits.filter(({ status }) => status >= 500).length))`],
    };
  }),
  task("files/worst-hour", () => {
    const all = hits(12, 3_000);
    const counts = Array.from(
      { length: 24 },
      (_, hour) => all.filter((hit) => hit.status >= 500 && Math.floor(hit.minute / 60) === hour).length,
    );
    const most = Math.max(...counts);
    return {
      files: accessLog(all),
      request:
        `Which hour (UTC, 0 to 23) in logs/access.log had the most responses with status 500 or above, and how many? If several are equal take the earliest. Answer as JSON: {"hour": number, "count": number}.`,
      expects: json({ hour: counts.indexOf(most), count: most }),
      wrong: [JSON.stringify({ hour: counts.indexOf(most), count: most + 1 }), "in the evening"],
      script: `${READ}const counts = Array(24).fill(0)
for (const hit of hits) if (hit.status >= 500) counts[hit.hour]++
const count = Math.max(...counts)
await answer(JSON.stringify({ hour: counts.indexOf(count), count }))`,
    };
  }),
  task("files/busiest-clients", () => {
    const all = hits(13, 2_500);
    const counts = Map.groupBy(all, ({ address }) => address);
    const ranked = [...counts].map(([address, { length }]) => ({ address, length }))
      .sort((a, b) => b.length - a.length || (a.address < b.address ? -1 : 1)).map(({ address }) => address);
    return {
      files: accessLog(all),
      request:
        "Which three addresses made the most requests in logs/access.log? Answer with the addresses, most requests first (equal ones in the order of their text), one per line.",
      expects: list(ranked.slice(0, 3)),
      wrong: [ranked.slice(1, 4).join("\n"), ranked.slice(0, 3).toReversed().join("\n")],
      script: `${READ}const counts = new Map()
for (const { address } of hits) counts.set(address, (counts.get(address) ?? 0) + 1)
const ranked = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))
await answer(ranked.slice(0, 3).map(([address]) => address).join("\\n"))`,
    };
  }),
  task("files/slow-paths", () => {
    const all = hits(14, 2_000);
    const rows = [...Map.groupBy(all, ({ path }) => path)].map(([path, group]) => {
      const sorted = group.map(({ ms }) => ms).sort((a, b) => a - b);
      return { path, p95: sorted[Math.ceil(sorted.length * 0.95) - 1] };
    }).sort((a, b) => a.path < b.path ? -1 : 1);
    const csv = ["path,p95", ...rows.map(({ path, p95 }) => `${path},${p95}`)].join("\n");
    return {
      files: accessLog(all),
      request:
        `Write report.csv with the header "path,p95" and a row for each path in logs/access.log, sorted by path: the 95th percentile of its milliseconds by nearest rank (the value at place ceil(0.95 * n) of the n sorted values).`,
      expects: file("report.csv", csv),
      wrong: ["Done.", { answer: "Done.", files: { "report.csv": csv.replace(/\d+$/, "1") } }],
      script: `${READ}const rows = [...Map.groupBy(hits, ({ path }) => path)].map(([path, group]) => {
  const sorted = group.map(({ ms }) => ms).sort((a, b) => a - b)
  return path + "," + sorted[Math.ceil(sorted.length * 0.95) - 1]
}).sort()
await fs.writeFile("report.csv", ["path,p95", ...rows].join("\\n") + "\\n")
await answer("Wrote report.csv.")`,
    };
  }),
  task("files/stack-trace", () => {
    const random = seeded(15);
    const lines = Array.from({ length: 400 }, (_, at) => `[${at}] INFO worker ${random.below(8)}: heartbeat`);
    lines.splice(
      137,
      1,
      "[137] WARN worker 3: pool is at 97 of 100",
      "[137] ERROR worker 3: TimeoutError: no connection after 30000 ms",
      "    at acquire (src/db/pool.ts:88:13)",
      "    at loadInvoice (src/billing/invoice.ts:41:22)",
      "    at handle (src/http/router.ts:19:5)",
    );
    lines.splice(300, 1, "[296] ERROR worker 5: AbortError: client went away", "    at send (src/http/reply.ts:12:9)");
    return {
      files: { "worker.log": lines.join("\n") },
      request:
        "worker.log has a timeout with a stack trace. Which line of which file under src/billing was on that stack? Answer as file:line alone.",
      expects: text("src/billing/invoice.ts:41"),
      wrong: ["src/db/pool.ts:88", "src/billing/invoice.ts:22"],
      script: `const hits = await fs.grep("src/billing/", { path: "worker.log" })
const [, place] = /(src\\/billing\\/[^:]+:\\d+)/.exec(hits[0].text)
await answer(place)`,
    };
  }),
  task("files/joined-logs", () => {
    const random = seeded(16);
    const ids = Array.from({ length: 300 }, (_, at) => `r${1000 + at}`);
    const lost = new Set(random.shuffle(ids).slice(0, 7));
    const gateway = ids.map((id, at) => `${at}ms accepted ${id}`);
    const worker = random.shuffle(ids.filter((id) => !lost.has(id))).map((id) => `done ${id} in ${random.below(90)}ms`);
    return {
      files: { "gateway.log": gateway.join("\n"), "worker.log": worker.join("\n") },
      request:
        "Which request ids were accepted in gateway.log but are not done in worker.log? Answer with the ids in ascending order, one per line.",
      expects: list([...lost].sort()),
      wrong: [[...lost].sort().slice(1).join("\n"), "None"],
      script: `const ids = (text) => text.match(/r\\d{4}/g)
const done = new Set(ids(await fs.readFile("worker.log")))
await answer(ids(await fs.readFile("gateway.log")).filter((id) => !done.has(id)).sort().join("\\n"))`,
    };
  }),
];
