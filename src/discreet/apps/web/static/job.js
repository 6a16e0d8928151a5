// Keeps a page about jobs up to date: fetches the page again and puts in place the parts that changed.
// It stops when nothing runs any more. Without this, the page loads itself again.
const every = 1000;
for (const note of document.querySelectorAll("[data-script]")) note.hidden = false;

async function renew() {
  let page;
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!answer.ok || answer.redirected) return setTimeout(renew, 5 * every);
    page = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch {
    return setTimeout(renew, 5 * every);
  }
  for (const part of document.querySelectorAll("[data-part]")) {
    const now = page.querySelector(`[data-part="${part.dataset.part}"]`);
    if (now && now.innerHTML !== part.innerHTML) part.innerHTML = now.innerHTML;
  }
  const left = document.querySelector(".budgets"), now = page.querySelector(".budgets");
  if (left && now) left.innerHTML = now.innerHTML;
  if (page.querySelector("[data-running]")) {
    for (const note of document.querySelectorAll("[data-script]")) note.hidden = false;
    return setTimeout(renew, every);
  }
  document.querySelector("[data-running]")?.removeAttribute("data-running");
  for (const note of document.querySelectorAll("[data-script]")) note.hidden = true;
}

if (document.querySelector("[data-running]")) setTimeout(renew, every);
