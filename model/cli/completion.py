"""Shell completion scripts, generated from the parser."""

from collections.abc import Iterable, Mapping, Sequence

from model.cli.command_parser import Parser

_BASH = """\
_spinney() {{
    local word="${{COMP_WORDS[COMP_CWORD]}}"
    if [ "$COMP_CWORD" -eq 1 ]; then
        case "$word" in
            -*) COMPREPLY=($(compgen -W "{options}" -- "$word")) ;;
            *) COMPREPLY=($(compgen -W "{commands}" -- "$word") $(compgen -d -- "$word")) ;;
        esac
        return
    fi
    case "${{COMP_WORDS[1]}}" in
        call) _spinney_call "$word" ;;
{cases}
    esac
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

_BASH_CASE = '        {name}) COMPREPLY=($(compgen -W "{words}" -- "{given}")) ;;'


def completion_script(shell: str, parser: Parser, called: Mapping[str, Sequence[str]]) -> str:
    """The script for `bash`, `zsh` or `fish`; `called`: what can be called, with its arguments."""
    commands = {
        name: (its.about, [*_long(its.options), *its.choices])
        for name, its in parser.commands.items()
    }
    options = [*_long(parser.options), "--plain"]
    if shell == "fish":
        return _fish(commands, options, called)
    script = _BASH.format(
        options=" ".join(options),
        commands=" ".join(commands),
        cases=_cases({n: words for n, (_, words) in commands.items() if n != "call"}, "$word"),
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
) -> str:
    begin = "complete -c spinney"
    lines = [f"{begin} -n __fish_use_subcommand -a '{' '.join(options)}'"]
    for name, (text, words) in commands.items():
        quoted = text.replace("'", "\\'")
        lines.append(f"{begin} -n __fish_use_subcommand -a {name} -d '{quoted}'")
        if words:
            seen = f"'__fish_seen_subcommand_from {name}'"
            lines.append(f"{begin} -f -n {seen} -a '{' '.join(words)}'")
    first = "'__fish_seen_subcommand_from call; and test (count (commandline -opc)) -eq 2'"
    lines.append(f"{begin} -f -n {first} -a '{' '.join(called)}'")
    for name, arguments in called.items():
        seen = f"'__fish_seen_subcommand_from {name}'"
        given = " ".join(f"{argument}=" for argument in arguments)
        lines += [f"{begin} -f -n {seen} -a '{given}'"] if arguments else []
    return "\n".join(lines) + "\n"
