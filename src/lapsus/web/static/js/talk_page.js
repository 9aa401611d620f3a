/**
 * A talk. What one sends waits in the browser until the server says that it is on disk; then the other side is waited for.
 * Everything has a key made once, so that nothing is said twice, whatever the network does and however many tabs there are.
 */
import { at, named } from "./addresses.js";
import { byId, el, randomName, readJson } from "./dom.js";

/** @typedef {{url: string, body: any}} Sending */
let talk = readJson("talk");
const words = readJson("talk-words");
const who = readJson("who");
const base = at(`/api/v1/campaigns/${talk.campaign}/talks/${talk.talk}`);
const place = named(`lapsus-talk-${who.person}-${talk.talk}`);
const text = byId("text");
const LONGEST = 30;

let csrf = who.csrf;
let failures = 0;
let busy = false;
let again = false;
let isOver = false;
/** @type {ReturnType<typeof setTimeout>|undefined} */
let timer;
/** @type {(turn: any) => HTMLElement|null} questions about a turn, once they are loaded */
let questionsOf = () => null;

/** What waits to be sent, the first first. @returns {Sending[]} */
function waiting() {
  return JSON.parse(localStorage.getItem(place) ?? "[]");
}

/** @param {(entries: Sending[]) => Sending[]} change */
function setWaiting(change) {
  const left = change(waiting());
  if (left.length) localStorage.setItem(place, JSON.stringify(left));
  else localStorage.removeItem(place);
}

/** The turn of one's own that waits. */
function pending() {
  return waiting().find((entry) => entry.url.endsWith("turns"));
}

/** @param {string} url @param {any} body */
function send(url, body) {
  setWaiting((entries) => [...entries, { url, body: { key: randomName(), ...body } }]);
  failures = 0;
  pump();
}

/** @param {string} url @param {any} [body] @param {boolean} [renewed] @returns {Promise<{status: number, said: any}|null>} null: no network */
async function ask(url, body, renewed = false) {
  try {
    const answer = await fetch(url, {
      method: body === undefined ? "GET" : "POST",
      headers: body === undefined ? {} : { "Content-Type": "application/json", "X-CSRF-Token": csrf },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(30_000),
    });
    const said = await answer.json();
    if ((answer.status === 401 || said?.reason === "csrf") && !renewed) {
      const session = await (await fetch(at("/session.json"))).json();
      if (session.person?.id === who.person) {
        csrf = session.csrf;
        return ask(url, body, true);
      }
      byId("status").textContent = words["sign-in"];
      return null;
    }
    return { status: answer.status, said };
  } catch {
    return null;
  }
}

/** Send what waits, then wait for the other side; one at a time. */
async function pump() {
  if (busy) {
    again = true;
    return;
  }
  busy = true;
  clearTimeout(timer);
  try {
    do {
      again = false;
      show();
    } while ((await step()) || again);
  } finally {
    busy = false;
    show();
  }
}

/** @returns {Promise<boolean>} whether there is more to do at once */
async function step() {
  const entry = waiting()[0];
  if (entry) return deliver(entry);
  // What comes after a talk depends on all others: the server knows.
  if (isOver) location.reload();
  if (talk.state === "done" || talk.awaits === "me") return false;
  return refresh(talk.turns.length);
}

/** @param {Sending} entry */
async function deliver(entry) {
  const found = await ask(entry.url, entry.body);
  const isOurs = found && (found.said?.key === entry.body.key || found.said?.reason);
  if (!found || !isOurs || found.status >= 500 || found.status === 429 || found.status === 401) return later();
  setWaiting((entries) => entries.filter((one) => one.body.key !== entry.body.key));
  failures = 0;
  if (found.status === 201 && entry.url.endsWith("turns")) {
    if (!talk.turns.some((/** @type {any} */ turn) => turn.position === found.said.position)) {
      talk.turns.push({ position: found.said.position, mine: true, text: found.said.text, at: found.said.at, asked: false });
    }
    return refresh();
  }
  if (found.status === 201) return true;
  const { reason, messages = [], message = "" } = found.said;
  if (entry.url.endsWith("turns")) {
    await refresh();
    // What could not be said is not lost: it goes back to where it was written.
    if (!text.value) text.value = entry.body.text;
    byId("status").textContent = reason === "turn-taken" ? words.taken : `${words.refused} ${messages[0] ?? message}`;
    show(true);
    return false;
  }
  return true;
}

/** @param {number} [after] wait until there are more turns than that @returns {Promise<boolean>} */
async function refresh(after) {
  const found = await ask(after === undefined ? base : `${base}?after=${after}`);
  // Whoever waits for somebody may have been given to another who waits, from here or from another window.
  const isElsewhere = found?.status === 200 ? found.said.talk !== talk.talk : found?.said?.reason === "not-your-talk";
  if (isElsewhere) {
    location.reload();
    return false;
  }
  if (found?.status !== 200) return later();
  failures = 0;
  isOver ||= talk.state !== "done" && found.said.state === "done";
  talk = found.said;
  localStorage.setItem(`${place}-seen`, String(talk.turns.length));
  return true;
}

function later() {
  failures += 1;
  timer = setTimeout(pump, Math.min(LONGEST, 2 ** (failures - 1)) * 1000);
  return false;
}

/** @param {any} turn @param {boolean} [isPending] */
function bubble(turn, isPending = false) {
  const kind = `bubble${turn.mine ? " mine" : ""}${isPending ? " pending" : ""}${turn.asked ? " asked" : ""}`;
  const made = el(
    "li",
    { class: kind, data: { position: turn.position } },
    el("span", { class: "visually-hidden", text: `${turn.mine ? words.me : words.other}: ` }),
    el("p", { class: "words", dir: "auto", lang: talk.language, text: turn.text }),
  );
  return made;
}

/** @param {boolean} [keepsStatus] */
function show(keepsStatus = false) {
  const mine = pending();
  const list = byId("turns");
  const there = new Map([...list.children].map((one) => [one.dataset.position, one]));
  const wanted = talk.turns.map((/** @type {any} */ turn) => {
    const old = there.get(String(turn.position));
    const made = old && !old.classList.contains("pending") ? old : bubble(turn);
    if (turn.asked && !made.querySelector(".own")) {
      const asked = questionsOf(turn);
      if (asked) made.append(asked);
    }
    return made;
  });
  if (mine && mine.body.position >= talk.turns.length) wanted.push(bubble({ position: mine.body.position, mine: true, text: mine.body.text }, true));
  const isMore = wanted.length > list.children.length;
  if (wanted.some((/** @type {any} */ one, /** @type {number} */ index) => list.children[index] !== one) || list.children.length !== wanted.length) {
    list.replaceChildren(...wanted);
  }
  byId("far").textContent = words.far.replace("{done}", talk.exchanged).replace("{all}", talk.exchanges);
  const isMine = talk.awaits === "me" && !mine && talk.state === "open";
  byId("say").hidden = talk.state === "done";
  for (const control of byId("say").elements) if (control.id !== "text") control.disabled = !isMine;
  byId("end").hidden = !talk.may_end;
  byId("done").hidden = talk.state !== "done";
  byId("end-questions").hidden = !(talk.state === "done" && talk.ask === "end");
  if (!keepsStatus) byId("status").textContent = status(mine);
  if (isMore) (talk.state === "done" ? byId("done") : list.lastElementChild)?.scrollIntoView({ block: "nearest" });
}

/** @param {Sending|undefined} mine */
function status(mine) {
  if (failures > 0) return words.offline;
  if (mine) return words.sending;
  if (talk.state === "waiting") return words.waiting;
  if (talk.awaits === "other") return talk.failing ? words.failing : words.thinking;
  return "";
}

function say() {
  const said = text.value.trim();
  if (!said || talk.awaits !== "me" || pending()) return;
  text.value = "";
  localStorage.removeItem(`${place}-draft`);
  send(`${base}/turns`, { position: talk.turns.length, text: said });
  text.focus();
}

byId("say").addEventListener("submit", (/** @type {SubmitEvent} */ event) => {
  event.preventDefault();
  say();
});
text.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
  // Enter that ends the writing of kana is no Enter to send; on a phone it makes a new line.
  const isForSending = event.key === "Enter" && !event.shiftKey && !event.isComposing && event.keyCode !== 229;
  if (isForSending && matchMedia("(pointer: fine)").matches) {
    event.preventDefault();
    say();
  }
});
text.addEventListener("input", () => localStorage.setItem(`${place}-draft`, text.value));
text.value = localStorage.getItem(`${place}-draft`) ?? "";
byId("end").addEventListener("click", async () => {
  const found = await ask(`${base}/end`, {});
  if (found?.status === 200) location.reload();
});
const atOnce = async () => {
  failures = 0;
  if (!busy && talk.state !== "done") await refresh();
  pump();
};
addEventListener("online", atOnce);
addEventListener("storage", (event) => event.key?.startsWith(place) && !event.key.endsWith("-draft") && atOnce());
document.addEventListener("visibilitychange", () => !document.hidden && atOnce());

if (talk.ask) {
  const { ownQuestions } = await import("./talk_questions.js");
  questionsOf = await ownQuestions(talk, who.words, words, (segment, answers) => send(`${base}/answers`, { segment, answers }));
  if (talk.ask === "end") byId("end-questions").append(questionsOf({ position: "" }) ?? "");
}
show();
pump();
document.documentElement.dataset.ready = "";
