// The price while someone types: asks our own server for the panel and puts it in place. Without this, a button does.
const form = document.getElementById("ask");
const panel = document.getElementById("panel");
const status = document.getElementById("live");
const ways = ["epsilon", "rho", "within", "share"];
let waiting = 0;
let asked = 0;

function given() {
  const chosen = form.querySelector("input[name=way]:checked");
  return chosen ? chosen.value : "epsilon";
}

async function renew() {
  const turn = ++asked;
  status.textContent = "Pricing…";
  let answer;
  try {
    answer = await fetch(form.dataset.live, { method: "POST", body: new URLSearchParams(new FormData(form)) });
  } catch {
    status.textContent = "The server cannot be reached. “Price it” tries again.";
    return;
  }
  if (turn !== asked) return;
  if (!answer.ok || answer.redirected) {
    status.textContent = "Not priced. “Price it” says why.";
    return;
  }
  const text = await answer.text();
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

form.addEventListener("input", (event) => {
  if (ways.includes(event.target.id)) document.getElementById(`way-${event.target.id}`).checked = true;
  later();
});
