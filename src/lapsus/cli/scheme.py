"""`lapsus scheme`: the guidelines, ours and a team's own."""

from pathlib import Path

import typer

from lapsus.cli.help_words import Group
from lapsus.cli.output import (
    aside,
    in_words,
    out,
    print_json,
    print_table,
    reader_language,
    remark,
    say,
    word,
)
from lapsus.errors import InputError, UsageError
from lapsus.formats.sink import put_in_place
from lapsus.model import Question, Scheme, in_language
from lapsus.notices import Notice
from lapsus.schemes import check_scheme, load_scheme, scheme_names
from lapsus.text_files import read_text

app = Group("scheme", "Show, check and print guidelines.")


@app.command("list")
def list_command(lang: str | None = None, as_json: bool = False) -> None:
    """List the schemes."""
    schemes = [load_scheme(name) for name in scheme_names()]
    language = _language(schemes[0], lang)
    if as_json:
        print_json(
            [
                {
                    "name": s.id,
                    "version": s.version,
                    "title": s.title,
                    "languages": s.languages,
                    "unit": s.unit.role,
                }
                for s in schemes
            ]
        )
        return
    rows = [(s.id, s.version, ", ".join(s.languages), in_language(s.title, language)) for s in schemes]
    print_table(("scheme", "version", "languages", "title"), rows)


@app.command("show")
def show_command(name: str, lang: str | None = None, as_json: bool = False) -> None:
    """Show a scheme: what is judged, which questions, which labels."""
    scheme = load_scheme(name)
    if as_json:
        print_json(scheme)
        return
    language = _language(scheme, lang)
    console = out()
    console.print(in_language(scheme.title, language), style="bold", markup=False)
    unit, context = word(scheme.unit.role), word(scheme.unit.context)
    told = in_words("unit-context", id=scheme.id, version=scheme.version, unit=unit, context=context)
    console.print(told, style="dim", markup=False)
    console.print(in_language(scheme.summary, language), markup=False)
    for question in scheme.questions:
        _show_question(scheme, question, language)
    for listed in scheme.lists:
        console.print(f"\n{in_language(listed.title, language)} · {listed.id}", style="bold", markup=False)
        rows = [
            (
                in_language(group.name, language) if place == 0 else "",
                item.sign or "",
                item.id,
                in_language(item.name, language),
                in_language(item.definition, language),
            )
            for group in listed.groups
            for place, item in enumerate(group.items)
        ]
        print_table(("group", "", "label", "name", "definition"), rows)


def _language(scheme: Scheme, wanted: str | None) -> str:
    """The language asked for, which the scheme must have; else the reader's, if the scheme has it."""
    if wanted is not None and wanted not in scheme.languages:
        known = ", ".join(scheme.languages)
        raise UsageError("not-written", hint="languages", id=scheme.id, language=wanted, known=known)
    language = wanted or reader_language()
    return language if language in scheme.languages else scheme.languages[0]


def _show_question(scheme: Scheme, question: Question, language: str) -> None:
    console = out()
    console.print()
    needed = "" if question.required else aside(word("optional"))
    console.print(
        f"{in_language(question.name, language)} · {question.id}: {question.kind}{needed}",
        style="bold",
        markup=False,
    )
    console.print(in_language(question.ask, language), markup=False)
    if question.levels:
        levels = [(level.value, in_language(level.meaning, language)) for level in question.levels]
        print_table(("", "meaning"), levels)
    if question.labels_from:
        console.print(in_words("labels-list", labels_from=question.labels_from), markup=False)
    elif question.labels:
        rows = [
            (
                label.number if label.number is not None else label.key or "",
                label.id,
                in_language(label.name, language),
                in_language(label.definition, language).replace("\n", " "),
            )
            for label in scheme.labels_of(question)
        ]
        print_table(("", "label", "name", "definition"), rows)


@app.command("check")
def check_command(file: Path, as_json: bool = False) -> None:
    """Check a scheme file; every problem is named with its line and rule."""
    try:
        text = read_text(file)
    except UnicodeDecodeError as error:
        raise InputError("not-utf-8-text", where=str(file), error=error) from error
    _, problems = check_scheme(text, file.name)
    errors = sum(problem.severe for problem in problems)
    if as_json:
        print_json(
            {"file": str(file), "errors": errors, "problems": [problem._asdict() for problem in problems]}
        )
    else:
        for problem in problems:
            kind = word("error" if problem.severe else "advice")
            typer.echo(f"{file}:{problem.line}: {kind}: {in_words(problem.message)} [{problem.rule}]")
        say(
            Notice("errors-pieces-advice", file=file, errors=errors, count=len(problems) - errors)
            if problems
            else Notice("fine", file=file)
        )
    if errors:
        raise typer.Exit(1)


@app.command("draft")
def draft_command(findings: Path, target: Path, lang: str | None = None, overwrite: bool = False) -> None:
    """Draft a scheme to edit from the findings of a check: a label a group, with its replies as examples."""
    import yaml

    from lapsus.log_check.scheme_draft import draft
    from lapsus.word_files import LANGUAGES

    if lang is not None and lang not in LANGUAGES:
        raise UsageError("report-not-written", hint="languages", words=lang, known=", ".join(LANGUAGES))
    name = "".join(sign if sign.isalnum() and sign.isascii() else "-" for sign in target.stem.lower())
    scheme, groups = draft(findings, name.strip("-") or "draft", lang or reader_language())
    text = yaml.safe_dump(scheme, allow_unicode=True, sort_keys=False, width=120)
    with put_in_place(target, overwrite=overwrite) as written:
        written.write_text(text, encoding="utf-8", errors="replace")
    labels = len(scheme["questions"][0]["labels"])
    remark("labels-of-groups", count=labels, groups=len(groups.groups), turns=groups.turns, target=target)


@app.command("manual")
def manual_command(name: str, target: Path, lang: str | None = None, overwrite: bool = False) -> None:
    """Write a scheme as a printable page."""
    from lapsus.schemes.manual import manual

    scheme = load_scheme(name)
    page = manual(scheme, _language(scheme, lang))
    with put_in_place(target, overwrite=overwrite) as draft:
        draft.write_text(page, encoding="utf-8")
    remark(f"{name} → {target}")


@app.command("brat")
def brat_command(project: Path, target: Path, overwrite: bool = False) -> None:
    """Write the scheme under which the marks of others' brat projects are read."""
    import msgspec
    import yaml

    from lapsus.formats import Source
    from lapsus.formats.brat import foreign_project

    found = foreign_project(Source(project))
    if found is None:
        raise InputError("no-annotation-conf-entities", where=str(project), hint="give-folder-holds-other")
    text = yaml.safe_dump(msgspec.to_builtins(found.scheme), allow_unicode=True, sort_keys=False)
    with put_in_place(target, overwrite=overwrite) as draft:
        draft.write_text(text, encoding="utf-8")
    remark("labels", id=found.scheme.id, count=len(found.scheme.questions[0].labels), target=target)


@app.command("labelstudio")
def labelstudio_command(
    name: str, target: Path | None = None, lang: str | None = None, overwrite: bool = False
) -> None:
    """Write the labelling interface that asks a scheme's questions in Label Studio."""
    from lapsus.formats.labelstudio_answers import labelling_interface

    scheme = load_scheme(name)
    interface = labelling_interface(scheme, _language(scheme, lang))
    if target is None:
        typer.echo(interface, nl=False)
        return
    with put_in_place(target, overwrite=overwrite) as draft:
        draft.write_text(interface, encoding="utf-8")
    remark(f"{name} → {target}")


@app.command("prompt")
def prompt_command(
    name: str,
    lang: str | None = None,
    examples: int | None = None,
    aligned: Path | None = None,
    as_json: bool = False,
) -> None:
    """Print what a language model is told, and the JSON schema of its answer."""
    from lapsus.annotators.language_model import make_prompt
    from lapsus.annotators.language_model.aligned import read_aligned

    scheme = load_scheme(name)
    fitted = None if aligned is None else read_aligned(aligned)
    language = lang if fitted is not None else _language(scheme, lang)
    prompt = make_prompt(scheme, language, examples=examples, aligned=fitted)
    if as_json:
        print_json(
            {
                "scheme": scheme.id,
                "version": scheme.version,
                "language": prompt.language,
                "digest": prompt.digest,
                "system": prompt.system,
                "schema": prompt.schema,
            }
        )
        return
    typer.echo(prompt.system)
    typer.echo("\n# JSON schema\n")
    print_json(prompt.schema)
    remark("prompt", id=scheme.id, version=scheme.version, language=prompt.language, digest=prompt.digest)
