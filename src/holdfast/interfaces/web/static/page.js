// Keys, and pages that stay true: everything works without this script, too.
"use strict";
(() => {
  const LOOK_EVERY = 2000; // milliseconds: a change made elsewhere is seen within two seconds

  const isField = (node) => node && (node.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(node.tagName));
  const isTyping = () => {
    const at = document.activeElement;
    return isField(at) && !["checkbox", "radio"].includes(at.type);
  };
  // Whether somebody is in the middle of something that a new page would take away.
  const isBusy = () => {
    const main = document.querySelector("main");
    const code = document.getElementById("code");
    return !!document.querySelector("dialog[open]") || !!(code && code.value)
      || !!main.querySelector("details.ask[open], .dragged, [role=alert], [data-focus]")
      || (isTyping() && main.contains(document.activeElement));
  };

  // A page in place of the one that is shown, without a flash; scroll, focus and marks stay.
  function show(text, address, scroll) {
    const page = new DOMParser().parseFromString(text, "text/html");
    const main = page.querySelector("main");
    if (!main) { location.assign(address); return; }
    const marked = new Set([...document.querySelectorAll("main input[type=checkbox]:checked")].map((box) => box.value));
    const list = document.querySelector(".list"), at = list ? list.scrollTop : 0;
    const focused = document.activeElement && document.activeElement.id;
    document.querySelector("main").replaceWith(main);
    for (const name of ["aside.person", "header.top nav", "dialog#keys"]) {
      const old = document.querySelector(name), fresh = page.querySelector(name);
      if (old && fresh) old.replaceWith(fresh);
      else if (old) old.remove();
      else if (fresh) document.querySelector("header.top").after(fresh);
    }
    document.title = page.title;
    for (const box of main.querySelectorAll("input[type=checkbox]")) if (marked.has(box.value)) box.checked = true;
    const fresh = document.querySelector(".list");
    if (fresh) fresh.scrollTop = at;
    const current = main.querySelector(".queue .current");
    if (current) current.scrollIntoView({ block: "nearest" });
    if (scroll) window.scrollTo(0, 0);
    const again = focused && document.getElementById(focused);
    if (again) again.focus({ preventScroll: true });
    const asked = main.querySelector("[data-focus]");
    if (asked) asked.focus();
    document.dispatchEvent(new Event("holdfast:shown"));
  }

  // What was refused is said above its form, in which everything typed stays.
  function refuse(text, form) {
    const fault = new DOMParser().parseFromString(text, "text/html").querySelector(".fault");
    if (!fault || !form || !form.isConnected || !form.matches(".fields, .row")) return false;
    for (const old of document.querySelectorAll(".refused")) old.remove();
    const said = document.createElement("div");
    said.className = "said bad refused";
    said.setAttribute("role", "alert");
    for (const part of fault.querySelectorAll("h1, p:not(:last-child)")) {
      const line = document.createElement("p");
      line.textContent = part.textContent;
      said.append(line);
    }
    form.before(said);
    said.scrollIntoView({ block: "nearest" });
    return true;
  }

  // Nothing was done, and nobody must think so.
  function gone() {
    const main = document.querySelector("main");
    if (main.querySelector(":scope > .gone")) return;
    const said = document.createElement("p");
    said.className = "said bad gone";
    said.setAttribute("role", "alert");
    said.textContent = "Nothing was done: the server of this page does not answer. Start it again: holdfast web";
    main.prepend(said);
    said.scrollIntoView({ block: "nearest" });
  }

  // What was asked last is shown: the answer to a look at what changed may come after that to a later click.
  let asked = 0, waiting = 0;
  async function go(address, options, push, form) {
    const mine = ++asked;
    waiting += 1;
    try { await fetched(address, options, push, form, () => mine === asked); } finally { waiting -= 1; }
  }

  async function fetched(address, options, push, form, isLast) {
    let answer;
    try { answer = await fetch(address, { credentials: "same-origin", ...options }); } catch { return gone(); }
    const kind = answer.headers.get("content-type") || "";
    if (!kind.startsWith("text/html")) { location.assign(address); return; }
    const text = await answer.text();
    if (!isLast()) return;
    if (options && !answer.ok && refuse(text, form)) return;
    const isSame = answer.url === location.href;
    // The answer to a form that asks on has the form's own address, which is no page to come back to.
    if (push && !isSame && (answer.redirected || !options)) history.pushState(null, "", answer.url);
    show(text, answer.url, push && !isSame);
  }

  function send(form, button) {
    const fields = new URLSearchParams(new FormData(form));
    if (button && button.name) fields.append(button.name, button.value);
    return go(form.action, { method: "POST", body: fields }, true, form);
  }
  window.holdfast = { send };

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    event.preventDefault();
    send(form, event.submitter);
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!link || !isPlain || event.defaultPrevented || link.target || link.hasAttribute("download")) return;
    const to = new URL(link.href, location.href);
    if (to.origin !== location.origin || to.hash) return;
    event.preventDefault();
    go(to.href, undefined, true);
  });
  window.addEventListener("popstate", () => go(location.href));

  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && isTyping()) { document.activeElement.blur(); return; }
    if (event.key === "Escape") {
      for (const one of document.querySelectorAll("details.ask[open]")) one.open = false;
      return;
    }
    if (isTyping() || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.key === "?") { document.getElementById("keys").showModal(); event.preventDefault(); return; }
    if (event.key === "/") {
      const find = document.querySelector("[data-find]") || document.querySelector(".find input");
      find.focus(); find.select(); event.preventDefault(); return;
    }
    const key = { ArrowDown: "j", ArrowUp: "k" }[event.key] || event.key;
    if (event.key.startsWith("Arrow") && !document.querySelector(".queue .current")) return;
    const target = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key.split(" ").includes(key));
    if (!target) return;
    event.preventDefault();
    if (target.tagName === "SUMMARY") {
      const details = target.parentElement;
      for (const one of document.querySelectorAll("details.ask[open]")) if (one !== details) one.open = false;
      details.open = true;
      const field = details.querySelector("input:not([type=hidden]), textarea");
      if (field) field.focus();
    } else target.click();
  });

  // Cards of the board: dragged to another column or priority. The form beside the board does the same.
  let dragged = null;
  document.addEventListener("dragstart", (event) => {
    const card = event.target.closest && event.target.closest("[data-card]");
    if (!card) return;
    dragged = card;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", card.dataset.card);
    card.classList.add("dragged");
    document.body.classList.add("dragging");
  });
  document.addEventListener("dragend", () => {
    if (dragged) dragged.classList.remove("dragged");
    dragged = null;
    document.body.classList.remove("dragging");
    for (const one of document.querySelectorAll(".over")) one.classList.remove("over");
  });
  document.addEventListener("dragover", (event) => {
    const group = dragged && event.target.closest("[data-column]") && (event.target.closest("[data-priority]") || event.target.closest("[data-column]"));
    for (const one of document.querySelectorAll(".over")) if (one !== group) one.classList.remove("over");
    if (!group) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "move";
    group.classList.add("over");
  });
  document.addEventListener("drop", (event) => {
    const column = dragged && event.target.closest("[data-column]"), form = document.getElementById("move");
    if (!column || !form) return;
    event.preventDefault();
    const group = event.target.closest("[data-priority]");
    const fields = new URLSearchParams(new FormData(form));
    fields.set("id", dragged.dataset.card);
    fields.set("to", column === dragged.closest("[data-column]") ? "" : column.dataset.column);
    fields.set("priority", group ? group.dataset.priority : "");
    go(form.action, { method: "POST", body: fields }, true);
  });

  // What changed elsewhere is shown, unless somebody is in the middle of something.
  let asking = false;
  async function look() {
    if (document.hidden || asking || waiting || isBusy()) return;
    asking = true;
    try {
      const answer = await fetch("/version", { credentials: "same-origin" });
      if (answer.ok) {
        const { version } = await answer.json();
        const main = document.querySelector("main");
        if (main.dataset.version !== version && !waiting && !isBusy()) await go(location.href);
      }
    } catch { /* the server has ended; the page stays readable */ } finally { asking = false; }
  }
  setInterval(look, LOOK_EVERY);
})();
