/**
 * What keeps the judging page there without a network: our own files, the page of each campaign as it was loaded last, and
 * a page that says so in place of the others. Whatever comes from the network goes before what is kept.
 *
 * The server sets VERSION, STATIC and BELOW (what is in front of our own root) before this. What is somebody's own is kept
 * under their number, for one person at a time: signing out forgets it, and so does anybody else who signs in. Answers are
 * not here: they wait in the outbox.
 */
/** As the type checker knows no workers. @type {any} */
const worker = self;
/** @type {{VERSION: string, STATIC: string, BELOW: string}} */
const { VERSION, STATIC, BELOW } = worker;
const SHELLS = `${BELOW}lapsus-shell-`;
const SHELL = SHELLS + VERSION;
const OWN = `${BELOW}lapsus-own-`;
const OFFLINE = `${BELOW}/offline`;
const JUDGING = /^\/c\/([a-z0-9-]+)\/u\/[0-9]+$/;
const NOBODY = "0";

worker.addEventListener("install", (/** @type {any} */ event) => {
  const needed = [OFFLINE, `${STATIC}css/base.css`, `${STATIC}css/pages.css`];
  event.waitUntil(caches.open(SHELL).then((cache) => cache.addAll(needed)).then(() => worker.skipWaiting()));
});

worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(begin()));

/** A new version: nothing of an older one is of use any more. */
async function begin() {
  const old = (await caches.keys()).filter((name) => name.startsWith(SHELLS) && name !== SHELL);
  await Promise.all(old.map((name) => caches.delete(name)));
  if (old.length) await forget();
  await worker.clients.claim();
}

worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (url.origin !== location.origin) return;
  if (request.method !== "GET") {
    if (url.pathname === `${BELOW}/sign-out`) event.waitUntil(forget());
  } else if (request.mode === "navigate") event.respondWith(visit(event, url));
  else if (url.pathname.startsWith(STATIC) || url.pathname.startsWith(`${BELOW}/words/`)) event.respondWith(fromKept(request, () => caches.open(SHELL)));
  else if (url.pathname.startsWith(`${BELOW}/schemes/`)) event.respondWith(fromKept(request, ownCache));
});

/** What a page was made of before this was here to see it. */
worker.addEventListener("message", (/** @type {any} */ event) => event.waitUntil(keepAll(event.data)));

/** @param {{person: number, page: string, urls: string[]}} what */
async function keepAll({ person, page, urls }) {
  await onlyOf(String(person));
  const own = await caches.open(OWN + person);
  const shell = await caches.open(SHELL);
  for (const url of urls) {
    const cache = url.startsWith(`${BELOW}/schemes/`) ? own : shell;
    if (await cache.match(url)) continue;
    const answer = await fetch(url).catch(() => null);
    if (answer && isFile(answer)) await cache.put(url, answer);
  }
  const place = shellOf(page);
  if (!place || (await own.match(place))) return;
  const answer = await fetch(page).catch(() => null);
  if (answer) await keepPage(answer, place);
}

/** Where the page of a campaign is kept: one for all its units. @param {string} path */
function shellOf(path) {
  const found = path.startsWith(BELOW) && JUDGING.exec(path.slice(BELOW.length));
  return found && `${BELOW}/c/${found[1]}/`;
}

/** @param {any} event @param {URL} url */
async function visit(event, url) {
  let answer;
  try {
    answer = await fetch(event.request);
  } catch {
    return (await keptPage(url)) ?? (await caches.match(OFFLINE)) ?? Response.error();
  }
  // A page that tells of trouble does not know who asked.
  const person = answer.ok ? answer.headers.get("X-Lapsus-Person") : null;
  if (person !== null) event.waitUntil(onlyOf(person));
  const place = shellOf(url.pathname);
  if (place) event.waitUntil(keepPage(answer.clone(), place));
  return answer;
}

/** @param {Response} answer @param {string} place */
async function keepPage(answer, place) {
  const person = answer.headers.get("X-Lapsus-Person") ?? NOBODY;
  if (!answer.ok || answer.redirected || person === NOBODY) return;
  await onlyOf(person);
  await (await caches.open(OWN + person)).put(place, answer);
}

/** @param {URL} url */
async function keptPage(url) {
  const place = shellOf(url.pathname);
  const own = place ? await ownCache() : undefined;
  return place ? own?.match(place) : undefined;
}

/** The addresses of these change with their content: what is kept is right. @param {Request} request @param {() => Promise<Cache|undefined>} open */
async function fromKept(request, open) {
  const cache = await open();
  const kept = await cache?.match(request);
  if (kept) return kept;
  const answer = await fetch(request);
  if (isFile(answer)) await cache?.put(request, answer.clone());
  return answer;
}

/** Networks answer in a server's place, with pages: none of our files is one. @param {Response} answer */
function isFile(answer) {
  return answer.ok && !answer.redirected && !answer.headers.get("Content-Type")?.startsWith("text/html");
}

async function ownCache() {
  const name = (await caches.keys()).find((one) => one.startsWith(OWN));
  return name ? caches.open(name) : undefined;
}

/** Forget what is anybody else's. @param {string} person */
async function onlyOf(person) {
  const others = (await caches.keys()).filter((name) => name.startsWith(OWN) && name !== OWN + person);
  await Promise.all(others.map((name) => caches.delete(name)));
}

function forget() {
  return onlyOf(NOBODY);
}
