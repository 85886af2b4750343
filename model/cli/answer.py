"""`spinney answer`: answer the question that a session waits for."""

from argparse import Namespace

from model.base.errors import UsageError
from model.base.standard_streams import write_json, write_output
from model.cli.lookup import Json
from model.cli.quick_call import connect_here
from model.cli.requests import describe_request, find_waiting_session


def answer(options: Namespace) -> int:
    """Answer it, or show it if no answer is given; returns the exit code."""
    with connect_here() as connection:
        session = find_waiting_session(connection, options.session, "question")
        request = session["request"]
        if not options.texts and not options.option:
            if options.json:
                write_json(request)
            else:
                write_output("".join(f"{line}\n" for line in describe_request(request)))
            return 0
        result = connection.call(
            "answer_question",
            sessionId=session["id"],
            requestId=request["id"],
            answer=_read_answer(request["questions"], options),
        )
    if options.json:
        write_json(result)
    else:
        write_output("Answered.\n")
    return 0


def _read_answer(questions: list[Json], options: Namespace) -> str | dict[str, str]:
    """Return the answers as `answer_question` takes them. Raises `UsageError`."""
    texts = options.texts
    if options.option:
        if texts:
            options.parser.error("give a text or --option")
        if len(options.option) != len(questions):
            raise UsageError(f"There are {len(questions)} questions: give --option for each.")
        texts = [_find_option(*pair) for pair in zip(questions, options.option, strict=True)]
    if len(texts) == 1:
        return str(texts[0])
    if len(texts) != len(questions):
        number = len(questions)
        raise UsageError(f"There are {number} questions: give one text, or {number} of them.")
    return dict(zip((question["question"] for question in questions), texts, strict=True))


def _find_option(question: Json, number: int) -> str:
    labels = [option["label"] for option in question["options"]]
    if number > len(labels):
        raise UsageError(f"The question has {len(labels)} options; there is no {number}.")
    return str(labels[number - 1])
