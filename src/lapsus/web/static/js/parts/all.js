/** Which part asks which question. Only the parts that a guideline needs are fetched. */
import { labelsOf } from "../scheme.js";
import { textPart } from "./text.js";

const MANY = 20;

/** @type {Record<string, () => Promise<(question: any, page: any) => import("../types.js").Part>>} */
const PARTS = {
  label: async () => (await import("./label.js")).labelPart,
  grid: async () => (await import("./grid.js")).gridPart,
  lists: async () => (await import("./lists.js")).listsPart,
  scale: async () => (await import("./scale.js")).scalePart,
  spans: async () => (await import("./spans.js")).spansPart,
  text: async () => textPart,
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
export async function loadParts(scheme) {
  const names = [...new Set(scheme.questions.map((question) => partOf(scheme, question)))];
  const made = await Promise.all(names.map((name) => PARTS[name]()));
  const makers = new Map(names.map((name, place) => [name, made[place]]));
  return (/** @type {import("../types.js").Question} */ question, /** @type {import("../page.js").Page} */ page) =>
    /** @type {any} */ (makers.get(partOf(scheme, question)))(question, page);
}
