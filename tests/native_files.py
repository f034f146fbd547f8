"""Tiny question-answering files in the native formats, all invented."""

import gzip
import json
from pathlib import Path
from typing import Any

PEOPLE = ["Ada Brook", "Ben Cairn", "Cleo Dunes", "Dov Estuary", "Eva Fjord", "Finn Glen"]
TOWNS = ["Northmere", "Southwick", "Eastvale", "Westholm", "Midbury", "Overton"]
RIVERS = ["Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir"]


def two_hop(number: int) -> dict[str, Any]:
    """Which river flows through the birthplace of a person? Two needed passages, three others."""
    person, town, river = PEOPLE[number], TOWNS[number], RIVERS[number]
    context = [
        [person, [f"{person} is a painter.", f"The painter was born in {town}."]],
        [f"{town} Town", [f"{town} is a town on the {river} River.", "It has a market."]],
        [f"Old Market Town {number}", [f"An old market where number {number} trams stop."]],
        [f"Painter {number}", [f"A guild of painters with {number} hundred members."]],
        [f"Harbour {number}", [f"Harbour number {number} lies far from anything else."]],
    ]
    return {
        "_id": f"hop{number}",
        "question": f"Which river flows through the birthplace of {person}?",
        "answer": f"{river} River",
        "supporting_facts": [[person, 1], [f"{town} Town", 0]],
        "context": context,
    }


def two_wiki(number: int) -> dict[str, Any]:
    row = two_hop(number)
    person, town, river = PEOPLE[number], TOWNS[number], RIVERS[number]
    evidences = [[person, "birthplace", town], [f"{town} Town", "river", f"{river} River"]]
    return row | {"evidences": evidences}


def musique(number: int, answerable: bool = True) -> dict[str, Any]:
    row = two_hop(number)
    paragraphs = [
        {"idx": place, "title": title, "paragraph_text": " ".join(text), "is_supporting": place < 2}
        for place, (title, text) in enumerate(row["context"])
    ]
    if not answerable:
        paragraphs[1] |= {"paragraph_text": "A town without water.", "is_supporting": False}
    return {
        "id": row["_id"],
        "question": row["question"],
        "answer": row["answer"],
        "answer_aliases": [RIVERS[number] + " brook"],
        "answerable": answerable,
        "paragraphs": paragraphs,
        "question_decomposition": [
            {"id": 1, "question": "born in", "answer": TOWNS[number], "paragraph_support_idx": 0},
            {"id": 2, "question": "#1 river", "answer": row["answer"], "paragraph_support_idx": 1},
        ],
    }


def squad() -> dict[str, Any]:
    def asked(name: str, question: str, answer: str = "") -> dict[str, Any]:
        answers = [{"text": answer, "answer_start": 0}] * 2 if answer else []
        return {"id": name, "question": question, "answers": answers, "is_impossible": not answer}

    first = {
        "context": "The mill was built in 1820 by Orla Quist.",
        "qas": [
            asked("a1", "Who built the mill?", "Orla Quist"),
            asked("a2", "When was the mill built?", "1820"),
            asked("a3", "Who tore down the mill?"),
        ],
    }
    second = {"context": "The lighthouse is white.", "qas": [asked("b1", "What is white?", "The lighthouse")]}
    return {"version": "v2.0", "data": [{"title": "Old_Mill", "paragraphs": [first, second]}]}


FACTS = [
    ("who wrote the song silver lanterns", "Mara Venn", "The song Silver Lanterns was written by Mara Venn."),
    ("who sang the song silver lanterns", "Otto Lind", "Otto Lind sang Silver Lanterns, a song of 1971."),
    ("when was the glass bridge opened", "1911", "The Glass Bridge was opened in 1911 by the mayor."),
    ("who designed the glass bridge", "Ines Roth", "The Glass Bridge, a work of Ines Roth, spans a canal."),
]


def nq(number: int) -> dict[str, Any]:
    question, answer, text = FACTS[number]
    gold = {"title": f"Page {number}", "text": text, "hasanswer": True, "isgold": True}
    other = {"title": "Elsewhere", "text": "Nothing here.", "hasanswer": False, "isgold": False}
    return {"question": question, "answers": [answer], "ctxs": [other, gold]}


def write_json(path: Path, value: Any, **layout: Any) -> Path:
    path.write_text(json.dumps(value, **layout), encoding="utf-8")
    return path


def write_lines(path: Path, rows: list[Any]) -> Path:
    text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path
