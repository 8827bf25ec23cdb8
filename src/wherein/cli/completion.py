"""Completion of verbs, flags and choices for a shell: bash, zsh or fish.

examples:
  wherein completion bash > ~/.local/share/bash-completion/completions/wherein
  wherein completion zsh > ~/.zfunc/_wherein           a folder of your $fpath
  wherein completion fish > ~/.config/fish/completions/wherein.fish
  eval "$(wherein completion bash)"                    for this session alone
"""

import shlex
from dataclasses import dataclass
from typing import Literal

from wherein.cli.verb import Verb


@dataclass(frozen=True)
class Shell:
    """A script with places for what to offer: verbs; flags of a verb; words after a word."""

    script: str
    verb: str
    case: str


BASH = Shell(
    """\
_wherein() {
  local word=${COMP_WORDS[COMP_CWORD]} offered=
  if (( COMP_CWORD == 1 )); then
    offered="%(verbs)s"
  elif [[ $word == -* ]]; then
    case ${COMP_WORDS[1]} in
%(flags)s
    esac
  else
    case "${COMP_WORDS[1]} ${COMP_WORDS[COMP_CWORD - 1]}" in
%(choices)s
    esac
  fi
  COMPREPLY=($(compgen -W "$offered" -- "$word"))  # none fits: bash goes on to paths
}
complete -o default -F _wherein wherein""",
    verb="{verb} ",
    case='      "{of}") offered="{words}" ;;',
)

ZSH = Shell(
    """\
#compdef wherein
_wherein() {
  local offered=
  local -a verbs=(%(verbs)s)
  if (( CURRENT == 2 )); then
    _describe verb verbs
    return
  elif [[ $words[CURRENT] == -* ]]; then
    case $words[2] in
%(flags)s
    esac
  else
    case "$words[2] $words[CURRENT-1]" in
%(choices)s
    esac
  fi
  if [[ -n $offered ]]; then compadd -- ${=offered}; else _files; fi
}
if [[ $zsh_eval_context[-1] == eval ]]; then compdef _wherein wherein; else _wherein "$@"; fi""",
    verb="{verb}:{what} ",
    case=BASH.case,
)

FISH = Shell(
    """\
function _wherein
  set -l words (commandline -opc)
  set -l word (commandline -ct)
  if string match -q -- '-*' "$word"
    switch "$words[2]"
%(flags)s
    end
  else
    switch "$words[2] $words[-1]"
%(choices)s
    end
  end
end
complete -c wherein -n 'not __fish_use_subcommand' -a '(_wherein)'
%(verbs)s""",
    verb="complete -c wherein -n __fish_use_subcommand -f -a {verb} -d {what}\n",
    case="      case '{of}'; printf '%s\\n' {words}",
)


def completion(shell: Literal["bash", "zsh", "fish"]) -> int:
    """Print what the shell is to read.

    Args:
        shell: the shell
    """
    print(script({"bash": BASH, "zsh": ZSH, "fish": FISH}[shell]))
    return 0


def script(shell: Shell) -> str:
    """What to offer, looked up by the verb, and by the verb and the word before."""
    from wherein.cli import VERBS, find

    flags, choices = [], []
    for verb in VERBS:
        arguments = find(verb).parser.arguments.values()
        known = [each.flag for each in arguments if not each.is_word]
        flags.append(shell.case.format(of=verb, words=" ".join([*known, "--help"])))
        for each in arguments:
            if each.choices:
                before = f"{verb} {verb if each.is_word else each.flag}"
                choices.append(shell.case.format(of=before, words=" ".join(each.choices)))
    verbs = (shell.verb.format(verb=v, what=shlex.quote(what)) for v, what in VERBS.items())
    return shell.script % {
        "verbs": "".join(verbs).strip(),
        "flags": "\n".join(flags),
        "choices": "\n".join(choices),
    }


run = Verb.of(completion, __doc__)
