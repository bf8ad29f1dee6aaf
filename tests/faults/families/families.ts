import { disks } from "./disks.ts";
import type { Family } from "./family.ts";
import { files } from "./files.ts";
import { flips } from "./flips.ts";
import { kills } from "./kills.ts";
import { pages } from "./pages.ts";
import { providerFaults } from "./provider_faults.ts";
import { schedules } from "./schedules.ts";
import { signals } from "./signals.ts";

export const FAMILIES: readonly Family[] = [kills, signals, disks, files, flips, pages, providerFaults, schedules];
