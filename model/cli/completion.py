"""Shell completion scripts, generated from the parser."""

from collections.abc import Iterable, Mapping, Sequence

from model.cli.command_parser import Parser

_BASH = """\
_spinney() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
    if [ "$COMP_CWORD" -eq 1 ]; then
        case "$word" in
            -*) COMPREPLY=($(compgen -W "{options}" -- "$word")) ;;
            *) COMPREPLY=($(compgen -W "{commands}" -- "$word") $(compgen -d -- "$word")) ;;
        esac
        return
    fi
    case "${{COMP_WORDS[1]}} $before" in
{values}
    esac
    case "${{COMP_WORDS[1]}} $word" in
        "call "*) _spinney_call "$word" ;;
        *" -"*) _spinney_options "$word" ;;
{names}
        *) _spinney_options "$word" ;;
    esac
}}
_spinney_options() {{
    case "${{COMP_WORDS[1]}}" in
{cases}
    esac
}}
_spinney_names() {{
    local word="$1" name
    shift
    while IFS= read -r name; do
        case "$name" in "$word"*) COMPREPLY+=("$name") ;; esac
    done < <(spinney {command} "$@" 2>/dev/null)
}}
_spinney_call() {{
    if [ "$COMP_CWORD" -eq 2 ]; then
        COMPREPLY=($(compgen -W "{called} --help" -- "$1"))
        return
    fi
    type compopt >/dev/null 2>&1 && compopt -o nospace
    case "${{COMP_WORDS[2]}}" in
{arguments}
    esac
}}
complete -o filenames -F _spinney spinney
"""

NAMES_COMMAND = "__names"
"""Prints the names that a completion script offers; not in the help."""

_BASH_NAMES = """\
        "{name} "*)
            COMPREPLY=($(compgen -W "{choices}" -- "$word"))
            _spinney_names "$word" {kinds} ;;"""
_BASH_VALUES = '        "{name} {option}") COMPREPLY=(); _spinney_names "$word" {kinds}; return ;;'
_BASH_CASE = '        {name}) COMPREPLY=($(compgen -W "{words}" -- "{given}")) ;;'


def completion_script(shell: str, parser: Parser, called: Mapping[str, Sequence[str]]) -> str:
    """The script for `bash`, `zsh` or `fish`; `called`: what can be called, with its arguments."""
    commands = {
        name: (its.about, [*_long(its.options), *its.choices])
        for name, its in parser.commands.items()
    }
    options = [*_long(parser.options), "--plain"]
    if shell == "fish":
        return _fish(commands, options, called, parser)
    script = _BASH.format(
        options=" ".join(options),
        commands=" ".join(commands),
        cases=_cases({n: words for n, (_, words) in commands.items() if n != "call"}, "$1"),
        names="\n".join(
            _BASH_NAMES.format(
                name=name, kinds=" ".join(its.names[""]), choices=" ".join(its.choices)
            )
            for name, its in parser.commands.items()
            if "" in its.names
        ),
        values="\n".join(
            _BASH_VALUES.format(name=name, option=option, kinds=" ".join(kinds))
            for name, its in parser.commands.items()
            for option, kinds in its.names.items()
            if option
        ),
        command=NAMES_COMMAND,
        called=" ".join(called),
        arguments=_cases({n: [f"{a}=" for a in names] for n, names in called.items()}, "$1"),
    )
    if shell == "zsh":
        return "autoload -U +X bashcompinit && bashcompinit\n" + script
    return script


def _cases(words_of: Mapping[str, Sequence[str]], given: str) -> str:
    return "\n".join(
        _BASH_CASE.format(name=name, words=" ".join(words), given=given)
        for name, words in words_of.items()
        if words
    )


def _long(options: Iterable[str]) -> list[str]:
    return [option for option in options if option.startswith("--")]


def _fish(
    commands: Mapping[str, tuple[str, list[str]]],
    options: Sequence[str],
    called: Mapping[str, Sequence[str]],
    parser: Parser,
) -> str:
    begin = "complete -c spinney"
    lines = [f"{begin} -n __fish_use_subcommand -a '{' '.join(options)}'"]
    for name, (text, words) in commands.items():
        quoted = text.replace("'", "\\'")
        lines.append(f"{begin} -n __fish_use_subcommand -a {name} -d '{quoted}'")
        if words:
            seen = f"'__fish_seen_subcommand_from {name}'"
            lines.append(f"{begin} -f -n {seen} -a '{' '.join(words)}'")
    for name, its in parser.commands.items():
        seen = f"'__fish_seen_subcommand_from {name}'"
        for option, kinds in its.names.items():
            offered = f"'({' '.join(['spinney', NAMES_COMMAND, *kinds])} 2>/dev/null)'"
            value = f" -x -l {option.removeprefix('--')}" if option else " -f"
            lines.append(f"{begin}{value} -n {seen} -a {offered}")
    first = "'__fish_seen_subcommand_from call; and test (count (commandline -opc)) -eq 2'"
    lines.append(f"{begin} -f -n {first} -a '{' '.join(called)}'")
    for name, arguments in called.items():
        seen = f"'__fish_seen_subcommand_from {name}'"
        given = " ".join(f"{argument}=" for argument in arguments)
        lines += [f"{begin} -f -n {seen} -a '{given}'"] if arguments else []
    return "\n".join(lines) + "\n"
