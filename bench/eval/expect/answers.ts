import { isDeepStrictEqual } from "node:util";
import type { Expectation } from "../agent_task.ts";

const SHOWN = 120;

export function number(wanted: number): Expectation {
  return {
    right: { answer: String(wanted) },
    check: ({ answer }) => {
      const plain = answer.replace(/(?<=\d)[,_ \u202f](?=\d{3}(?!\d))/g, "");
      const found = new Set((plain.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number));
      return found.size === 1 && found.has(wanted) ? "" : unlike(answer, String(wanted));
    },
  };
}

export function counted(wanted: number): Expectation {
  return {
    ...number(wanted),
    credit: ({ answer }) => {
      const found = answer.match(/\d+/g) ?? [];
      return found.length === 1 ? 0.75 ** Math.abs(Number(found[0]) - wanted) : 0;
    },
  };
}

export function text(wanted: string): Expectation {
  return {
    right: { answer: wanted },
    check: ({ answer }) => bare(answer) === bare(wanted) ? "" : unlike(answer, wanted),
  };
}

export function exact(wanted: string): Expectation {
  return {
    right: { answer: wanted },
    check: ({ answer }) => answer.trim() === wanted ? "" : unlike(answer, wanted),
  };
}

export function list(wanted: readonly string[], { anyOrder = false } = {}): Expectation {
  const order = (items: readonly string[]) => anyOrder ? items.toSorted() : items;
  return {
    right: { answer: wanted.join("\n") },
    check: ({ answer }) => {
      const items = answer.split(/[\n,]/).map((line) => bare(line.replace(/^\s*(?:[-*•]|\d+[.)])\s+/, "")));
      const found = order(items.filter((item) => item !== ""));
      return isDeepStrictEqual(found, order(wanted.map(bare))) ? "" : unlike(answer, wanted.join(", "));
    },
  };
}

export function json(wanted: unknown): Expectation {
  const shown = JSON.stringify(wanted);
  return {
    right: { answer: shown },
    check: ({ answer }) => {
      const inner = /```(?:json)?\s*([\s\S]*?)```/.exec(answer)?.[1] ?? answer;
      try {
        return isDeepStrictEqual(JSON.parse(inner), wanted) ? "" : unlike(answer, shown);
      } catch {
        return unlike(answer, shown);
      }
    },
  };
}

function bare(line: string): string {
  return line.replace(/[`*"'“”]/g, "").replace(/\.\s*$/, "").replace(/\s+/g, " ").trim().toLowerCase();
}

function unlike(answer: string, wanted: string): string {
  return `answered ${JSON.stringify(answer.slice(0, SHOWN))}, not ${wanted.slice(0, SHOWN)}`;
}
