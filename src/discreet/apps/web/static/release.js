// The page of a release: buttons that copy, and a table that is sorted in place.
// Without this, texts are selected by hand and a click on a head loads the table in its new order.
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.textContent);
      said(button, "Copied");
    } catch {
      getSelection().selectAllChildren(source);
      said(button, "Selected");
    }
  });
}

function said(button, word) {
  const before = button.dataset.word || (button.dataset.word = button.textContent);
  button.textContent = word;
  setTimeout(() => { button.textContent = before; }, 1600);
}

for (const menu of document.querySelectorAll("details.menu")) {
  document.addEventListener("click", (event) => { if (!menu.contains(event.target)) menu.open = false; });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    menu.open = false;
    menu.querySelector("summary").focus();
  });
}

for (const table of document.querySelectorAll("table[data-sortable]")) {
  const body = table.tBodies[0], heads = [...table.querySelectorAll("thead a.sort")];
  heads.forEach((link, column) => link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const head = link.closest("th"), was = head.getAttribute("aria-sort");
    const down = was ? was === "ascending" : head.classList.contains("number");
    for (const other of heads) other.closest("th").removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...body.rows].map((row) => [JSON.parse(row.dataset.sort)[column], row]);
    const known = rows.filter(([value]) => value !== ""), none = rows.filter(([value]) => value === "");
    const numbers = known.every(([value]) => !Number.isNaN(Number(value)));
    known.sort(([a], [b]) => (numbers ? Number(a) - Number(b) : a < b ? -1 : a > b ? 1 : 0) * (down ? -1 : 1));
    body.append(...[...known, ...none].map(([, row]) => row));
  }));
}
