"""A page about the calls of the API, made from its OpenAPI document; it needs no script and loads nothing foreign."""

from collections.abc import Mapping
from typing import Any

from vwkde._display.markup import Markup, element

_FILE = "curl -H 'Authorization: Bearer TOKEN' -F image=@part.png {where}"
_GET = "curl -H 'Authorization: Bearer TOKEN' {where}"


def api_page(document: Mapping[str, Any]) -> str:
    """Return the page for an OpenAPI document."""
    calls = [
        _call(path, method, about, document)
        for path, methods in document["paths"].items()
        for method, about in methods.items()
    ]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", "vwkde inspect: API"),
        Markup('<link rel="icon" href="icon.svg" type="image/svg+xml"><link rel="stylesheet" href="style.css">'),
        Markup('<link rel="stylesheet" href="api.css">'),
    )
    back, machine = element("a", "the page", href="./"), element("a", "openapi.json", href="openapi.json")
    words = element(
        "p",
        "Calls for programs; people use ",
        back,
        ". The same for machines: ",
        machine,
        ". The header with the token is needed only if the server has one. Errors are JSON with one line, detail.",
    )
    body = element(
        "body", element("main", element("h1", f"API of vwkde inspect {document['info']['version']}"), words, calls)
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _call(path: str, method: str, about: Mapping[str, Any], document: Mapping[str, Any]) -> Markup:
    """Return the section of one call: what it does, an example, what it takes and what it returns."""
    return element(
        "section",
        element("h2", element("code", f"{method.upper()} {path}")),
        element("p", about["description"]),
        element("pre", _example(path, about)),
        _parameters(about),
        _replies(about["responses"], document),
    )


def _example(path: str, about: Mapping[str, Any]) -> str:
    where = f"http://SERVER:8000{path}"
    if "multipart/form-data" in about.get("requestBody", {}).get("content", {}):
        return _FILE.format(where=where)
    if "requestBody" in about:
        return _GET.format(where=f"--json @results.json {where}")
    needed = "&".join(f"{each['name']}=…" for each in about.get("parameters", ()))
    return _GET.format(where=f"'{where}?{needed}'" if needed else where)


def _parameters(about: Mapping[str, Any]) -> Markup | None:
    rows = [(each["name"], f"in the {each['in']}") for each in about.get("parameters", ())]
    rows += [(kind, "the body") for kind in about.get("requestBody", {}).get("content", {})]
    return _table(("Takes", ""), rows) if rows else None


def _replies(replies: Mapping[str, Any], document: Mapping[str, Any]) -> list[Markup]:
    """Return the statuses of replies, and the fields of the usual one."""
    parts = [_table(("Status", "Meaning"), [(status, each["description"]) for status, each in replies.items()])]
    usual = replies["200"].get("content", {})
    schema = usual.get("application/json", {}).get("schema", {}).get("$ref")
    if schema is not None:
        fields = document["components"]["schemas"][schema.rsplit("/", 1)[1]]["properties"]
        parts.append(_table(("Returns", ""), [(name, each.get("description", "")) for name, each in fields.items()]))
    elif usual:
        parts.append(element("p", f"Returns {', '.join(usual)}."))
    return parts


def _table(heads: tuple[str, str], rows: list[tuple[str, str]]) -> Markup:
    head = element("tr", [element("th", each, scope="col") for each in heads])
    body = [element("tr", element("td", element("code", name)), element("td", words)) for name, words in rows]
    return element("table", element("thead", head), element("tbody", body))
