/** With `overridesOf`, these settings keep git from programs that the repository names and from the network. Some
 * settings fix the output formats that Vis parses. */
const SETTINGS: readonly (readonly [name: string, value: string])[] = [
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.pager", "cat"],
  ["core.editor", ":"],
  ["core.sshCommand", "/bin/false"],
  ["core.askPass", "/bin/false"],
  ["core.gitProxy", "/bin/false"],
  ["core.alternateRefsCommand", "/bin/false"],
  ["core.quotePath", "true"],
  ["core.commentChar", "#"],
  ["credential.helper", ""],
  ["gpg.program", "/bin/false"],
  ["gpg.openpgp.program", "/bin/false"],
  ["gpg.x509.program", "/bin/false"],
  ["gpg.ssh.program", "/bin/false"],
  ["gpg.ssh.defaultKeyCommand", "/bin/false"],
  ["commit.gpgSign", "false"],
  ["commit.verbose", "false"],
  // For "default", which is a value of git commit, git cherry-pick, revert and rebase print a warning.
  ["commit.cleanup", "verbatim"],
  ["tag.gpgSign", "false"],
  ["tag.forceSignAnnotated", "false"],
  ["init.templateDir", ""],
  ["merge.ff", "true"],
  ["merge.autoStash", "false"],
  ["merge.verifySignatures", "false"],
  ["merge.stat", "false"],
  ["pull.twohead", "ort"],
  ["pull.octopus", "octopus"],
  ["rebase.autoSquash", "false"],
  ["rebase.autoStash", "false"],
  ["rebase.updateRefs", "false"],
  ["rebase.rebaseMerges", "false"],
  ["rebase.instructionFormat", ""],
  ["rebase.missingCommitsCheck", "ignore"],
  ["log.showSignature", "false"],
  ["log.showRoot", "true"],
  ["sequence.editor", ":"],
  ["interactive.diffFilter", ""],
  ["diff.external", ""],
  ["diff.submodule", "short"],
  ["diff.ignoreSubmodules", "dirty"],
  ["diff.noprefix", "false"],
  ["diff.mnemonicPrefix", "false"],
  ["diff.suppressBlankEmpty", "false"],
  ["status.submoduleSummary", "false"],
  ["submodule.recurse", "false"],
  ["fetch.recurseSubmodules", "false"],
  ["branch.autoSetupMerge", "false"],
  ["worktree.guessRemote", "false"],
  ["blame.ignoreRevsFile", ""],
  ["rerere.enabled", "false"],
  ["rerere.autoUpdate", "false"],
  ["gc.auto", "0"],
  ["gc.autoDetach", "false"],
  ["maintenance.auto", "false"],
  ["maintenance.autoDetach", "false"],
  ["color.ui", "false"],
  ["column.ui", "never"],
  ["i18n.logOutputEncoding", "UTF-8"],
  ["i18n.commitEncoding", "UTF-8"],
  ["protocol.allow", "never"],
  ["protocol.file.allow", "never"],
  ["protocol.git.allow", "never"],
  ["protocol.ssh.allow", "never"],
  ["protocol.http.allow", "never"],
  ["protocol.https.allow", "never"],
  ["protocol.ext.allow", "never"],
  ["protocol.fd.allow", "never"],
];

export function safeArguments(): readonly string[] {
  const settings = SETTINGS.flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  return ["--no-pager", "--literal-pathspecs", ...settings];
}

export const SAFE_ENVIRONMENT: Readonly<Record<string, string>> = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ASKPASS: "/bin/false",
  SSH_ASKPASS: "/bin/false",
  GIT_SSH_COMMAND: "/bin/false",
  GIT_EDITOR: ":",
  GIT_SEQUENCE_EDITOR: ":",
  GIT_PAGER: "cat",
  GIT_ALLOW_PROTOCOL: "none",
  GIT_PROTOCOL_FROM_USER: "0",
  GIT_NO_LAZY_FETCH: "1",
  LC_ALL: "C.UTF-8",
};

const MERGE_TEXT = "git merge-file -q -L ours -L base -L theirs %A %O %B";

/** A subsection of these sections can name a program that calls of this extension would start. */
const OVERRIDDEN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  filter: { clean: "", smudge: "", process: "", required: "false" },
  merge: { driver: MERGE_TEXT },
  credential: { helper: "" },
  hook: { enabled: "false" },
};

/** A name may contain `=`, so the overrides are variables of the environment instead of arguments. */
export function overridesOf(names: readonly string[]): Readonly<Record<string, string>> {
  const overrides = names.flatMap((name): readonly (readonly [string, string])[] => {
    const [section = ""] = name.split(".", 1);
    // Git can read the name of its own subcommand, for example the strategy of a merge, as an alias.
    if (section.toLowerCase() === "alias") return [[name, ""]];
    const keys = OVERRIDDEN[section.toLowerCase()];
    if (!keys || name.split(".").length < 3) return [];
    const stem = name.slice(0, name.lastIndexOf("."));
    return Object.entries(keys).map(([key, value]) => [`${stem}.${key}`, value]);
  });
  const distinct = [...new Map([...overrides, [MARK, "1"] as const])];
  return {
    GIT_CONFIG_COUNT: String(distinct.length),
    ...Object.fromEntries(distinct.flatMap(([name, value], at) => [
      [`GIT_CONFIG_KEY_${at}`, name],
      [`GIT_CONFIG_VALUE_${at}`, value],
    ])),
  };
}

export const MARK = "vis.mark";

/** Subsections of these sections include no file, and name no program that calls of this extension could start. */
const PLAIN_SECTIONS = new Set([
  "branch",
  "color",
  "commit",
  "core",
  "extensions",
  "fetch",
  "gc",
  "init",
  "pull",
  "push",
  "rebase",
  "remote",
  "status",
  "submodule",
  "tag",
  "user",
]);

export function specialSection(text: string): string | null {
  const names = [...text.matchAll(/\[\s*([^\s"\].]*)/g)].map(([, name = ""]) => name);
  return names.find((name) => !PLAIN_SECTIONS.has(name.toLowerCase())) ?? null;
}
