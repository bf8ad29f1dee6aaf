import type { AgentTask } from "../agent_task.ts";
import { fixing } from "./_fixing.ts";

export const REFACTORING_TASKS: readonly AgentTask[] = [
  fixing("fixing/rename", {
    request:
      "Rename the function calc of src/area.ts to rectangleArea everywhere. The unrelated calc in src/tax.ts keeps its name.",
    files: {
      "src/area.ts": `export function calc(width: number, height: number): number {\n  return width * height;\n}\n`,
      "src/tax.ts": `export function calc(net: number): number {\n  return net * 0.2;\n}\n`,
      "src/room.ts":
        `import { calc } from "./area.ts";\nimport { calc as tax } from "./tax.ts";\n\nexport const price = (w: number, h: number) => calc(w, h) * 10 + tax(calc(w, h) * 10);\n`,
      "src/house.ts":
        `import { calc as area } from "./area.ts";\n\nexport const floors = (sizes: [number, number][]) => sizes.reduce((sum, [w, h]) => sum + area(w, h), 0);\n`,
    },
    fixed: {
      "src/area.ts":
        `export function rectangleArea(width: number, height: number): number {\n  return width * height;\n}\n`,
      "src/room.ts":
        `import { rectangleArea } from "./area.ts";\nimport { calc as tax } from "./tax.ts";\n\nexport const price = (w: number, h: number) => rectangleArea(w, h) * 10 + tax(rectangleArea(w, h) * 10);\n`,
      "src/house.ts":
        `import { rectangleArea as area } from "./area.ts";\n\nexport const floors = (sizes: [number, number][]) => sizes.reduce((sum, [w, h]) => sum + area(w, h), 0);\n`,
    },
    tempting: {
      "src/area.ts":
        `export function rectangleArea(width: number, height: number): number {\n  return width * height;\n}\n`,
    },
    test: `import * as area from "@/src/area.ts";
import * as tax from "@/src/tax.ts";
import { price } from "@/src/room.ts";
import { floors } from "@/src/house.ts";
same([Object.keys(area), Object.keys(tax)], [["rectangleArea"], ["calc"]]);
same([price(2, 5), floors([[1, 2], [3, 4]])], [120, 14]);`,
  }),
  fixing("fixing/extract-module", {
    request:
      "src/shop.ts and src/bank.ts have the same function formatCents. Move it to src/format_cents.ts, exported, and let both import it; neither defines or exports it any more.",
    files: {
      "src/shop.ts":
        `function formatCents(cents: number): string {\n  return (cents / 100).toFixed(2) + " EUR";\n}\n\nexport const tag = (name: string, cents: number) => name + ": " + formatCents(cents);\n`,
      "src/bank.ts":
        `export function formatCents(cents: number): string {\n  return (cents / 100).toFixed(2) + " EUR";\n}\n\nexport const balance = (all: number[]) => formatCents(all.reduce((a, b) => a + b, 0));\n`,
    },
    fixed: {
      "src/format_cents.ts":
        `export function formatCents(cents: number): string {\n  return (cents / 100).toFixed(2) + " EUR";\n}\n`,
      "src/shop.ts":
        `import { formatCents } from "./format_cents.ts";\n\nexport const tag = (name: string, cents: number) => name + ": " + formatCents(cents);\n`,
      "src/bank.ts":
        `import { formatCents } from "./format_cents.ts";\n\nexport const balance = (all: number[]) => formatCents(all.reduce((a, b) => a + b, 0));\n`,
    },
    tempting: {
      "src/format_cents.ts":
        `export function formatCents(cents: number): string {\n  return (cents / 100).toFixed(2) + " EUR";\n}\n`,
    },
    test: `import { formatCents } from "@/src/format_cents.ts";
import * as shop from "@/src/shop.ts";
import * as bank from "@/src/bank.ts";
same([formatCents(5), shop.tag("tea", 250), bank.balance([100, 1])], ["0.05 EUR", "tea: 2.50 EUR", "1.01 EUR"]);
same([Object.keys(shop), Object.keys(bank)], [["tag"], ["balance"]]);
for (const url of ["@/src/shop.ts", "@/src/bank.ts"]) {
  same((await Deno.readTextFile(new URL(url))).includes("toFixed"), false);
}`,
  }),
  fixing("fixing/options-object", {
    request:
      "Change send in src/mail.ts so that it takes two parameters: the address, and an object with subject, body and urgent, where urgent may be left out and is then false. Change its callers too.",
    files: {
      "src/mail.ts":
        `export function send(to: string, subject: string, body: string, urgent: boolean): string {\n  return (urgent ? "!" : "") + to + "|" + subject + "|" + body;\n}\n`,
      "src/welcome.ts":
        `import { send } from "./mail.ts";\n\nexport const welcome = (to: string) => send(to, "Welcome", "Hello " + to, false);\n`,
      "src/alarm.ts":
        `import { send } from "./mail.ts";\n\nexport const alarm = (tos: string[]) => tos.map((to) => send(to, "Alarm", "Leave now", true));\n`,
    },
    fixed: {
      "src/mail.ts":
        `export function send(\n  to: string,\n  { subject, body, urgent = false }: { subject: string; body: string; urgent?: boolean },\n): string {\n  return (urgent ? "!" : "") + to + "|" + subject + "|" + body;\n}\n`,
      "src/welcome.ts":
        `import { send } from "./mail.ts";\n\nexport const welcome = (to: string) => send(to, { subject: "Welcome", body: "Hello " + to });\n`,
      "src/alarm.ts":
        `import { send } from "./mail.ts";\n\nexport const alarm = (tos: string[]) =>\n  tos.map((to) => send(to, { subject: "Alarm", body: "Leave now", urgent: true }));\n`,
    },
    test: `import { send } from "@/src/mail.ts";
import { welcome } from "@/src/welcome.ts";
import { alarm } from "@/src/alarm.ts";
same([send("a", { subject: "s", body: "b" }), send("a", { subject: "s", body: "b", urgent: true })], ["a|s|b", "!a|s|b"]);
same([welcome("z"), alarm(["x", "y"])], ["z|Welcome|Hello z", ["!x|Alarm|Leave now", "!y|Alarm|Leave now"]]);`,
  }),
  fixing("fixing/new-feature", {
    request:
      "Add a function parseDuration to src/duration.ts that undoes formatDuration: it turns texts like 1h 5m 3s, 90s or 2h into seconds, with any of the three parts but in this order, and throws on anything else, the empty text included.",
    files: {
      "src/duration.ts": `export function formatDuration(seconds: number): string {
  const parts = [[Math.floor(seconds / 3600), "h"], [Math.floor(seconds / 60) % 60, "m"], [seconds % 60, "s"]] as const;
  return parts.filter(([count]) => count > 0).map(([count, unit]) => count + unit).join(" ") || "0s";
}
`,
    },
    fixed: {
      "src/duration.ts": `export function formatDuration(seconds: number): string {
  const parts = [[Math.floor(seconds / 3600), "h"], [Math.floor(seconds / 60) % 60, "m"], [seconds % 60, "s"]] as const;
  return parts.filter(([count]) => count > 0).map(([count, unit]) => count + unit).join(" ") || "0s";
}

export function parseDuration(text: string): number {
  const found = /^(?:(\\d+)h)?(?: ?(\\d+)m)?(?: ?(\\d+)s)?$/.exec(text);
  if (!found || text === "" || text.startsWith(" ")) throw new SyntaxError("Cannot read a duration: " + text);
  const [hours = 0, minutes = 0, seconds = 0] = found.slice(1).map((part) => Number(part ?? 0));
  return hours * 3600 + minutes * 60 + seconds;
}
`,
    },
    tempting: {
      "src/duration.ts": `export const formatDuration = (seconds: number) => seconds + "s";
export const parseDuration = (text: string) => Number.parseInt(text);
`,
    },
    test: `import { formatDuration, parseDuration } from "@/src/duration.ts";
same(["1h 5m 3s", "90s", "2h", "5m", "0s", "1h 3s"].map(parseDuration), [3903, 90, 7200, 300, 0, 3603]);
for (const seconds of [0, 59, 60, 3599, 3600, 86_399]) same(parseDuration(formatDuration(seconds)), seconds);
for (const text of ["", "5", "3s 1h", "1h5x", "soon"]) throws(() => parseDuration(text));`,
  }),
];
