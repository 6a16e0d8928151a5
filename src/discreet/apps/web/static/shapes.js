// A file with the shapes of regions, sent as it is; what is wrong with it is said beside it.
const file = document.getElementById("shapes-file"), said = document.getElementById("shapes-said");
const property = document.getElementById("shapes-property"), away = document.getElementById("shapes-away");

async function send(body) {
  const { to, csrf } = file.dataset;
  said.textContent = "Drawing";
  try {
    const headers = { "content-type": "application/json", "x-csrf": csrf };
    const answer = await fetch(`${to}&code_property=${encodeURIComponent(property.value.trim())}`, { method: "POST", headers, body });
    const found = await answer.json();
    if (answer.ok) return location.reload();
    said.textContent = found.message;
  } catch {
    said.textContent = "The file could not be sent. Try again.";
  }
  file.value = "";
}

file.addEventListener("change", () => {
  const [chosen] = file.files;
  if (!chosen) return;
  if (chosen.size > Number(file.dataset.most)) {
    said.textContent = "The file is larger than 1 MB. Simplify its shapes first, with mapshaper, say.";
    file.value = "";
    return;
  }
  send(chosen);
});
if (away) away.addEventListener("click", () => send(""));
