import assert from "node:assert/strict";
import { LiveLines } from "../../../../src/channels/cli/query_command.ts";

function line(width = 30) {
  const written: string[] = [];
  const clock = { ms: 0 };
  const write = (text: string): void => void written.push(text);
  return {
    written,
    clock,
    live: new LiveLines({ write, width: () => width, paint: (text) => text, now: () => clock.ms }),
  };
}

Deno.test("LiveLines is shown once, gives way to another text and leaves no trace", () => {
  const { written, live } = line();
  live.show("one");
  live.show("one");
  live.show("two\x1b[2J");
  live.clear();
  live.clear();
  assert.deepEqual(written, ["one", "\r\x1b[2Ktwo\\u001b[2J", "\r\x1b[2K"]);
});

Deno.test("LiveLines shows a long time, within the width", () => {
  const { written, clock, live } = line(20);
  live.show("waiting for a model");
  clock.ms = 1_999;
  live.tick();
  clock.ms = 12_400;
  live.tick();
  live.clear();
  live.tick();
  assert.deepEqual([written.length, written[0], written[2]], [3, "waiting for a model", "\r\x1b[2K"]);
  const shown = (written[1] ?? "").replace("\r\x1b[2K", "");
  assert.ok(shown.length <= 19 && shown.endsWith("… 12 s"), shown);
});

Deno.test("LiveLines shows the time of a call with its limit instead of the time of the line", () => {
  const written: string[] = [];
  const clock = { ms: 0, call: "" };
  const write = (text: string): void => void written.push(text);
  const live = new LiveLines({ write, width: () => 60, paint: String, now: () => clock.ms, time: () => clock.call });
  live.show("running npm ci…");
  clock.ms = 4_000;
  live.tick();
  clock.call = "12 s of 1 min 30 s";
  live.tick();
  live.clear();
  assert.deepEqual(written.slice(1, 3), [
    "\r\x1b[2Krunning npm ci… 4 s",
    "\r\x1b[2Krunning npm ci… 12 s of 1 min 30 s",
  ]);
});

Deno.test("LiveLines redraws only changed lines, and removes all of them", () => {
  const { written, live } = line();
  live.show("busy", ["a", "b"]);
  live.show("busy", ["a", "b"]);
  live.show("busy", ["a", "bc", "d"]);
  live.show("done", ["a", "bc", "d"]);
  live.clear();
  assert.deepEqual(written, [
    "a\nb\nbusy",
    "\r\x1b[1A\x1b[Jbc\nd\nbusy",
    "\r\x1b[2Kdone",
    "\r\x1b[3A\x1b[J",
  ]);
});
