import { compareVersions } from "./compare_versions.ts";

const HEADING = /^## \[?v?(\d+\.\d+\.\d+[\w.-]*)/;

/** The sections of a CHANGELOG about versions after `after`, up to `upTo`. */
export function changesBetween(
  changelog: string,
  { after, upTo }: { readonly after: string; readonly upTo: string },
): string {
  return changelog.split(/^(?=## )/m).filter((section) => {
    const version = HEADING.exec(section)?.[1];
    return version !== undefined && compareVersions(version, after) > 0 && compareVersions(version, upTo) <= 0;
  }).join("").trim();
}
