"""The pages and what they do, as one ASGI application: which function answers which address.

A page is a function of the project and the request that gives a template and its values; an action is one that changes
the project, says what it did and names the page to go on with. Every page has a stable address.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from markupsafe import Markup
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from holdfast.errors import Ambiguous, BadInput, HoldfastError, NotFound, TooLarge
from holdfast.interfaces.loopback_server import App, Strangers
from holdfast.interfaces.web import (
    code_web,
    graph_web,
    health_web,
    history_web,
    memory_web,
    page_templates,
    plan_web,
    review_web,
    search_web,
)
from holdfast.interfaces.web.browser_access import TOKEN, BrowserAccess, BrowserGuard
from holdfast.interfaces.web.project_reading import ProjectDesk, ProjectReading
from holdfast.interfaces.web.web_query import Unfinished, WebPage, WebQuery, WebRedirect

if TYPE_CHECKING:
    from holdfast.interfaces.web.web_query import Action, PageMaker

_MODULES = (health_web, review_web, memory_web, search_web, code_web, history_web, plan_web, graph_web)
PAGES: dict[str, PageMaker] = {path: maker for module in _MODULES for path, maker in module.PAGES.items()}
_ACTING = (health_web, review_web, memory_web, plan_web)
ACTIONS: dict[str, Action] = {path: act for module in _ACTING for path, act in module.ACTIONS.items()}
_STATIC = {"style.css": "text/css", "page.js": "text/javascript", "icon.svg": "image/svg+xml"}
_FAULTS = ((NotFound, 404), (Ambiguous, 404), (BadInput, 400), (TooLarge, 413))


class WebApp:
    """The application for one project and one browser."""

    def __init__(self, folder: str, access: BrowserAccess, environ: Mapping[str, str] | None = None) -> None:
        self.access, self.desk = access, ProjectDesk(folder, access, environ)
        self._render = page_templates.renderer(self.desk.hide, access=access, token_field=TOKEN)

    def asgi(self, strangers: Strangers) -> App:
        """The application behind its guard."""
        routes = [Route("/static/{name}", self._static), Route("/version", self._version)]
        routes += [Route("/code-typed", self._type_code, methods=["POST"])]
        routes += [Route(path, self._page(maker), methods=["GET"]) for path, maker in PAGES.items()]
        routes += [Route(path, self._action(act), methods=["POST"]) for path, act in ACTIONS.items()]
        handlers = {HTTPException: self._no_such_page, HoldfastError: _unreadable, OSError: _unreadable}
        app = Starlette(routes=routes, exception_handlers=handlers)
        return BrowserGuard(app, self.access, strangers)

    def _static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in _STATIC:
            raise HTTPException(404)
        return FileResponse(os.path.join(page_templates.STATIC, name), media_type=_STATIC[name])

    def _version(self, request: Request) -> Response:  # noqa: ARG002 - as Starlette calls it
        return JSONResponse({"version": self.desk.version()})

    def _page(self, maker: PageMaker) -> Callable[[Request], Response]:
        def answer(request: Request) -> Response:
            with self.desk.reading() as reading:
                query = _query(request)
                try:
                    page = maker(reading, query)
                except HoldfastError as error:
                    page = _fault(error)
                except UnicodeError:
                    page = _fault(BadInput("this address holds bytes that are no text", hint="Go back."))
                if isinstance(page, WebRedirect):
                    return RedirectResponse(page.address, status_code=HTTPStatus.SEE_OTHER)
                return self._html(reading, query, page)

        return answer

    def _action(self, act: Action) -> Callable[[Request], Response]:
        def answer(request: Request) -> Response:
            query = _query(request)
            try:
                target = self.desk.change(lambda reading: act(reading, query))
            except Unfinished as asks:
                with self.desk.reading() as reading:
                    return self._html(reading, query, asks.page)
            except HoldfastError as error:
                with self.desk.reading() as reading:
                    return self._html(reading, query, _fault(error, back=query.back))
            return RedirectResponse(target or query.back, status_code=HTTPStatus.SEE_OTHER)

        return answer

    def _type_code(self, request: Request) -> Response:
        query = _query(request)
        with self.desk.reading():  # one request at a time
            right = self.access.type_code(query.given("code"))
        if right:
            self.access.flash.append("From now on what you approve here counts as approved by a person.")
        else:
            self.access.complaint = "That is not the code that the terminal shows."
        return RedirectResponse(query.back, status_code=HTTPStatus.SEE_OTHER)

    def _html(self, reading: ProjectReading, query: WebQuery, page: WebPage) -> Response:
        told = {"complaint": self.access.take_complaint(), "said": self.access.take_flash()}
        values = {"query": query, "reading": reading, **told, **page.values}
        text = self._render(page.template, **values)
        return HTMLResponse(text.encode("utf-8", "backslashreplace"), status_code=page.status)

    def _no_such_page(self, request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        page = WebPage("fault.html", {"sentence": "There is no such page.", "hint": "", "back": "/"}, status)
        with self.desk.reading() as reading:
            return self._html(reading, _query(request), page)


def _unreadable(request: Request, error: Exception) -> Response:  # noqa: ARG001 - as Starlette calls it
    """A page without the project, which cannot be opened any more."""
    body = Markup("<!doctype html><html lang='en'><title>Holdfast</title><h1>{}</h1><p>{}</p></html>")
    return HTMLResponse(body.format(str(error), getattr(error, "hint", "")), status_code=503)


def _fault(error: HoldfastError, back: str = "/") -> WebPage:
    status = next((status for kind, status in _FAULTS if isinstance(error, kind)), 409)
    return WebPage("fault.html", {"sentence": str(error), "hint": error.hint, "back": back}, status)


def _query(request: Request) -> WebQuery:
    form: dict[str, list[str]] = {}
    for name, value in request.scope.get("state", {}).get("form", ()):
        form.setdefault(name, []).append(value)
    query: dict[str, list[str]] = {}
    path, asked = page_templates.path(request.scope["path"]), request.scope["query_string"].decode("latin-1")
    for name, value in parse_qsl(asked, keep_blank_values=True, errors="surrogateescape"):
        query.setdefault(name, []).append(value)
    return WebQuery(f"{path}?{asked}" if asked else path, request.path_params, query, form)
