import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { giveTo, type Owner } from "./_place.ts";

export interface Planted {
  /** The owner of the files, if it is not the user who runs the tests. */
  readonly owner: Owner | null;
  readonly root: string;
  readonly workspace: string;
  /** The folders with a repository, relative to the workspace. */
  readonly tops: readonly string[];
  /** The file exists once a planted program has run. */
  readonly witness: string;
}

const FILTER =
  `git init -q . && mkdir tools && printf '#!/bin/sh\nexec cat\n' > tools/filter && chmod +x tools/filter &&
    echo '*.txt filter=own' > .gitattributes && echo a > a.txt`;

const COMMIT = "git add . && git commit -qm first";
/** `linked/../hooks` is `far/hooks`: the kernel follows the link first. */
const LINKED = `git init -q . && mkdir -p far/a far/hooks && ln -s far/a linked &&
    printf '#!/bin/sh\\n' > far/hooks/pre-commit && chmod +x far/hooks/pre-commit && printf '[core]\\n' > far/settings`;

/** The layouts of repositories in a workspace. The user runs the scripts in the workspace. */
export const LAYOUTS: Readonly<Record<string, string>> = {
  "a repository": "git init -q . && echo a > a.txt && git add . && git commit -qm first",
  "a worktree": `git init -q ../main && git -C ../main commit -q --allow-empty -m first &&
    rmdir ../workspace && git -C ../main worktree add -q ../workspace && cd ../workspace`,
  "a repository in another folder of the workspace":
    "git init -q --separate-git-dir=.bare . && echo a > a.txt && git add a.txt && git commit -qm first",
  "a bare repository and a worktree of it":
    `git init -q --bare .bare && echo 'gitdir: ./.bare' > .git && git config core.bare false && echo a > a.txt && git add a.txt && git commit -qm first`,
  "a link to its repository": "git init -q . && git commit -q --allow-empty -m first && mv .git own && ln -s own .git",
  "submodules and a repository below":
    `git init -q ../other && git -C ../other commit -q --allow-empty -m first && git init -q . &&
    git -c protocol.file.allow=always submodule --quiet add ../other logs && git -c protocol.file.allow=always submodule --quiet add ../other a/b/c/d/e &&
    git commit -qm first && git init -q deep/sub && git -C deep/sub commit -q --allow-empty -m first`,
  "hooks in the workspace":
    `git init -q . && mkdir -p tools/hooks && printf '#!/bin/sh\\n' > tools/hooks/pre-commit && chmod +x tools/hooks/pre-commit &&
    git config core.hooksPath tools/hooks && git add . && git commit -qm first`,
  "a folder for hooks that is missing":
    "git init -q . && git config core.hooksPath .husky/_ && git commit -q --allow-empty -m first",
  "hooks of a repository around it":
    "git init -q .. && git -C .. config core.hooksPath workspace/tools/hooks && echo a > a.txt && git add a.txt && git commit -qm first",
  "hooks of Husky":
    `git init -q . && mkdir -p .husky/_ && printf '#!/bin/sh\\nexec sh .husky/pre-commit\\n' > .husky/_/pre-commit && chmod +x .husky/_/pre-commit &&
    echo true > .husky/pre-commit && git config core.hooksPath .husky/_ && git add . && git commit -qm first`,
  "settings in the workspace":
    "git init -q . && printf '[core]\\n' > .gitsettings && git config include.path ../.gitsettings && git add . && git commit -qm first",
  "settings that are missing":
    "git init -q . && git config include.path ../.gitsettings && git config includeIf.onbranch:main.path ../more/settings && git commit -q --allow-empty -m first",
  "a filter in the workspace":
    `git init -q . && mkdir tools && printf '#!/bin/sh\\nexec cat\\n' > tools/filter && chmod +x tools/filter && echo '*.txt filter=own' > .gitattributes &&
    git config filter.own.clean 'tools/filter %f' && git config core.fsmonitor false && echo a > a.txt && git add . && git commit -qm first`,
  "a hook that is a link into the workspace":
    `git init -q . && mkdir tools && printf '#!/bin/sh\\n' > tools/check && chmod +x tools/check && ln -s ../../tools/check .git/hooks/pre-commit && git add . && git commit -qm first`,
  "links on the way to what settings name":
    `git init -q . && mkdir -p tools/hooks tools/more && printf '#!/bin/sh\\n' > tools/hooks/pre-commit && chmod +x tools/hooks/pre-commit && printf '[core]\\n' > tools/more/settings &&
    ln -s tools linked && ln -s linked/hooks hooks && git config core.hooksPath hooks && git config include.path ../linked/more/settings && git add . && git commit -qm first`,
  "links that lead nowhere":
    `git init -q . && git config extensions.worktreeConfig true && git commit -q --allow-empty -m first && rm -rf .git/hooks && ln -s ../missing .git/hooks && ln -s ../settings .git/config.worktree`,
  "another name in its settings":
    `ln -s workspace ../other && git init -q . && mkdir -p tools/hooks && printf '#!/bin/sh\\n' > tools/hooks/pre-commit && chmod +x tools/hooks/pre-commit &&
    git config core.hooksPath "$(cd .. && pwd)/other/tools/hooks" && git add . && git commit -qm first`,
  "a submodule that is not checked out":
    `git init -q ../other && git -C ../other commit -q --allow-empty -m first && git init -q . &&
    git -c protocol.file.allow=always submodule --quiet add ../other logs && git commit -qm first && git submodule --quiet deinit -f logs && rm -rf .git/modules`,
  "a filter that is missing":
    `git init -q . && mkdir tools && echo x > tools/keep && echo '*.txt filter=own' > .gitattributes && git config filter.own.clean './tools/filter %f' &&
    git add tools && git commit -qm first`,
  "a rebase that is not over":
    `git init -q . && echo a > a.txt && git add . && git commit -qm first && echo b > a.txt && git commit -qam second &&
    GIT_SEQUENCE_EDITOR="sed -i s/^pick/edit/" git rebase -q -i HEAD~1`,
  "settings in XDG_CONFIG_HOME":
    `git init -q . && mkdir -p ../xdg/git tools/hooks && printf '[core]\n\thooksPath = tools/hooks\n' > ../xdg/git/config && echo a > a.txt && git add . && git commit -qm first`,
  "a template for repositories":
    `git init -q . && mkdir -p tools/hooks && git config --global init.templateDir "$PWD/tools" && git commit -q --allow-empty -m first`,
  "a remote in the workspace":
    "git init -q --bare own/remote.git && git init -q . && git remote add origin own/remote.git && git commit -q --allow-empty -m first",
  "a remote that is missing":
    'git init -q . && git remote add origin "file://$PWD/own/remote.git" && mkdir own && git commit -q --allow-empty -m first',
  "a bare repository at its top":
    "git init -q ../other && git -C ../other commit -q --allow-empty -m first && git clone -q --bare ../other . && git worktree add -q main",
  "a bare repository at its top and hooks that are missing":
    `git init -q ../other && git -C ../other commit -q --allow-empty -m first && git clone -q --bare ../other . && git worktree add -q main &&
    git config core.hooksPath "$PWD/tools/hooks"`,
  "settings that the user's own lead to":
    `git init -q . && mkdir dotfiles && printf '[user]\n\tname = Ada\n' > dotfiles/gitconfig && echo : > dotfiles/bashrc &&
    ln -s "$PWD/dotfiles/gitconfig" ~/.gitconfig && ln -s "$PWD/dotfiles/bashrc" ~/.bashrc && git add . && git commit -qm first`,
  "a filter with a blank in its name":
    `${FILTER} && mv tools 'my tools' && git config filter.own.clean "'my tools/filter' %f" && git add . && git commit -qm first`,
  "a filter behind a variable":
    `${FILTER} && git config filter.own.clean '"$PWD/tools/filter" %f' && git add . && git commit -qm first`,
  "a filter in code":
    `${FILTER} && git config filter.own.clean 'f() { cd tools && ./filter; }; f' && git add . && git commit -qm first`,
  "a filter in code in quotes":
    `${FILTER} && git config filter.own.clean 'sh -c "exec sh -e tools/filter"' && git add . && git commit -qm first && git rm -q --cached tools/filter && rm tools/filter`,
  "a repository in packages":
    "git init -q . && git commit -q --allow-empty -m first && git init -q node_modules/own && git -C node_modules/own commit -q --allow-empty -m first",
  "a repository behind many folders":
    "git init -q . && git commit -q --allow-empty -m first && mkdir many && (cd many && seq 3000 | xargs mkdir) && git init -q z/y/x && git -C z/y/x commit -q --allow-empty -m first",
  "a submodule with longer hashes":
    `git init -q --object-format=sha256 ../other && git -C ../other commit -q --allow-empty -m first && git init -q --object-format=sha256 . && echo a > a && git add a &&
    git -c protocol.file.allow=always submodule --quiet add ../other logs && git commit -qm first && git submodule --quiet deinit -f logs && rm -rf .git/modules`,
  "a repository around it, of which it is a submodule":
    `git init -q ../other && git -C ../other commit -q --allow-empty -m first && rmdir ../workspace && git init -q .. &&
    git -C .. -c protocol.file.allow=always submodule --quiet add "$(dirname "$PWD")/other" workspace && git -C .. commit -qm first`,
  "a repository that is missing":
    `mkdir own && git init -q --separate-git-dir=own/repository.git . && echo a > a.txt && git add . && git commit -qm first && rm -rf own/repository.git`,
  "hooks above the target of a link": `${LINKED} && git config core.hooksPath linked/../hooks && ${COMMIT}`,
  "hooks in the folder above the target of a link":
    `${LINKED} && mv far/hooks/* far/ && git config core.hooksPath linked/.. && ${COMMIT}`,
  "settings above the target of a link": `${LINKED} && git config include.path ../linked/../settings && ${COMMIT}`,
  "settings in a home folder that lead above the target of a link":
    `${LINKED} && ln -s "$PWD/linked" ~/inner && git config --global include.path '~/inner/../settings' && ${COMMIT}`,
  "a filter above the target of a link":
    `${FILTER} && mkdir -p far/a && mv tools far/tools && ln -s far/a linked && git config filter.own.clean 'linked/../tools/filter %f' && ${COMMIT}`,
  "a repository behind a link":
    `${LINKED} && git init -q --separate-git-dir=far/a/own . && echo 'gitdir: linked/own' > .git && ${COMMIT}`,
  "a repository above the target of a link":
    `${LINKED} && git init -q --separate-git-dir=far/own . && echo 'gitdir: linked/../own' > .git && ${COMMIT}`,
  "a repository that is missing above the target of a link":
    `${LINKED} && mkdir -p far/own && rm -rf .git && echo 'gitdir: linked/../own/repository.git' > .git`,
  "a common folder behind a link":
    `${LINKED} && git init -q . && git commit -q --allow-empty -m first && git worktree add -q tree && mv .git far/a/own && ln -s far/a/own .git &&
    echo "../../../../../linked/own" > far/a/own/worktrees/tree/commondir && echo "gitdir: $PWD/far/a/own/worktrees/tree" > tree/.git`,
  "a remote above the target of a link":
    `${LINKED} && git init -q --bare far/remote.git && git remote add origin linked/../remote.git && ${COMMIT}`,
  "a submodule above the target of a link":
    `${LINKED} && git init -q ../other && git -C ../other commit -q --allow-empty -m first &&
    git -c protocol.file.allow=always submodule --quiet add ../other far/logs && git commit -qm first && git -C far/logs config core.worktree ../../../../linked/../logs`,
  "a variable that names settings in the workspace":
    "git init -q . && mkdir dotfiles && echo '[user]' > dotfiles/global && git add . && git commit -qm first && touch ~/names-settings",
  "files in another folder than its repository":
    `git init -q . && mkdir -p src/tools && printf '#!/bin/sh\nexit 1\n' > src/tools/filter && chmod +x src/tools/filter && git config core.worktree ../src &&
    git config core.fsmonitor tools/filter && git commit -q --allow-empty -m first`,
  "a remote whose address a setting replaces":
    `git init -q . && git remote add origin https://host.invalid/remote.git && git config url."$PWD/own/".insteadOf https://host.invalid/ && mkdir own && git commit -q --allow-empty -m first`,
  "no repository": ":",
};

/** For each layout, a plant that works without the wall. The others may be in its way. */
export const WORKS: Readonly<Record<keyof typeof LAYOUTS, keyof typeof PLANTS>> = {
  "a repository": "adds to settings",
  "a worktree": "puts a link in the place of the repository",
  "a repository in another folder of the workspace": "adds to settings",
  "a bare repository and a worktree of it": "adds to settings",
  "a link to its repository": "adds to settings",
  "submodules and a repository below": "moves the folder of a repository below",
  "hooks in the workspace": "changes hooks that settings name",
  "a folder for hooks that is missing": "changes hooks that settings name",
  "hooks of Husky": "changes hooks that settings name",
  "hooks of a repository around it": "changes hooks that settings name",
  "settings in the workspace": "changes settings that are included",
  "settings that are missing": "changes settings that are included",
  "a filter in the workspace": "changes scripts that settings name",
  "a hook that is a link into the workspace": "changes scripts that settings name",
  "links on the way to what settings name": "replaces links",
  "links that lead nowhere": "makes what links lead to",
  "another name in its settings": "changes hooks that settings name",
  "a submodule that is not checked out": "makes a repository where a submodule belongs",
  "a filter that is missing": "changes scripts that settings name",
  "a rebase that is not over": "writes a todo list",
  "settings in XDG_CONFIG_HOME": "changes hooks that settings name",
  "a template for repositories": "changes hooks that settings name",
  "a remote in the workspace": "changes a remote",
  "a remote that is missing": "changes a remote",
  "a bare repository at its top": "adds to settings",
  "a bare repository at its top and hooks that are missing": "changes hooks that settings name",
  "settings that the user's own lead to": "changes the user's settings",
  "a filter with a blank in its name": "changes scripts that settings name",
  "a filter behind a variable": "changes scripts that settings name",
  "a filter in code": "changes scripts that settings name",
  "a filter in code in quotes": "changes scripts that settings name",
  "a repository in packages": "adds to settings",
  "a repository behind many folders": "adds to settings",
  "a submodule with longer hashes": "makes a repository where a submodule belongs",
  "a repository around it, of which it is a submodule": "puts a link in the place of the repository",
  "a repository that is missing": "makes the repository that is missing",
  "hooks above the target of a link": "changes files above the target of a link",
  "hooks in the folder above the target of a link": "changes files above the target of a link",
  "settings above the target of a link": "changes files above the target of a link",
  "settings in a home folder that lead above the target of a link": "changes files above the target of a link",
  "a filter above the target of a link": "changes files above the target of a link",
  "a repository behind a link": "leads a link to another repository",
  "a repository above the target of a link": "leads a link to another repository",
  "a repository that is missing above the target of a link": "changes files above the target of a link",
  "a common folder behind a link": "leads a link to another repository",
  "a remote above the target of a link": "changes files above the target of a link",
  "a submodule above the target of a link": "adds to settings",
  "a variable that names settings in the workspace": "changes the user's settings",
  "files in another folder than its repository": "changes scripts in another folder with the files",
  "a remote whose address a setting replaces": "changes a remote",
  "no repository": "makes a repository at the top",
};

/** These work in a folder inside a repository, as they do in its root. */
export const AT_FOLDERS: readonly (keyof typeof PLANTS)[] = [
  "makes a repository at the top",
  "makes the top itself a repository",
  "makes the top itself a repository with another common folder",
];

/** The attempts of a command. `$EVIL` is a script that makes the witness, and `$SET` a setting that names it. */
export const PLANTS: Readonly<Record<string, string>> = {
  "adds to settings": 'for d in $DIRS; do printf "$SET" >> $d/config; done',
  "makes settings of a worktree":
    'for d in $DIRS; do git config extensions.worktreeConfig true; printf "$SET" > $d/config.worktree; done',
  "replaces settings": 'for d in $DIRS; do printf "$SET" > new; mv -f new $d/config; done',
  "removes settings first": 'for d in $DIRS; do rm -f $d/config; printf "$SET" > $d/config; done',
  "links settings": 'printf "$SET" > mine; for d in $DIRS; do ln -sf "$PWD/mine" $d/config; done',
  "uses git config": 'git config core.fsmonitor "$EVIL"; git config core.hooksPath "$PWD/evil"',
  "makes hooks":
    "for d in $DIRS; do for h in pre-commit post-commit post-checkout post-index-change; do cp $EVIL $d/hooks/$h; done; done",
  "replaces the folder of hooks": 'for d in $DIRS; do rm -rf $d/hooks; ln -s "$PWD/evil" $d/hooks; done',
  "renames the folder of hooks": "for d in $DIRS; do mv $d/hooks $d/old; cp -r evil $d/hooks; done",
  "changes hooks that settings name":
    "for f in tools/hooks .husky/_ .husky; do mkdir -p $f; cp evil/* $f/; done; ls tools/hooks",
  "moves the folder of hooks that settings name":
    "mv tools tools2; mkdir -p tools/hooks; cp evil/* tools/hooks/; cp $EVIL tools/check; cp $EVIL tools/filter",
  "replaces links":
    'rm -f linked hooks; mkdir -p linked/hooks linked/more hooks; cp evil/* linked/hooks/; cp evil/* hooks/; printf "$SET" > linked/more/settings',
  "changes files above the target of a link":
    `for f in far/hooks far/remote.git/hooks; do cp evil/* $f/; done; cp evil/pre-commit evil/post-commit far/; cat $EVIL > far/tools/filter; printf "$SET" >> far/settings
    git init -q --bare far/own/repository.git; git -C far/own/repository.git config core.bare false; printf "$SET" >> far/own/repository.git/config`,
  "leads a link to another repository":
    `mkdir -p new/a; for d in new/a/own new/own; do git init -q --bare $d; git -C $d config core.bare false; git -C $d config --unset core.worktree; printf "$SET" >> $d/config; done; rm linked; ln -s new/a linked`,
  "leads a link to other hooks":
    `mkdir -p new/a new/hooks new/tools; cp evil/* new/hooks/; cp evil/* new/; cp $EVIL new/tools/filter; printf "$SET" > new/settings; git init -q --bare new/remote.git; cp evil/* new/remote.git/hooks/; rm linked; ln -s new/a linked`,
  "makes what links lead to": 'mkdir -p missing; cp evil/* missing/; printf "$SET" > settings',
  "makes a repository where a submodule belongs":
    'git init -q logs; git -C logs commit -q --allow-empty -m x; printf "$SET" >> logs/.git/config; git init -q w2; printf "$SET" >> w2/.git/config; mv -T w2/.git logs/.git',
  "changes scripts that settings name":
    'for f in tools/check tools/filter \'my tools/filter\'; do cat $EVIL > "$f"; rm -f "$f"; cp $EVIL "$f"; cp evil/post-commit new; mv -f new "$f"; done',
  "changes scripts in another folder with the files":
    "cat $EVIL > src/tools/filter; rm -f src/tools/filter; mkdir -p src/tools; cp $EVIL src/tools/filter",
  "changes a remote":
    'git init -q --bare own/remote.git; cp $EVIL own/remote.git/hooks/pre-receive; mv own/remote.git own/old; git init -q --bare own/remote.git; cp $EVIL own/remote.git/hooks/pre-receive; printf "$SET" >> own/remote.git/config',
  "makes another common folder at the top":
    'git init -q --bare evilcommon; printf "$SET" >> evilcommon/config; echo "$PWD/evilcommon" > commondir; printf "$SET" > config.worktree',
  "changes the user's settings":
    'printf "$SET" >> dotfiles/gitconfig; echo ". $EVIL" >> dotfiles/bashrc; rm -f dotfiles/gitconfig; printf "$SET" > dotfiles/gitconfig; printf "$SET" > dotfiles/global; mv dotfiles d2; mkdir dotfiles; printf "$SET" > dotfiles/gitconfig; printf "$SET" > dotfiles/global; echo ". $EVIL" > dotfiles/bashrc',
  "changes settings that are included":
    'mkdir -p more; for f in .gitsettings more/settings; do printf "$SET" >> $f; rm -f $f; printf "$SET" > $f; done',
  "moves the repository":
    'for d in $TOPS; do mv $d/.git $d/old; mkdir $d/.git; cp -r $d/old/. $d/.git; printf "$SET" >> $d/.git/config; done',
  "puts a file in the place of the repository":
    'cp -r .git evil.git 2>/dev/null || cp -r .bare evil.git; printf "$SET" >> evil.git/config; rm -rf .git; echo "gitdir: evil.git" > .git',
  "puts a link in the place of the repository":
    'git init -q evil2; printf "$SET" >> evil2/.git/config; rm -rf .git; ln -sfn evil2/.git .git; mv -T evil2/.git .git',
  "moves the folder of a repository below":
    'for d in logs deep deep/sub a a/b; do mv $d $d.old; mkdir -p $d; done; for d in logs deep/sub a/b/c/d/e; do git init -q $d; printf "$SET" >> $d/.git/config; cp evil/* $d/.git/hooks/; done',
  "removes a repository below":
    'for d in logs deep a; do rm -rf $d; done; for d in logs deep/sub a/b/c/d/e; do git init -q $d; printf "$SET" >> $d/.git/config; done',
  "moves the workspace's files through a link":
    'ln -s . self; printf "$SET" >> self/.git/config; for h in pre-commit post-commit; do cp $EVIL self/.git/hooks/$h; done',
  "goes by its own root":
    'printf "$SET" >> /proc/self/root$PWD/.git/config; printf "$SET" >> /proc/self/cwd/.git/config; printf "$SET" >> /dev/fd/../cwd/.git/config',
  "opens settings for writing by perl":
    `perl -e 'for (glob(".git/config .bare/config .git")) { open(F, "+<", $_) and print F $ENV{SET} =~ s/\\\\n/\\n/gr; truncate($_, 0) }'`,
  "changes modes first": 'for d in $DIRS; do chmod -R u+rwX $d; chmod 777 $d/config; printf "$SET" >> $d/config; done',
  "exchanges two paths":
    `perl -e 'for (["tools", "tools3"], [".git", "evil.git"], ["logs", "x"]) { mkdir "$_->[1]"; syscall(316, -100, $_->[0], -100, $_->[1], 2) }'; mkdir -p tools/hooks; cp evil/* tools/hooks/; printf "$SET" >> .git/config`,
  "links files hard":
    'for d in $DIRS; do ln $d/config hard && printf "$SET" >> hard; ln $d/HEAD head && echo x > head; done; ln tools/check hard2 && cat $EVIL > hard2',
  "gives attributes":
    'for d in $DIRS; do mkdir -p $d/info; echo "* filter=evil" > $d/info/attributes; done; printf "$SET" >> .gitconfig; git config filter.evil.clean "$EVIL"',
  "writes a todo list":
    'for d in $DIRS; do for f in rebase-merge/git-rebase-todo sequencer/todo; do echo "exec $EVIL" > $d/$f; done; done',
  "adds a rebase":
    'for d in $DIRS; do mkdir -p $d/rebase-merge; echo "exec $EVIL" > $d/rebase-merge/git-rebase-todo; done',
  "makes a repository at the top":
    'git init -q . ; printf "$SET" >> .git/config; for h in evil/*; do cp $h .git/hooks/; done',
  "makes a repository at the top by a bare one":
    'git init -q --bare evil.git; printf "$SET" >> evil.git/config; rmdir .git; mv -T evil.git .git; cp -r evil.git .git',
  "makes the top itself a repository":
    'mkdir -p objects refs; echo "ref: refs/heads/main" > HEAD; printf "[core]\\n\\trepositoryFormatVersion = 0\\n\\tbare = false\\n\\tworktree = .\\n$SET" > config',
  "makes the top itself a repository with another common folder":
    'git init -q --bare evil3.git; printf "[extensions]\\n\\tworktreeConfig = true\\n" >> evil3.git/config; echo evil3.git > commondir; echo "ref: refs/heads/main" > HEAD; printf "[core]\\n\\tbare = false\\n\\tworktree = .\\n$SET" > config.worktree',
  "starts many that wait for an end": '(setsid sh -c "sleep 0.3; printf \\"$SET\\" >> .git/config" > /dev/null 2>&1 &)',
  "names another common folder":
    'for d in $DIRS; do cp -r $d evilcommon; printf "$SET" >> evilcommon/config; echo "$PWD/evilcommon" > $d/commondir; done',
  "makes a submodule's repository":
    'mkdir -p .git/modules/x; git init -q --bare .git/modules/x; printf "$SET" >> .git/modules/x/config',
  "mounts over the repository":
    'unshare -rm sh -c "mount -t tmpfs none .git; mount --bind evil .git/hooks"; mount --bind evil .git; umount .git; umount -l .git/config; umount -l .',
  "uses the index to check out hooks":
    "mkdir -p w/.git/hooks; cp $EVIL w/.git/hooks/pre-commit; cp -r w/.git/. .git/; tar cf t.tar -C w . && tar xf t.tar; rsync -a w/ ./",
  "makes the repository that is missing":
    'git init -q --bare evil4.git; printf "$SET" >> evil4.git/config; git -C evil4.git config core.bare false; mv own own2; mkdir own; mv -T evil4.git own/repository.git',
  "fills the folders that are looked into":
    'mkdir many; cd many; seq 3000 | xargs mkdir; cd ..; printf "$SET" >> deep/sub/.git/config; printf "$SET" >> logs/.git',
};

const env = (root: string): Record<string, string> => ({
  HOME: join(root, "home"),
  PATH: "/usr/bin:/bin",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "Ada",
  GIT_AUTHOR_EMAIL: "ada@example.org",
  GIT_COMMITTER_NAME: "Ada",
  GIT_COMMITTER_EMAIL: "ada@example.org",
  GIT_EDITOR: "true",
  XDG_CONFIG_HOME: join(root, "xdg"),
  ...existsSync(join(root, "home/names-settings"))
    ? { GIT_CONFIG_GLOBAL: join(root, "workspace/dotfiles/global") }
    : {},
});

export async function asUser(
  script: string,
  { root, workspace, owner }: Pick<Planted, "root" | "workspace" | "owner">,
  cwd = workspace,
): Promise<string> {
  const { stdout, stderr } = await new Deno.Command("/bin/sh", {
    args: ["-c", script],
    cwd,
    clearEnv: true,
    env: env(root),
    stdin: "null",
    ...owner ?? {},
  }).output();
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}

/** A test starts Vis in this folder inside the repository. */
export const FOLDER = "started/here";

/** Makes a place with the layout. The witness is in the workspace, where commands could make it themselves, but do
 * not. */
export async function planted(
  layout: string,
  test: (place: Planted) => Promise<void>,
  { owner = null }: { readonly owner?: Owner | null } = {},
): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "vis-planting-" }));
  const workspace = join(root, "workspace"), witness = join(root, "out/witness");
  try {
    for (const path of [workspace, join(root, "home"), dirname(witness)]) await Deno.mkdir(path);
    if (owner !== null) await giveTo(owner, root);
    const user = { root, workspace, owner };
    await asUser(`git init -q --bare ../probe; ${LAYOUTS[layout]}`, user);
    const found = await asUser("find . -name .git -not -path './.git/*' | xargs -r -n1 dirname", user);
    await test({ ...user, witness, tops: found.split("\n").filter((top) => top !== "") });
  } finally {
    await new Deno.Command("/bin/rm", { args: ["-rf", root] }).output();
  }
}

export function planting(plants: readonly string[], { workspace, witness }: Planted): string {
  const evil = join(workspace, "evil/pre-commit");
  return `mkdir -p evil
printf '#!/bin/sh\\ntouch ${witness}\\ncat\\n' > evil/pre-commit; chmod +x evil/pre-commit
for h in post-commit post-checkout post-index-change post-rewrite pre-receive; do cp evil/pre-commit evil/$h; done
export EVIL=${evil} SET='\\n[core]\\n\\tfsmonitor = ${evil}\\n\\thooksPath = ${workspace}/evil\\n[filter "evil"]\\n\\tclean = ${evil}\\n[diff]\\n\\texternal = ${evil}\\n'
DIRS=$(find . -maxdepth 8 -name HEAD -not -path './evil*' -not -path '*/logs/HEAD' -not -path '*/refs/*' | xargs -r -n1 dirname)
TOPS=$(find . -maxdepth 8 -name .git | xargs -r -n1 dirname)
${plants.map((plant) => `(\n${plant}\n) 2>/dev/null`).join("\n")}
true`;
}

/** Returns the user's later commands, in the workspace and in every repository that existed before. */
export const uses = (tops: readonly string[]): string =>
  `for d in . ${FOLDER} ${tops.join(" ")}; do ( cd $d 2>/dev/null || exit
  git status; git diff; git log -1; echo x >> a.txt; git add a.txt; git diff HEAD; git commit -qam x
  git rebase --continue; git checkout -q -b other; git stash; git stash pop; git push origin HEAD:refs/heads/new
) > /dev/null 2>&1 < /dev/null; done
(git init -q ~/new; git -C ~/new commit -q --allow-empty -m x; . ~/.bashrc) > /dev/null 2>&1 < /dev/null`;
