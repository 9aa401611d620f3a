/**
 * What goes over the wire, for editors and type checkers; nothing here runs.
 *
 * @typedef {Record<string, string>} Text the same thing said in each language
 * @typedef {Record<string, string[]>} Notes
 * @typedef {{why: string, turns?: string[], triples?: string[], text?: string, fits?: boolean, answer?: number|string}} Example
 * @typedef {{id: string, name: Text, definition: Text, number?: number, aliases?: string[], key?: string,
 *   cell?: [string, string], on?: string, covers?: "token"|"element", notes?: Notes,
 *   examples?: Record<string, Example[]>}} Label
 * @typedef {{value: number, meaning: Text}} Level
 * @typedef {{part: Text, whole: Text, times: number, least: number}} Calculator
 * @typedef {{name: Text, values: {id: string, name: Text, definition: Text}[]}} Axis
 * @typedef {{id: string, kind: "label"|"labels"|"scale"|"spans"|"text", name: Text, ask: Text, required?: boolean,
 *   notes?: Notes, examples?: Record<string, Example[]>, labels?: Label[], labels_from?: string, at_least?: number,
 *   at_most?: number, in_order?: boolean, alone?: string[], apart?: [string, string][], ties?: [string, string][],
 *   axes?: {rows: Axis, columns: Axis, cells?: {at: [string, string], definition: Text}[]}, levels?: Level[],
 *   calculator?: Calculator, reference?: string, suggest?: Notes}} Question
 * @typedef {{id: string, name: Text, definition: Text, examples?: Notes}} ListItem
 * @typedef {{id: string, title: Text, groups: {id: string, name: Text, items: ListItem[]}[]}} ReferenceList
 * @typedef {{id: string, title: Text, text: Text, labels?: string[]}} Step
 * @typedef {{scheme: string, version: string, title: Text, summary: Text, source?: Text,
 *   unit: {role: string, context?: string}, questions: Question[], background?: {id: string, title: Text, text: Text}[],
 *   steps?: Step[], lists?: ReferenceList[]}} Scheme
 *
 * @typedef {{segment: string, start: number, end: number, label: string, tie?: string}} Mark
 * @typedef {string|number|string[]|Mark[]} Answer
 * @typedef {Record<string, Answer>} Answers
 * @typedef {{id: string, role: string, text: string, parts?: [string, string, string], unit?: number,
 *   mark?: string|string[]}} Segment
 * @typedef {{campaign: string, title: string, campaign_state: string, number: number, position: number, own: number,
 *   total: number, done: number, document: string, language: string|null,
 *   scheme: {id: string, version: string, url: string}, context: Segment[], target: Segment|null, answers: Answers,
 *   revision: number, submitted: boolean, state: string, previous: number|null, next: number|null,
 *   unjudged: number[], tokens: Record<string, [number, number][]>, votes?: Record<string, number>,
 *   suggestion?: {by: string, answers: Answers}, part?: "training",
 *   feedback?: {right: boolean, answers: Answers[], text: string}}} Unit
 * @typedef {{person: number, csrf: string, language: string, words: string}} Config
 * @typedef {{rule: string, question: string, message: string}} Broken
 *
 * @typedef {{seq?: number, key: string, person: number, campaign: string, unit: number, sheet: string,
 *   kind: "judgments"|"flags", body: any, tried: boolean, refused: null|{reason: string, messages: string[]}}} Entry
 * @typedef {{key: string, revision: number, stored_at: string, replaced: number|null, extra: boolean,
 *   next: number|null}} Saved
 *
 * @typedef {{keys: string[], label: string, run: () => void, quiet?: boolean}} Binding
 * @typedef {{question: Question, element: HTMLElement, show: (answer: Answer|undefined) => void,
 *   bindings?: Binding[], digit?: (digit: string) => boolean, focus: () => void, commit?: () => void,
 *   search?: () => void, done?: () => void}} Part
 * @typedef {import("./page.js").Page} Page
 */
export {};
