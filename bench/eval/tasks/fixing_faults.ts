import type { AgentTask } from "../agent_task.ts";
import { fixing } from "./_fixing.ts";

export const FAULT_TASKS: readonly AgentTask[] = [
  fixing("fixing/wrong-module", {
    request:
      "invoiceTotal in src/invoice.ts gives 107.99 for a net of 100 and a rate of 8 %, where 108 is right. Find the cause in one of the modules that it uses and fix it there: other callers have the same trouble.",
    files: {
      "src/invoice.ts": `import { withTax } from "./tax.ts";

export function invoiceTotal(net: number, rate: number): number {
  return withTax(net, rate);
}
`,
      "src/tax.ts": `import { cents } from "./money.ts";

export function withTax(net: number, rate: number): number {
  return cents(net * (1 + rate / 100)) / 100;
}
`,
      "src/money.ts": `export function cents(amount: number): number {
  return Math.floor(amount * 100 - 0.5);
}
`,
    },
    fixed: {
      "src/money.ts": `export function cents(amount: number): number {
  return Math.round(amount * 100);
}
`,
    },
    tempting: {
      "src/invoice.ts": `export function invoiceTotal(net: number, rate: number): number {
  return Math.round(net * (100 + rate)) / 100;
}
`,
    },
    test: `import { invoiceTotal } from "@/src/invoice.ts";
import { withTax } from "@/src/tax.ts";
import { cents } from "@/src/money.ts";
same([invoiceTotal(100, 8), withTax(19.99, 20), cents(0.29), cents(12)], [108, 23.99, 29, 1200]);`,
  }),
  fixing("fixing/cycle", {
    request:
      "depths in src/tree.ts never ends when two parts contain each other. It must throw an error in that case; a part that two others share is fine.",
    files: {
      "src/tree.ts": `export type Parts = Record<string, string[]>;

/** How many levels are below a part. */
export function depths(parts: Parts, name: string): number {
  const below = (parts[name] ?? []).map((part) => depths(parts, part) + 1);
  return Math.max(0, ...below);
}
`,
    },
    fixed: {
      "src/tree.ts": `export type Parts = Record<string, string[]>;

/** How many levels are below a part. */
export function depths(parts: Parts, name: string, above: readonly string[] = []): number {
  if (above.includes(name)) throw new Error("Cannot count levels: " + [...above, name].join(" > "));
  const below = (parts[name] ?? []).map((part) => depths(parts, part, [...above, name]) + 1);
  return Math.max(0, ...below);
}
`,
    },
    tempting: {
      "src/tree.ts": `export type Parts = Record<string, string[]>;
const seen = new Set<string>();

export function depths(parts: Parts, name: string): number {
  if (seen.has(name)) throw new Error("cycle");
  seen.add(name);
  return Math.max(0, ...(parts[name] ?? []).map((part) => depths(parts, part) + 1));
}
`,
    },
    test: `import { depths } from "@/src/tree.ts";
same(depths({ car: ["axle", "door"], axle: ["bolt"], door: ["bolt"] }, "car"), 2);
same(depths({}, "bolt"), 0);
let thrown;
try { depths({ a: ["b"], b: ["a"] }, "a"); } catch (error) { thrown = error; }
same([thrown instanceof Error, /call stack/i.test(thrown?.message)], [true, false]);`,
  }),
  fixing("fixing/dates", {
    request:
      "daysBetween in src/dates.ts counts wrongly over the change to summer time, and nextMonth turns 31 January into 3 March. Dates are texts like 2026-01-31. nextMonth must keep the day, or take the last day of a month that is shorter.",
    files: {
      "src/dates.ts": `export function daysBetween(from: string, to: string): number {
  return Math.floor((new Date(to + "T00:00:00").getTime() - new Date(from + "T00:00:00").getTime()) / 86_400_000);
}

export function nextMonth(day: string): string {
  const date = new Date(day);
  date.setUTCMonth(date.getUTCMonth() + 1);
  return date.toISOString().slice(0, 10);
}
`,
    },
    fixed: {
      "src/dates.ts": `export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / 86_400_000);
}

export function nextMonth(day: string): string {
  const [year, month, date] = day.split("-").map(Number) as [number, number, number];
  const last = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  return new Date(Date.UTC(year, month, Math.min(date, last))).toISOString().slice(0, 10);
}
`,
    },
    test: `import { daysBetween, nextMonth } from "@/src/dates.ts";
same([daysBetween("2026-03-28", "2026-03-30"), daysBetween("2026-10-24", "2026-10-26")], [2, 2]);
same(["2026-01-31", "2028-01-31", "2026-12-15", "2026-02-28"].map(nextMonth), ["2026-02-28", "2028-02-29", "2027-01-15", "2026-03-28"]);`,
  }),
  fixing("fixing/escaping", {
    request:
      "render in src/page.ts puts names into HTML as they are, so a name can add markup or attributes. Escape every value for its place and nothing twice.",
    files: {
      "src/page.ts": `export function render(user: { name: string; title: string }): string {
  return '<p title="' + user.title + '">Hello ' + user.name + "</p>";
}
`,
    },
    fixed: {
      "src/page.ts":
        `const SIGNS: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => SIGNS[sign]!);
}

export function render(user: { name: string; title: string }): string {
  return '<p title="' + escape(user.title) + '">Hello ' + escape(user.name) + "</p>";
}
`,
    },
    tempting: {
      "src/page.ts":
        `const escape = (text: string) => text.replace("<", "&lt;").replace(">", "&gt;").replace("&", "&amp;");

export function render(user: { name: string; title: string }): string {
  return '<p title="' + escape(user.title) + '">Hello ' + escape(user.name) + "</p>";
}
`,
    },
    test: `import { render } from "@/src/page.ts";
same(render({ name: "Ann", title: "Dr" }), '<p title="Dr">Hello Ann</p>');
const page = render({ name: "<b>&</b><i>", title: '" onclick="x' });
same(page.includes("Hello &lt;b&gt;&amp;&lt;/b&gt;&lt;i&gt;</p>"), true);
same((page.match(/"/g) ?? []).length, 2);`,
  }),
];
