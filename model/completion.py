"""Completion scripts for shells, made from the command line's parser."""

import argparse

_BASH = """\
_spinney() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}"
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "{commands}" -- "$word") $(compgen -d -- "$word"))
        return
    fi
    case "${{COMP_WORDS[1]}}" in
{cases}
    esac
}}
complete -o filenames -F _spinney spinney
"""

_BASH_CASE = '        {name}) COMPREPLY=($(compgen -W "{words}" -- "$word")) ;;'


def completion_script(shell: str, parser: argparse.ArgumentParser) -> str:
    """The script for `bash`, `zsh` or `fish`."""
    commands = _commands(parser)
    if shell == "fish":
        return _fish(commands)
    cases = "\n".join(
        _BASH_CASE.format(name=name, words=" ".join(words))
        for name, (_, words) in commands.items()
        if words
    )
    script = _BASH.format(commands=" ".join(commands), cases=cases)
    if shell == "zsh":
        return "autoload -U +X bashcompinit && bashcompinit\n" + script
    return script


def _commands(parser: argparse.ArgumentParser) -> dict[str, tuple[str, list[str]]]:
    """Each command's help and the words that can follow it."""
    found = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            texts = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, command in action.choices.items():
                found[name] = (texts.get(name, ""), _words(command))
    return found


def _words(command: argparse.ArgumentParser) -> list[str]:
    words = []
    for action in command._actions:
        words += [option for option in action.option_strings if option.startswith("--")]
        words += [str(choice) for choice in action.choices or ()]
    return words


def _fish(commands: dict[str, tuple[str, list[str]]]) -> str:
    lines = []
    for name, (text, words) in commands.items():
        quoted = text.replace("'", "\\'")
        lines.append(f"complete -c spinney -n __fish_use_subcommand -a {name} -d '{quoted}'")
        if words:
            seen = f"'__fish_seen_subcommand_from {name}'"
            lines.append(f"complete -c spinney -f -n {seen} -a '{' '.join(words)}'")
    return "\n".join(lines) + "\n"
