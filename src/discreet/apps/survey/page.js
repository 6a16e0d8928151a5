// The form: true answers in, randomised once, stored, sent, and only then shown. A true answer is never stored or sent.
// A report is shown only after the server has it: whoever could look first could keep back what chance made, and the
// reports that do arrive would follow another law than the one that is claimed.
import { blind, unblind } from "./blind.js";
import { Memory } from "./memory.js";
import { point } from "./number.js";
import { again, randomise, settle } from "./randomise.js";

const survey = JSON.parse(document.getElementById("data").textContent);
const memory = new Memory(survey.digest);
const at = (id) => document.getElementById(id);
const MANY = 40; // options that are a list instead of buttons
const LONGEST = 5 * 60; // seconds between two tries to reach the server
let pause = 5;
let timer = null;

function element(name, fields = {}, ...children) {
  const made = Object.assign(document.createElement(name), fields);
  made.append(...children);
  return made;
}

// --- the questions

function options(question, place) {
  if (question.kind === "ranking") return places(question, place);
  if (question.kind === "choice" && question.options.length > MANY) return [listed(question, place)];
  const type = question.kind === "several" ? "checkbox" : "radio";
  return question.options.map((label, i) => {
    const input = element("input", { type, name: "q" + place, value: String(i), autocomplete: "off" });
    return element("label", { className: "option" }, input, element("span", { textContent: label }));
  });
}

// One of very many, from a list.
function listed(question, place) {
  const select = element("select", { id: "q" + place, autocomplete: "off" }, element("option", { value: "", textContent: "–" }));
  select.setAttribute("aria-label", question.text);
  question.options.forEach((label, i) => select.append(element("option", { value: String(i), textContent: label })));
  return select;
}

// A place for each option: 1 is the first.
function places(question, place) {
  return question.options.map((label, i) => {
    const select = element("select", { id: `q${place}o${i}`, autocomplete: "off" }, element("option", { value: "", textContent: "–" }));
    question.options.forEach((_, j) => select.append(element("option", { value: String(j), textContent: String(j + 1) })));
    return element("label", { className: "option" }, select, element("span", { textContent: label }));
  });
}

// A word of one's own.
function word(question, place) {
  const { law, word: { shown } } = question;
  const input = element("input", { type: "text", id: "q" + place, autocomplete: "off", autocapitalize: "none", spellcheck: false });
  input.setAttribute("aria-label", question.text);
  input.setAttribute("aria-describedby", "every" + place);
  const hint = `A word of at most ${law.length} letters (${shown}); of a longer one, its first ${law.length}.`;
  return [element("div", { className: "number" }, input), element("p", { className: "quiet", id: "every" + place, textContent: hint })];
}

// The numbers of the letters of a word as it was typed, or null if it is none.
function spelt(text, { law, word: { letters, folds } }) {
  const plain = text.trim().normalize("NFC");
  const known = [...letters];
  const found = [...(folds ? plain.toLowerCase() : plain)].map((letter) => known.indexOf(letter) + 1);
  return found.length < 1 || found.length > law.length || found.includes(0) ? null : found;
}

function field(question, place) {
  const { least, most, step, unit } = question.number;
  const input = element("input", { type: "text", inputMode: "decimal", id: "q" + place, autocomplete: "off" });
  const every = `A number from ${least} to ${most} in steps of ${step}`;
  input.setAttribute("aria-label", question.text);
  input.setAttribute("aria-describedby", "every" + place);
  const hint = element("p", { className: "quiet", id: "every" + place, textContent: unit ? `${every} (${unit}).` : every + "." });
  return [element("div", { className: "number" }, input, element("span", { textContent: unit })), hint];
}

// The code of an invitation, which the link may bring: what follows # is not sent to any server.
function invitation() {
  const value = new URLSearchParams(location.hash.slice(1)).get("code") ?? "";
  const input = element("input", { type: "text", id: "code", value, autocomplete: "off", autocapitalize: "none", spellcheck: false });
  input.setAttribute("aria-label", "Your invitation code");
  const hint = element("p", { className: "quiet" },
    "It shows that you were invited, and can be used once. Your report cannot be linked to it: the server signs a number that says nothing about your report. All respondents must see this key: ",
    element("code", { id: "fingerprint", textContent: survey.fingerprint }), ".");
  return element("fieldset", {}, element("legend", { textContent: "Your invitation code" }), element("div", { className: "number" }, input), hint);
}

function ask() {
  if (survey.key) at("questions").append(invitation());
  survey.questions.forEach((question, place) => {
    const set = element("fieldset", { id: "set" + place }, element("legend", { textContent: question.text }));
    set.append(...(question.options ? options : question.word ? word : field)(question, place));
    set.append(element("p", { className: "quiet", textContent: question.chance }));
    at("questions").append(set);
  });
}

function answered(question, place) {
  if (question.word) return spelt(at("q" + place).value, question);
  if (!question.options) {
    const found = point(at("q" + place).value, question.number);
    const blocks = question.number.blocks;
    return found === null || !blocks ? found : blocks.map((block) => Math.floor(found / block));
  }
  if (question.kind === "several") {
    return [...document.querySelectorAll(`input[name="q${place}"]`)].map((input) => Number(input.checked));
  }
  if (question.kind === "choice" && question.options.length > MANY) {
    const { value } = at("q" + place);
    return value === "" ? null : Number(value);
  }
  if (question.kind === "ranking") {
    const ranks = question.options.map((_, i) => at(`q${place}o${i}`).value);
    return new Set(ranks).size === ranks.length && !ranks.includes("") ? ranks.map(Number) : null;
  }
  const chosen = document.querySelector(`input[name="q${place}"]:checked`);
  return chosen ? Number(chosen.value) : null;
}

async function make() {
  if (memory.read()) return show(); // another tab was faster
  const answers = survey.questions.map(answered);
  const first = answers.indexOf(null);
  survey.questions.forEach((_, place) => at("set" + place).classList.toggle("wrong", answers[place] === null));
  if (first >= 0) {
    const question = survey.questions[first];
    at("problem").textContent = question.kind === "ranking"
      ? `Please give each answer a place of its own, 1 for the first: ${question.text}`
      : question.options
      ? `Please choose an answer to: ${question.text}`
      : question.word
      ? `Please give a word of at most ${question.law.length} letters (${question.word.shown}) for: ${question.text}`
      : `Please give a number from ${question.number.least} to ${question.number.most} in steps of ${question.number.step} for: ${question.text}`;
    document.querySelector(`#set${first} input, #set${first} select`).focus();
    return;
  }
  const code = survey.key ? at("code").value.trim() : null;
  if (survey.key && !code) {
    at("problem").textContent = "Please give your invitation code.";
    at("code").focus();
    return;
  }
  try {
    if (survey.key && !crypto.subtle) throw new Error("no digest without TLS");
    const settled = survey.repeat
      ? await memory.forGood(survey.repeat.series, () => survey.questions.map((question) => settle(question.permanent)))
      : null;
    const draw = (question, place) => settled
      ? again(question.law, settled[place], answers[place])
      : randomise(question.law, answers[place]);
    await memory.once(() => survey.questions.map(draw));
  } catch {
    at("problem").textContent = "This browser cannot randomise or remember answers. Nothing was sent.";
    return;
  }
  if (survey.key && !memory.read().code) memory.write({ ...memory.read(), code });
  show();
  at("outcome-title").focus();
  await send();
}

// --- what is sent

function words(question, report) {
  switch (question.law.law) {
    case "choice":
    case "near":
    case "table":
      return question.reports[report];
    case "hash":
    case "rows":
      return `The number ${report}, which stands for a group of many answers`;
    case "prefix": {
      const [level, , bucket] = report.split(":");
      const letters = level === "1" ? "first letter" : `first ${level} letters`;
      return `Group ${Number(bucket) + 1} of the ${2 ** question.law.parities} into which chance sorted all words by their ${letters}`;
    }
    case "parts": {
      const [part, told] = report.split(":");
      const labels = question.reports[part];
      if (question.law.parts[part].law === "choice") return labels[told];
      const marked = labels.filter((_, i) => told[i] === "1");
      return marked.length ? "Marked: " + marked.join(", ") : "Nothing is marked";
    }
    default: {
      const marked = question.options.filter((_, i) => report[i] === "1");
      return marked.length ? "Marked: " + marked.join(", ") : "Nothing is marked";
    }
  }
}

function body({ token, answers, signature }) {
  return JSON.stringify({ survey: survey.digest, token, answers, ...(survey.key ? { signature } : {}) });
}

async function post(path, content) {
  try {
    return await fetch(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: content,
      credentials: "omit",
      referrerPolicy: "no-referrer",
      cache: "no-store",
      keepalive: true, // goes on if the page is closed now
    });
  } catch {
    return { status: 0 }; // no network
  }
}

// The token signed for the invitation, once: what was blinded is stored before it is sent, and forgotten after.
async function sign() {
  const state = memory.read();
  if (!survey.key || state.signature) return 200;
  const made = state.made ?? await blind(survey.key, survey.digest, state.token);
  if (!made) return 400;
  if (!state.made) memory.write({ ...state, made });
  const answer = await post("sign", JSON.stringify({ survey: survey.digest, code: state.code ?? "", blinded: made.blinded }));
  if (answer.status !== 200) return answer.status;
  const signature = unblind(survey.key, made, (await answer.json()).signature);
  if (!signature) return 400;
  const { code, made: used, ...rest } = memory.read();
  memory.write({ ...rest, signature });
  return 200;
}

function show() {
  const state = memory.read();
  at("ask").hidden = Boolean(state);
  at("outcome").hidden = !state;
  if (!state) return;
  at("questions").replaceChildren(); // the true answers are gone
  tell(state.state === "waiting" ? "sending" : state.state, state);
}

const TITLES = { made: "Not sent yet", sending: "Sending", waiting: "Not sent yet", sent: "What was sent", refused: "Not sent" };
const STATUS = {
  sending: "Sending your randomised report.",
  made: "Your answers were randomised earlier, but not sent.",
  waiting: "The server cannot be reached. This device keeps your randomised report and sends it when it can. You may close the page and come back. You will see what was sent.",
  sent: "Sent. Thank you.",
  refused: "The server does not take your report. The survey may have changed or ended, or its server is not set up well: tell whoever runs it. This device keeps the report, and you may try again.",
};

function tell(stage, state) {
  at("outcome-title").textContent = TITLES[stage];
  at("status").textContent = STATUS[stage];
  at("send").hidden = stage === "sending" || stage === "sent";
  at("send").textContent = stage === "made" ? "Send my report" : "Try again now";
  at("sent").hidden = stage !== "sent";
  if (stage !== "sent") return; // not before the server has it
  at("reports").replaceChildren(...survey.questions.map((question, place) => element("li", {},
    element("p", { className: "quiet", textContent: question.text }),
    element("p", { className: "sent", textContent: words(question, state.answers[place]) }),
    element("p", { textContent: question.reveal }))));
  at("raw").textContent = body(state);
}

async function send() {
  const state = memory.read();
  if (!state) return;
  clearTimeout(timer);
  if (state.state !== "sent") tell("sending", state);
  const signed = await (navigator.locks ? navigator.locks.request(memory.key + ".sign", sign) : sign());
  const status = signed === 200 ? (await post("report", body(memory.read()))).status : signed;
  const later = status === 0 || status === 429 || status >= 500;
  const arrived = status === 200 || memory.read()?.state === "sent"; // what has arrived once, by any tab, has arrived
  const now = arrived ? "sent" : later ? "waiting" : "refused";
  memory.write({ ...memory.read(), state: now });
  tell(now, memory.read());
  if (now === "waiting") {
    timer = setTimeout(send, pause * 1000);
    pause = Math.min(2 * pause, LONGEST);
  }
}

// --- start

document.title = at("title").textContent = survey.title;
at("intro").textContent = survey.intro;
at("together").textContent = survey.together;
at("about").textContent = survey.about;
at("published").textContent = survey.published;
at("forgetful").hidden = memory.lasting;
if (survey.repeat) {
  at("round").textContent = survey.repeat.title;
  at("loss").textContent = survey.repeat.loss;
  at("forgetful").textContent = "This browser does not let the page remember what stands for your answers. The larger of the two bounds below holds for you, if you answer once in each round.";
}
for (const one of document.querySelectorAll(".once")) one.hidden = Boolean(survey.repeat);
for (const one of document.querySelectorAll(".rounds")) one.hidden = !survey.repeat;
at("make").addEventListener("click", make);
at("send").addEventListener("click", send);
if (!memory.read()) ask();
show();
const resume = () => memory.read()?.state === "waiting" && send();
addEventListener("online", resume);
addEventListener("storage", (event) => event.key === memory.key && show());
resume();
if ("serviceWorker" in navigator) {
  navigator.serviceWorker.register("sw.js?survey=" + survey.digest).catch(() => {}); // works without, only not offline
}
