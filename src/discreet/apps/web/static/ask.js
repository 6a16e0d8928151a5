// The price while someone types, and rows that come and go in place. Without this, buttons do the same.
const form = document.getElementById("ask");
const panel = document.getElementById("panel");
const status = document.getElementById("live");
const ways = ["percent", "epsilon", "within", "rho", "share"];
const most = 8;
let waiting = 0;
let asked = 0;

function given() {
  const chosen = form.querySelector("input[name=way]:checked");
  return chosen ? chosen.value : "epsilon";
}

async function renew() {
  const turn = ++asked;
  status.textContent = "Pricing…";
  let answer, text;
  try {
    answer = await fetch(form.dataset.live, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    text = await answer.text();
  } catch {
    if (turn === asked) status.textContent = "The server cannot be reached. “Price it” tries again.";
    return;
  }
  if (turn !== asked) return;
  if (!answer.ok || answer.redirected) {
    status.textContent = "Not priced. “Price it” says why.";
    return;
  }
  const why = panel.querySelector("#why")?.value ?? "";
  const held = panel.contains(document.activeElement) ? document.activeElement.id : "";
  panel.innerHTML = text;
  const kept = panel.querySelector("#why");
  if (kept) kept.value = why;
  if (held) document.getElementById(held)?.focus();
  const found = panel.querySelector(".panel")?.dataset ?? {};
  const own = given();
  for (const way of ways) {
    const field = document.getElementById(way);
    if (field && way !== own) field.value = found[way] ?? "";
  }
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  document.getElementById("problem")?.remove();
  status.textContent = found.epsilon || found.rho ? "Priced; nothing is spent." : "";
}

function later() {
  clearTimeout(waiting);
  asked++;
  status.textContent = "";
  waiting = setTimeout(renew, 350);
}

// Rows.

function rows(kind) {
  return [...form.querySelectorAll(`.entry[data-row=${kind}]`)];
}

function add(kind, button) {
  const free = [...Array(most).keys()].find((n) => !document.getElementById(`${kind}${n}`));
  const made = document.getElementById(`${kind}-row`).content.firstElementChild.cloneNode(true);
  const number = rows(kind).length + 1;
  for (const part of made.querySelectorAll("[id], [for], [name], [value]")) {
    for (const name of ["id", "for", "name", "value"]) {
      const text = part.getAttribute(name);
      if (text?.includes("__")) part.setAttribute(name, text.replace("__", free));
    }
  }
  for (const label of made.querySelectorAll("label.unseen")) label.append(` ${number}`);
  made.querySelector(".drop").setAttribute("aria-label", `Remove ${kind === "of" ? "measure" : "key"} ${number}`);
  button.before(made);
  made.querySelector("select").focus();
  button.hidden = rows(kind).length >= most;
  hint();
}

function drop(row) {
  const kind = row.dataset.row;
  const left = rows(kind).filter((one) => one !== row);
  const button = form.querySelector(`.add[value=add-${kind}]`);
  if (left.length) {
    row.remove();
    (left.at(-1).querySelector("select") ?? button)?.focus();
  } else {
    for (const field of row.querySelectorAll("input, select")) field.value = "";
    row.querySelector("select").focus();
  }
  if (button) button.hidden = false;
  later();
}

form.addEventListener("click", (event) => {
  const button = event.target.closest("button[name=go]");
  if (!button) return;
  if (button.value.startsWith("add-")) {
    event.preventDefault();
    add(button.value.slice(4), button);
  } else if (button.value.startsWith("drop-")) {
    event.preventDefault();
    drop(button.closest(".entry"));
  }
});

// What the bins of a column may be.
function hint() {
  for (const row of rows("by")) {
    const how = row.querySelector("select").selectedOptions[0]?.dataset.bins;
    if (how) row.querySelector("input").placeholder = how;
  }
}

form.addEventListener("input", (event) => {
  if (event.target.id === "save_as") return;
  if (event.target.id === "at_rows") document.getElementById("way-within").checked = true;
  if (ways.includes(event.target.id)) document.getElementById(`way-${event.target.id}`).checked = true;
  hint();
  later();
});
hint();
