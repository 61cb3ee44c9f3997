"""`holdfast web`: the project's memory in a browser."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module

import click

from holdfast.errors import BadInput
from holdfast.interfaces.cli.invocation import Invocation, command, why_no_person
from holdfast.interfaces.cli.output import flush, say, show_made
from holdfast.interfaces.cli.root import root


@command(root, "web")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="A free one is taken if not given.")
@click.option("--no-browser", is_flag=True, help="Only print the link.")
def web(place: Invocation, port: int, no_browser: bool) -> int:
    """Open review, memory, code, timeline and plan in a browser.

    Only this machine can reach it, and only the browser that opens the link, which works once. To decide as a person,
    type the code from this terminal into the page. Ctrl-C ends it.
    """
    try:
        import_module("holdfast.interfaces.web.web_app")
    except ImportError as error:
        raise BadInput(
            f"the page needs Starlette, uvicorn and Jinja2 ({error})",
            hint="Install again from Holdfast's own folder, with '.[web]' in place of '.'",
        ) from None
    from holdfast.interfaces import loopback_server
    from holdfast.interfaces.web.browser_access import BrowserAccess
    from holdfast.interfaces.web.web_app import WebApp

    with place.project():  # an error of the project is said here, not on a page
        pass
    own = loopback_server.listen(port)
    access = BrowserAccess(own.getsockname()[1], no_person=why_no_person(), say=say)
    strangers = loopback_server.Strangers()
    app = WebApp(place.folder, access).asgi(strangers)
    doubt = access.no_person if not access.can_type else None
    counts = (
        f"What is approved there does not count as approved by a person: {doubt}."
        if doubt
        else f"To decide as a person, type this code into the page: {access.code}"
    )
    words = "\n".join([f"Open {access.link}", counts, "Only you can open it, and only once. Ctrl-C ends it."])
    show_made({"url": access.link, "counts_as_person": doubt is None}, words)
    flush()
    if not no_browser:
        import threading
        import webbrowser

        # Some browsers are waited for until they end, and want their page before.
        threading.Thread(target=webbrowser.open, args=(access.link,), daemon=True).start()
    with suppress(KeyboardInterrupt):  # the way to end it
        loopback_server.run(own, app, strangers)
    return 0
