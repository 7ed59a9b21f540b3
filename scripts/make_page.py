#!/usr/bin/env python3
"""Puts the page's files together and writes them as a C++ source (src/page/page_text.h).

    make_page.py WEB-FOLDER OUTPUT.cc

In index.html `{{style}}`, `{{library}}` and `{{script}}` are replaced; at `{{policy}}` and `{{data}}` the page is cut in
three. The policy allows these two scripts and this style by their hashes, and no request to anybody; for the live page
berth adds that it may ask where it comes from.

A module becomes a function that returns what it exports, so that modules keep their own names. The forms that
are understood, each at the beginning of a line:

    import { a, b } from './other.js';
    export function f(…  export class C …  export const c = …
"""
import base64
import hashlib
import re
import sys
from pathlib import Path

IMPORT = re.compile(r"^import \{([^}]*)\} from '\./([\w/]+)\.js';\n", re.M)
EXPORT = re.compile(r"^export ((?:async )?function|class|const) (\w+)", re.M)
LEFT = re.compile(r"^(?:import|export)\b.*", re.M)


class Bundle:
    """The modules that `main` needs, each after those that it imports."""

    def __init__(self, folder):
        self.folder = folder
        self.parts = []
        self.exports = {}

    def add(self, name, importers=()):
        if name in importers:
            sys.exit(f"make_page.py: modules import each other: {' -> '.join((*importers, name))}")
        if name in self.exports:
            return
        text = (self.folder / f"{name}.js").read_text(encoding="utf-8")
        for names, other in IMPORT.findall(text):
            self.add(other, (*importers, name))
            for wanted in names.replace("\n", " ").split(","):
                if wanted.strip() and wanted.strip() not in self.exports[other]:
                    sys.exit(f"make_page.py: {name}.js imports {wanted.strip()}, which {other}.js does not export")
        self.exports[name] = [found[1] for found in EXPORT.findall(text)]
        text = IMPORT.sub(lambda m: f"const {{{m[1]}}} = module_{m[2].replace('/', '_')};\n", text)
        text = EXPORT.sub(r"\1 \2", text)
        if left := LEFT.search(text):
            sys.exit(f"make_page.py: {name}.js: not understood: {left[0]}")
        self.parts.append(f"const module_{name.replace('/', '_')} = (() => {{\n{text}\n"
                          f"return {{ {', '.join(self.exports[name])} }};\n}})();\n")

    def text(self):
        return "(() => {\n'use strict';\n" + "".join(self.parts) + "})();\n"


def source_of(text):
    """`'sha256-…'` of what stands within an element."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def fit_to_stand_in(element, text):
    if f"</{element}" in text.lower() or "<!--" in text or "\r" in text:
        sys.exit(f"make_page.py: a {element} that would end early in HTML")
    return text


def without_comments(css):
    return re.sub(r"/\*.*?\*/\s*", "", css, flags=re.S)


def literal(text):
    """A C++ string literal."""
    pieces, at = [], 0
    text = text.encode("utf-8")
    while at < len(text):
        end = min(at + 100, len(text))
        piece = "".join(
            {0x0A: "\\n", 0x09: "\\t", 0x22: '\\"', 0x5C: "\\\\", 0x3F: "\\?"}.get(
                byte, chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")
            for byte in text[at:end])
        pieces.append(f'    "{piece}"')
        at = end
    return "\n".join(pieces)


def main():
    web, output = Path(sys.argv[1]), Path(sys.argv[2])
    vendor = web / "vendor" / "uplot"
    style = fit_to_stand_in("style", "\n" + (vendor / "uPlot.min.css").read_text(encoding="utf-8")
                            + without_comments((web / "style.css").read_text(encoding="utf-8")))
    licence = (vendor / "LICENSE").read_text(encoding="utf-8").strip()
    library = fit_to_stand_in(
        "script", f"\n/*\n{licence}\n*/\n" + (vendor / "uPlot.iife.min.js").read_text(encoding="utf-8"))
    bundle = Bundle(web)
    bundle.add("main")
    script = fit_to_stand_in("script", "\n" + bundle.text())
    policy = (f"default-src 'none'; script-src {source_of(library)} {source_of(script)}; "
              f"style-src {source_of(style)}; img-src data:; base-uri 'none'; form-action 'none'")
    page = (web / "index.html").read_text(encoding="utf-8")
    parts = {"style": style, "library": library, "script": script}
    page = re.sub(r"\{\{(style|library|script)\}\}", lambda m: parts[m[1]], page)
    head, rest = page.split("{{policy}}")
    before, after = rest.split("{{data}}")
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(
        "// Made by scripts/make_page.py from the files in web/.\n"
        '#include "page/page_text.h"\n\n'
        "namespace berth::page {\n\n"
        f"constinit const std::string_view kBeforePolicy(\n{literal(head)});\n\n"
        f"constinit const std::string_view kPolicy(\n{literal(policy)});\n\n"
        f"constinit const std::string_view kBeforeData(\n{literal(before)});\n\n"
        f"constinit const std::string_view kAfterData(\n{literal(after)});\n\n"
        "}  // namespace berth::page\n", encoding="utf-8")


if __name__ == "__main__":
    main()
