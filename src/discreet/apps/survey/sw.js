// Keeps the page for when there is no network. Reports and results are never kept here.
// Named after the folder it is in: other surveys of the same host are in others, and keep what is theirs.
const MINE = "discreet-survey-" + new URL("./", self.location.href).pathname + " ";
const CACHE = MINE + new URL(self.location.href).searchParams.get("survey");
const PAGE = ["./", "style.css", "page.js", "randomise.js", "memory.js", "number.js", "blind.js", "icon.svg"];

self.addEventListener("install", (event) => {
  const fresh = PAGE.map((path) => new Request(path, { cache: "reload" }));
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(fresh)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  const old = (name) => name.startsWith(MINE) && name !== CACHE;
  event.waitUntil(
    caches.keys()
      .then((names) => Promise.all(names.filter(old).map((name) => caches.delete(name))))
      .then(() => self.clients.claim()),
  );
});

// The network first, so that a survey that has ended or changed is not shown from memory.
self.addEventListener("fetch", (event) => {
  const url = new URL(event.request.url);
  const ours = PAGE.map((path) => new URL(path, self.location.href).pathname);
  if (event.request.method !== "GET" || url.origin !== self.location.origin || !ours.includes(url.pathname)) return;
  event.respondWith((async () => {
    const cache = await caches.open(CACHE);
    try {
      const answer = await fetch(event.request);
      if (answer.ok) await cache.put(url.pathname, answer.clone());
      return answer;
    } catch (problem) {
      const found = await cache.match(url.pathname);
      if (found) return found;
      throw problem;
    }
  })());
});
