// Tables that scroll can be reached by keys; the theme makes their frames after this script has begun.
addEventListener("load", () => {
  for (const frame of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (frame.scrollWidth > frame.clientWidth) frame.tabIndex = 0;
  }
});

// A button on every block of code. Of a session only what was typed is copied: no prompts, no output.
for (const block of document.querySelectorAll(".highlight pre > code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy-code";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    let text = block.textContent;
    if (/^>>> /m.test(text)) {
      const typed = text.split("\n").filter((line) => /^(>>>|\.\.\.)( |$)/.test(line));
      text = typed.map((line) => line.slice(4)).join("\n");
    }
    await navigator.clipboard.writeText(text.trimEnd() + "\n");
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  block.closest(".highlight").append(button);
}
