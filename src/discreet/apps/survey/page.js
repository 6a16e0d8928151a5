// The form: true answers in, randomised once, stored, sent, and only then shown. A true answer is never stored or sent.
// A report is shown only after the server has it: whoever could look first could keep back what chance made, and the
// reports that do arrive would follow another law than the one that is claimed.
import { Memory } from "./memory.js";
import { point } from "./number.js";
import { randomise } from "./randomise.js";

const survey = JSON.parse(document.getElementById("data").textContent);
const memory = new Memory(survey.digest);
const at = (id) => document.getElementById(id);
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
  return question.options.map((label, i) => {
    const input = element("input", { type: "radio", name: "q" + place, value: String(i), autocomplete: "off" });
    return element("label", { className: "option" }, input, element("span", { textContent: label }));
  });
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

function ask() {
  survey.questions.forEach((question, place) => {
    const set = element("fieldset", { id: "set" + place }, element("legend", { textContent: question.text }));
    set.append(...(question.options ? options(question, place) : field(question, place)));
    set.append(element("p", { className: "quiet", textContent: question.chance }));
    at("questions").append(set);
  });
}

function answered(question, place) {
  if (!question.options) return point(at("q" + place).value, question.number);
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
    at("problem").textContent = question.options
      ? `Please choose an answer to: ${question.text}`
      : `Please give a number from ${question.number.least} to ${question.number.most} in steps of ${question.number.step} for: ${question.text}`;
    document.querySelector(`#set${first} input`).focus();
    return;
  }
  try {
    await memory.once(() => survey.questions.map((question, place) => randomise(question.law, answers[place])));
  } catch {
    at("problem").textContent = "This browser cannot randomise or remember answers. Nothing was sent.";
    return;
  }
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
    default: {
      const marked = question.options.filter((_, i) => report[i] === "1");
      return marked.length ? "Marked: " + marked.join(", ") : "Nothing is marked";
    }
  }
}

function body({ token, answers }) {
  return JSON.stringify({ survey: survey.digest, token, answers });
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
  let status = 0;
  try {
    const answer = await fetch("report", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: body(state),
      credentials: "omit",
      referrerPolicy: "no-referrer",
      cache: "no-store",
      keepalive: true, // goes on if the page is closed now
    });
    status = answer.status;
  } catch {
    // No network: wait below.
  }
  const later = status === 0 || status === 429 || status >= 500;
  const arrived = status === 200 || memory.read()?.state === "sent"; // what has arrived once, by any tab, has arrived
  const now = arrived ? "sent" : later ? "waiting" : "refused";
  memory.write({ ...state, state: now });
  tell(now, state);
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
