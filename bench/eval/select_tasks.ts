import { nearestName } from "../../src/domain/kit/names.ts";
import { type AgentTask, FAMILIES } from "./agent_task.ts";

/** A name is a family, an id, or a pattern with `*`; no names mean all tasks. */
export function selectTasks(tasks: readonly AgentTask[], names: readonly string[]): readonly AgentTask[] {
  const chosen = new Set<AgentTask>();
  for (const name of names) {
    const fitting = tasks.filter((task) => task.family === name || patternOf(name).test(task.id));
    if (fitting.length === 0) throw unknown(tasks, name);
    for (const task of fitting) chosen.add(task);
  }
  return names.length === 0 ? tasks : tasks.filter((task) => chosen.has(task));
}

function patternOf(name: string): RegExp {
  return new RegExp(`^${name.split("*").map((part) => RegExp.escape(part)).join(".*")}$`);
}

function unknown(tasks: readonly AgentTask[], name: string): RangeError {
  const near = nearestName(name, [...FAMILIES, ...tasks.map(({ id }) => id)]);
  const meant = near ? `did you mean ${near}? ` : "";
  return new RangeError(
    `Cannot find task ${name}: no task has this name; ${meant}families are ${
      FAMILIES.join(", ")
    }, and --list shows all tasks`,
  );
}
