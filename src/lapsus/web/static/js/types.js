/**
 * What scripts pass to each other, for editors and the type checker; nothing here runs.
 *
 * @typedef {import("./wire_types.js").Answer} Answer
 * @typedef {import("./wire_types.js").Calculator} Calculator
 * @typedef {import("./wire_types.js").Example} Example
 * @typedef {import("./wire_types.js").Label} Label
 * @typedef {import("./wire_types.js").Level} Level
 * @typedef {import("./wire_types.js").ListItem} ListItem
 * @typedef {import("./wire_types.js").Mark} Mark
 * @typedef {import("./wire_types.js").Question} Question
 * @typedef {import("./wire_types.js").ReferenceList} ReferenceList
 * @typedef {import("./wire_types.js").Saved} Saved
 * @typedef {import("./wire_types.js").Scheme} Scheme
 * @typedef {import("./wire_types.js").Segment} Segment
 * @typedef {import("./wire_types.js").Step} Step
 * @typedef {import("./wire_types.js").Unit} Unit
 * @typedef {Record<string, string>} Text the same thing said in each language
 * @typedef {Record<string, string[]>} Notes
 * @typedef {Record<string, Answer>} Answers
 *
 * @typedef {{person: number, csrf: string, language: string, words: string}} Config
 * @typedef {{rule: string, question: string, message: string}} Broken
 * @typedef {{walk?: string[], steps?: string[]}} Procedure the way to an answer: labels asked one by one, steps taken
 *
 * @typedef {{seq?: number, key: string, at?: string, person: number, campaign: string, unit: number, sheet: string,
 *   kind: "judgments"|"flags", body: any, tried: boolean, refused: null|{reason: string, messages: string[]}}} Entry
 *
 * @typedef {{keys: string[], label: string, run: () => void, quiet?: boolean, repeats?: boolean}} Binding
 * @typedef {{question: Question, element: HTMLElement, show: (answer: Answer|undefined) => void,
 *   bindings?: Binding[], numbers?: string[], digit?: (digit: string) => boolean, focus: () => void, commit?: () => void,
 *   search?: () => void, done?: () => void, begin?: () => void, procedure?: () => Procedure, unfinished?: () => Broken[]}} Widget
 * @typedef {import("./judging_page.js").Page} Page
 */
export {};
