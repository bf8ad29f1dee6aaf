import assert from "node:assert/strict";
import { FIGURE_PAGES, PEERS_JSON, PEERS_PAGE, peersPage, withFigures } from "../../../bench/peers/publish.ts";
import { peersFigure, type PeersReport, peersTable } from "../../../bench/peers/peers_report.ts";
import type { Played } from "../../../bench/peers/play.ts";

function played(launchMs: number): Played {
  return {
    ...{ launchMs, roundMs: 5, wallMs: 1_500, cpuSeconds: 0.5, peakMb: 100 },
    ...{ firstKb: 7, lastKb: 9, totalKb: 50, weightedKb: 6 },
  };
}

function report(): PeersReport {
  const machine = { cores: 2, memoryGb: 8 };
  const one = { sizeMb: 90, versionMs: [40, 41, 42], fault: "" };
  return {
    ...{ commit: "abc", machine, repetitions: 3, rounds: [1, 10] },
    agents: {
      vis: { label: "Vis", ...one, runs: { 1: [played(100), played(110), played(300)], 10: [played(1)] } },
      other: { label: "Other 1.0", ...one, sizeMb: 0, runs: { 1: [played(120)] } },
    },
  };
}

Deno.test("peersTable() shows medians, the lowest of a line in bold, and missing measurements", () => {
  const lines = peersTable(report(), { spread: true, rounds: [1, 10, 50] }).split("\n");
  assert.equal(lines[0], "|  | Vis | Other 1.0 |");
  assert.equal(lines[2], "| start to first model call (ms), 1 round | **110** (100–300) | 120 |");
  assert.ok(lines.includes("| whole run (s), 10 rounds | **1.50** | – |"));
  assert.ok(lines.includes("| on disk (MiB) | **90** | – |"));
  assert.ok(!lines.some((line) => line.includes("50 rounds")));
  assert.match(peersTable(report(), { spread: false, rounds: [1] }), /\| \*\*110\*\* \| 120 \|/);
});

Deno.test("peersFigure() is the median of Vis, or the range of the others", () => {
  assert.equal(peersFigure(report(), "vis launchMs 1"), "110");
  assert.equal(peersFigure(report(), "others launchMs 1"), "120");
  assert.throws(() => peersFigure(report(), "others launchMs 50"), /Cannot find the figure others launchMs 50/);
});

Deno.test("the figures of the README and of other pages match the stored measurement", async () => {
  const stored: PeersReport = JSON.parse(await Deno.readTextFile(PEERS_JSON));
  // The formatter aligns tables and breaks lines.
  const plain = (text: string): string => text.replace(/-{2,}/g, "-").replace(/\s+/g, " ");
  for (const path of FIGURE_PAGES) {
    const page = await Deno.readTextFile(path);
    assert.match(page, /<!-- figure: /);
    assert.equal(plain(page), plain(withFigures(page, stored)));
  }
  assert.equal(plain(await Deno.readTextFile(PEERS_PAGE)), plain(peersPage(stored)));
  assert.ok(Object.values(stored.agents).every(({ fault }) => fault === ""), "nothing of it failed");
});
