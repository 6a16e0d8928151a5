// Completes columns, functions and declared values while someone types; without this, the browser offers its list.
const words = [...document.querySelectorAll("#words option")].map((one) => ({
  word: one.value,
  about: one.label === one.value ? "" : one.label,
  of: one.dataset.of ?? "",
}));
const longest = 8;

function begun(field) {
  const text = field.value.slice(0, field.selectionStart);
  const word = /(?:"[^"]*|'[^']*|[\p{L}\p{N}_]*)$/u.exec(text)[0];
  const before = text.slice(0, text.length - word.length);
  const column = /("[^"]+"|[\p{L}\p{N}_]+)\s*(?:=|<>|!=|in\s*\((?:[^()]*,)?)\s*$/iu.exec(before);
  return { word, column: column ? column[1] : "" };
}

function found(field, asked) {
  const { word, column } = begun(field);
  const values = words.filter((one) => one.of && one.of === column);
  if (!word && !values.length && !asked) return [];
  const bare = word.replace(/^["']/, "").toLowerCase();
  const sql = field.tagName === "TEXTAREA";
  const pool = values.length ? values : words.filter((one) => !one.of || (sql && one.of === "()"));
  return pool.filter((one) => {
    const text = one.word.replace(/^["']/, "").toLowerCase();
    return text.startsWith(bare) && one.word !== word;
  });
}

for (const field of document.querySelectorAll("[data-complete]")) {
  const list = document.createElement("ul");
  list.id = `${field.id}-words`;
  list.className = "suggest";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Completions");
  list.hidden = true;
  field.after(list);
  field.removeAttribute("list");
  field.setAttribute("aria-autocomplete", "list");
  field.setAttribute("aria-controls", list.id);
  let shown = [];
  let at = -1;

  const close = () => {
    list.hidden = true;
    at = -1;
    field.removeAttribute("aria-activedescendant");
  };
  const choose = (place) => {
    at = place;
    [...list.children].forEach((item, index) => item.setAttribute("aria-selected", index === at));
    if (at < 0) field.removeAttribute("aria-activedescendant");
    else field.setAttribute("aria-activedescendant", list.children[at].id);
  };
  const open = (asked) => {
    shown = found(field, asked).slice(0, longest);
    list.replaceChildren(
      ...shown.map((one, index) => {
        const item = document.createElement("li");
        item.id = `${list.id}-${index}`;
        item.setAttribute("role", "option");
        item.textContent = one.word;
        const about = document.createElement("small");
        about.textContent = one.about;
        item.append(" ", about);
        item.addEventListener("mousedown", (event) => {
          event.preventDefault();
          take(index);
        });
        return item;
      }),
    );
    list.hidden = !shown.length;
    choose(-1);
  };
  const take = (place) => {
    const { word } = begun(field);
    const start = field.selectionStart - word.length;
    field.setRangeText(shown[place].word, start, field.selectionStart, "end");
    close();
    field.dispatchEvent(new Event("input", { bubbles: true }));
    close();
  };

  field.addEventListener("input", (event) => {
    if (event.isTrusted) open(false);
  });
  field.addEventListener("blur", close);
  field.addEventListener("keydown", (event) => {
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      open(true);
    } else if (list.hidden) {
      return;
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      choose((at + step + shown.length + (at < 0 && step < 0 ? 1 : 0)) % shown.length);
    } else if (event.key === "Enter" && at >= 0) {
      event.preventDefault();
      take(at);
    } else if (event.key === "Escape") {
      event.preventDefault();
      close();
    }
  });
}
