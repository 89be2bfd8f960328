/**
 * Scripts that complete what is typed in a shell. Each asks the program's hidden command `__complete`, which answers as that of cobra does:
 * a candidate on each line, with a tab in front of a description, and `:` with a directive (2: no blank behind it, 4: no files) at the end.
 */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** @param program its name as it is typed */
export function completionScript(shell: Shell, program: string): string {
  return SCRIPTS[shell].replaceAll('PROGRAM', program).replaceAll('FUNCTION', `_${program.replaceAll('-', '_')}_complete`);
}

const BASH = String.raw`# bash completion of PROGRAM: source <(PROGRAM completion bash)
FUNCTION() {
  local answer directive line typed="\${COMP_WORDS[COMP_CWORD]}"
  answer=$(PROGRAM __complete "\${COMP_WORDS[@]:1:COMP_CWORD-1}" "$typed" 2>/dev/null) || return
  directive=\${answer##*:}
  COMPREPLY=()
  while IFS= read -r line; do
    [[ $line == :* || -z $line ]] || COMPREPLY+=("\${line%%$'\t'*}")
  done <<<"$answer"
  if ((directive & 2)); then compopt -o nospace; fi
  if ((\${#COMPREPLY[@]} == 0 && !(directive & 4))); then compopt -o default; fi
}
complete -F FUNCTION PROGRAM
`;

const ZSH = String.raw`#compdef PROGRAM
# zsh completion of PROGRAM: PROGRAM completion zsh > "\${fpath[1]}/_PROGRAM"
FUNCTION() {
  local -a lines
  local line directive
  lines=("\${(@f)$(PROGRAM __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  directive=\${lines[-1]#:}
  lines=("\${(@)lines[1,-2]}")
  for line in "\${(@)lines}"; do
    if ((directive & 2)); then compadd -S '' -- "\${line%%$'\t'*}"; else compadd -- "\${line%%$'\t'*}"; fi
  done
  ((directive & 4)) || _files
}
# Autoloaded, the file itself is run as the function when it is first needed.
if [[ \${funcstack[1]} == _PROGRAM ]]; then FUNCTION "$@"; else compdef FUNCTION PROGRAM; fi
`;

const FISH = String.raw`# fish completion of PROGRAM: PROGRAM completion fish > ~/.config/fish/completions/PROGRAM.fish
function FUNCTION
  set -l words (commandline -opc)
  set -l typed (commandline -ct)
  set -l lines (PROGRAM __complete $words[2..-1] "$typed" 2>/dev/null)
  set -l directive (string replace ':' '' -- $lines[-1])
  string match -v ':*' -- $lines
  if test (math "bitand($directive, 4)") = 0
    __fish_complete_path "$typed"
  end
end
complete -c PROGRAM -f -a '(FUNCTION)'
`;

const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: BASH.replaceAll('\\$', '$'),
  zsh: ZSH.replaceAll('\\$', '$'),
  fish: FISH,
};
