/**
 * Where the workbench is on its host: at the root, or below a path such as /tools/lapsus. Our own address tells, as it is
 * /static/DIGEST/js/addresses.js behind whatever that is.
 */
const below = new URL("../../..", import.meta.url).pathname.slice(0, -1);

/** The address of a path of ours. @param {string} path */
export function at(path) {
  return below + path;
}

/** A name in the browser's keeping, which is shared with whatever else is on the host. @param {string} name */
export function named(name) {
  return below + name;
}
