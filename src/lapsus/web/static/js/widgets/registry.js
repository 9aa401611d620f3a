/** Which part asks which question. Only the parts that a guideline needs are fetched. */
import { labelsOf } from "../scheme.js";
import { textWidget } from "./text.js";

const MANY = 20;

/** @type {Record<string, () => Promise<(question: any, page: any) => import("../types.js").Widget>>} */
const PARTS = {
  label: async () => (await import("./label.js")).labelWidget,
  grid: async () => (await import("./label_grid.js")).labelGridWidget,
  lists: async () => (await import("./label_list.js")).labelListWidget,
  scale: async () => (await import("./scale.js")).scaleWidget,
  spans: async () => (await import("./spans.js")).spansWidget,
  text: async () => textWidget,
  preference: async () => (await import("./preference.js")).preferenceWidget,
};

/** @param {import("../types.js").Scheme} scheme @param {import("../types.js").Question} question */
function partOf(scheme, question) {
  if (question.kind !== "label" && question.kind !== "labels") return question.kind;
  const isLong = Boolean(question.labels_from) || (!question.axes && labelsOf(scheme, question).length > MANY);
  if (isLong) return "lists";
  return question.kind === "label" ? "label" : "grid";
}

/**
 * Fetch what a guideline's questions need.
 * @param {import("../types.js").Scheme} scheme
 */
export async function loadWidgets(scheme) {
  const names = [...new Set(scheme.questions.map((question) => partOf(scheme, question)))];
  const made = await Promise.all(names.map((name) => PARTS[name]()));
  const makers = new Map(names.map((name, place) => [name, made[place]]));
  return (/** @type {import("../types.js").Question} */ question, /** @type {import("../judging_page.js").Page} */ page) =>
    /** @type {any} */ (makers.get(partOf(scheme, question)))(question, page);
}
