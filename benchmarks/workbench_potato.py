"""Potato, filled and started as its manual says, and the requests that its page sends."""

from __future__ import annotations

import http.cookiejar
import json
import urllib.parse
import urllib.request
import uuid
from pathlib import Path
from typing import Any

import yaml

from workbench_material import CLIENTS, LABELS, PEOPLE, TURNS, Sizes, answer, chats, person
from workbench_process import Server, free_port, request

SCHEME = "breakdown"


def _config(port: int) -> dict[str, Any]:
    return {
        "annotation_task_name": "Chats",
        "task_dir": ".",
        "output_annotation_dir": "annotation_output",
        "export_annotation_format": "jsonl",
        "data_files": ["data/items.jsonl"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "annotation_schemes": [
            {
                "annotation_type": "radio",
                "name": SCHEME,
                "description": "Could the talk go on after the last turn?",
                "labels": list(LABELS),
            }
        ],
        "user_config": {"allow_all_users": True, "users": []},
        "require_password": False,
        "assignment_strategy": "fixed_order",
        "max_annotations_per_user": 1_000_000,
        "max_annotations_per_item": -1,
        "site_dir": "default",
        "server": {"port": port, "host": "127.0.0.1"},
    }


def unit_id(unit: int) -> str:
    return f"unit-{unit:06d}"


def make_project(folder: Path, sizes: Sizes) -> None:
    """The same chats; each turn to be judged is an item, with what was said before it."""
    (folder / "data").mkdir(parents=True)
    with (folder / "data" / "items.jsonl").open("w", encoding="utf-8") as file:
        unit = 0
        for document in chats(sizes):
            said = [f"{segment.role}: {segment.text}" for segment in document.segments]
            for place in range(TURNS):
                item = {"id": unit_id(unit), "text": "\n".join(said[: 2 * place + 2])}
                file.write(json.dumps(item) + "\n")
                unit += 1


def introduce(command: str, folder: Path) -> None:
    """Everybody comes and saves once: only then Potato makes the files in which it keeps what they say."""
    running = Potato(command, folder)
    with running.server:
        running.sign_in()
        running.server.send([running.saves(number, 0, 1) for number in range(CLIENTS)])


def add_judgments(folder: Path, level: int) -> None:
    """So many judgments, in the files that Potato itself writes, shared out among the ten."""
    each = level // CLIENTS
    for number in range(CLIENTS):
        home = folder / "annotation_output" / person(number)
        path = home / "user_state.json"
        state = json.loads(path.read_text(encoding="utf-8"))
        state["instance_id_to_label_to_value"] = {}
        lines = []
        for unit in range(each):
            label = answer(number, unit)
            state["instance_id_to_label_to_value"][unit_id(unit)] = [
                [{"schema": SCHEME, "name": label}, label]
            ]
            state["instance_id_to_presentation_order"][unit_id(unit)] = {SCHEME: list(LABELS)}
            lines.append(json.dumps(_action(person(number), unit, label)) + "\n")
        state["current_instance_index"] = each
        path.write_text(json.dumps(state), encoding="utf-8")
        with (home / "annotation_history.jsonl").open("a", encoding="utf-8") as history:
            history.writelines(lines)


def _action(name: str, unit: int, label: str) -> dict[str, Any]:
    return {
        "action_id": str(uuid.uuid4()),
        "timestamp": "2026-01-01T00:00:00.000000",
        "user_id": name,
        "instance_id": unit_id(unit),
        "action_type": "add_label",
        "schema_name": SCHEME,
        "label_name": label,
        "old_value": None,
        "new_value": label,
        "span_data": None,
        "session_id": str(uuid.uuid4()),
        "client_timestamp": None,
        "server_processing_time_ms": 0,
        "metadata": {"user_agent": "browser", "ip_address": "127.0.0.1"},
    }


class Potato:
    """A running one, with everybody signed in."""

    def __init__(self, command: str, folder: Path) -> None:
        port = free_port()
        (folder / "config.yaml").write_text(yaml.safe_dump(_config(port)), encoding="utf-8")
        self.server = Server([command, "start", "config.yaml", "-p", str(port)], port, "/", folder)
        self._cookies: dict[str, str] = {}

    def sign_in(self) -> None:
        """Everybody comes and looks at the first item; that is when Potato hands out items."""
        for name in PEOPLE:
            jar = http.cookiejar.CookieJar()
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
            root = f"http://127.0.0.1:{self.server.port}"
            form = urllib.parse.urlencode({"email": name, "pass": "", "action": "login"}).encode()
            for address, data in ((f"{root}/auth", form), (f"{root}/annotate", None)):
                with browser.open(address, data, timeout=120) as found:
                    found.read()
            self._cookies[name] = "; ".join(f"{cookie.name}={cookie.value}" for cookie in jar)

    def saves(self, number: int, first: int, count: int) -> list[bytes]:
        """What the page of a client sends to save some items."""
        headers = {"Cookie": self._cookies[person(number)], "User-Agent": "Mozilla/5.0", "Accept": "*/*"}
        requests = []
        for unit in range(first, first + count):
            label = answer(number, unit)
            body = {
                "instance_id": unit_id(unit),
                "annotations": {f"{SCHEME}:{label}": label},
                "span_annotations": [],
                "client_timestamp": "2026-01-01T00:00:00",
            }
            requests.append(request("POST", "/updateinstance", headers, json.dumps(body).encode()))
        return requests

    def pages(self, number: int, count: int) -> list[bytes]:
        """The page with an item, asked for several times."""
        headers = {"Cookie": self._cookies[person(number)], "Accept-Encoding": "gzip"}
        return [request("GET", "/annotate", headers)] * count
