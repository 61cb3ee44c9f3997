"""The pictures of the page in the docs: a real server over a scratch project, drawn by a real Chromium.

    python -m demo.page_pictures            writes docs/images/page-*.png
    python -m demo.page_pictures FOLDER     writes them there

They need what `make test-browser` installs.
"""

import sys
import tempfile
import threading
from pathlib import Path

from demo.screenshot import IMAGES, scratch, settle_in

from holdfast.interfaces import loopback_server
from holdfast.interfaces.web.browser_access import BrowserAccess
from holdfast.interfaces.web.web_app import WebApp
from holdfast.project import Project
from tests.web.chromium import find

WIDE, PHONE = {"width": 1120, "height": 720}, {"width": 390, "height": 720}
PICTURES = {  # by name: the address, the window, light or dark
    "page-review": ("/review/DEC-7f3k", WIDE, "light"),
    "page-review-phone": ("/review/DEC-7f3k", PHONE, "dark"),
    "page-plan": ("/plan", WIDE, "light"),
    "page-graph": ("/graph?of=DEC-7f3k", WIDE, "dark"),
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        settle_in(Path(folder))
        project = scratch(Path(folder) / "shop")
        plan(project)
        images = Path(sys.argv[1]) if sys.argv[1:] else IMAGES
        images.mkdir(parents=True, exist_ok=True)
        draw(project, images)


def plan(project: Project) -> None:
    """A small plan: what is done, begun, ready and waiting."""
    tasks = project.tasks
    tasks.add("Charge customers once", kind="epic", id="TSK-once")
    tasks.add("Mark calls that are safe to repeat", parent="TSK-once", id="TSK-mark", priority=1)
    tasks.add("Retry only those", parent="TSK-once", needs=["TSK-mark"], id="TSK-only", priority=1)
    tasks.add("Refund the two customers", parent="TSK-once", id="TSK-fund", priority=0)
    tasks.add("Alert on double charges", needs=["TSK-only"], id="TSK-warn")
    tasks.done("TSK-fund", without_evidence=True)
    tasks.start("TSK-mark", owner="ada")


def draw(project: Project, images: Path) -> None:
    """Serve the project and take each picture."""
    from playwright.sync_api import sync_playwright

    own = loopback_server.listen(0)
    access = BrowserAccess(own.getsockname()[1], no_person=None, say=lambda _: None)
    access.type_code(access.code)
    strangers = loopback_server.Strangers()
    server = loopback_server.server(WebApp(project.clone.repo.top, access).asgi(strangers), strangers)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [own]})
    thread.start()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=find(), args=["--no-sandbox", "--disable-gpu"])
            first = browser.new_context()
            page = first.new_page()
            page.goto(access.link)
            page.wait_for_url(f"{access.origin}/")
            for name, (address, window, scheme) in PICTURES.items():
                context = browser.new_context(viewport=window, color_scheme=scheme)
                context.add_cookies(first.cookies())
                seen = context.new_page()
                seen.goto(f"{access.origin}{address}")
                seen.screenshot(path=str(images / f"{name}.png"))
                print(f"wrote {name}.png", file=sys.stderr)
            browser.close()
    finally:
        server.should_exit = True
        thread.join()


if __name__ == "__main__":
    main()
