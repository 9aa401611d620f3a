/** The words of the page, in the reader's language. */

export class Words {
  /** @param {{language: string, words: Record<string, string>, rules: Record<string, string>,
   *   kinds: Record<string, string>, empty: Record<string, string>, roles: Record<string, string>}} catalogue */
  constructor(catalogue) {
    this.catalogue = catalogue;
    this.language = catalogue.language;
    /** @type {string|undefined} the language of the guideline's text, where it is not the reader's */
    this.guideline = undefined;
  }

  /** A word of the judging page. @param {string} key @param {Record<string, any>} [values] */
  say(key, values = {}) {
    return fill(this.catalogue.words[`judge.${key}`] ?? key, values);
  }

  /** A word of all pages. @param {string} key @param {Record<string, any>} [values] */
  common(key, values = {}) {
    return fill(this.catalogue.words[`common.${key}`] ?? key, values);
  }

  /** What a broken rule says. @param {string} rule @param {Record<string, string>} values */
  rule(rule, values) {
    return fill(this.catalogue.rules[rule], values);
  }

  /**
   * What a guideline says: in the language that goes with the document, else in the reader's, in English, in any.
   * @template T
   * @param {Record<string, T>|undefined} text
   * @returns {T|undefined}
   */
  of(text) {
    if (!text) return undefined;
    return text[this.guideline ?? this.language] ?? text[this.language] ?? text.en ?? Object.values(text)[0];
  }

  /** Names in a row. @param {(string|undefined)[]} names */
  join(names) {
    return names.join(this.language === "ja" ? "、" : ", ");
  }
}

/** @param {string} template @param {Record<string, any>} values */
function fill(template, values) {
  return template.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/** Fetch the words. @param {string} url */
export async function fetchWords(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`words: ${answer.status}`);
  return new Words(await answer.json());
}
