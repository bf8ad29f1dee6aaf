/** Shells that `vis completions` supports. */
export type Shell = "bash" | "zsh" | "fish";

/** The script that makes a shell complete `vis`. It calls `vis __complete -- WORD…`, which prints one of :none, :files
 * and :folders, then one candidate per line: the word, a tab and its description. */
export function completionScript(shell: Shell): string {
  return SCRIPTS[shell];
}

const BASH = `# Completion of vis for bash: source <(vis completions bash)
_vis() {
  local word whole cut paths line i
  local -a words=() lines=()
  # Bash takes words apart at = and :, which names of models have.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if ((\${#words[@]} > 0)) && [[ $word == [:=]* || \${COMP_WORDS[i - 1]} == [:=] ]]; then
      words[\${#words[@]} - 1]+=$word
    else
      words+=("$word")
    fi
  done
  whole=\${words[\${#words[@]} - 1]}
  cut=\${whole%"\${whole##*[:=]}"}
  while IFS= read -r line; do lines+=("$line"); done < <("$1" __complete -- "\${words[@]}" 2>/dev/null)
  paths=\${lines[0]:-:none}
  COMPREPLY=()
  for line in "\${lines[@]:1}"; do
    line=\${line%%$'\\t'*}
    COMPREPLY+=("\${line#"$cut"}")
  done
  if [[ $paths == :none ]]; then return; fi
  compopt -o filenames 2>/dev/null
  word=\${whole#"$cut"}
  local kind=-f
  if [[ $paths == :folders ]]; then kind=-d; fi
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen "$kind" -- "$word")
}
complete -F _vis vis
`;

const ZSH = `#compdef vis
# Completion of vis for zsh: source <(vis completions zsh), or a file _vis in a folder of $fpath
_vis() {
  local paths line
  local -a lines described
  lines=("\${(@f)$("\${words[1]}" __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  paths=\${lines[1]:-:none}
  for line in "\${(@)lines[2,-1]}"; do
    described+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#described} )); then _describe -V 'vis' described; fi
  case $paths in
    :files) _files ;;
    :folders) _files -/ ;;
  esac
}
if [[ "\${funcstack[1]}" == _vis ]]; then _vis "$@"; else compdef _vis vis; fi
`;

const FISH = `# Completion of vis for fish: vis completions fish | source
function __vis_complete
    set -l before (commandline -opc)
    set -l last (commandline -ct)
    set -l lines ($before[1] __complete -- $before[2..-1] "$last" 2>/dev/null)
    for line in $lines[2..-1]
        echo $line
    end
    switch "$lines[1]"
        case :files
            __fish_complete_path "$last"
        case :folders
            __fish_complete_directories "$last" ''
    end
end
complete -c vis -f -a '(__vis_complete)'
`;

const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };
