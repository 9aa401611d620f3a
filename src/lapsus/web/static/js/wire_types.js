/**
 * What the server sends, for editors and the type checker; nothing here runs.
 * Made from the records of `lapsus.model` and `lapsus.web.schemas` by `make types`: do not change it by hand.
 *
 * @typedef {string|number|string[]|Mark[]} Answer
 *
 * @typedef {object} Analysis
 * @property {string[]} [tie_break]
 * @property {string[][]} [merged]
 * @property {string[]} [scores]
 *
 * @typedef {object} Axes
 * @property {Axis} rows
 * @property {Axis} columns
 * @property {Cell[]} [cells]
 *
 * @typedef {object} Axis
 * @property {Record<string, string>} name
 * @property {AxisValue[]} values
 *
 * @typedef {object} AxisValue
 * @property {string} id
 * @property {Record<string, string>} name
 * @property {Record<string, string>} definition
 *
 * @typedef {object} Calculator
 * @property {Record<string, string>} part
 * @property {Record<string, string>} whole
 * @property {number} times
 * @property {number} least
 *
 * @typedef {object} Cell
 * @property {[string, string]} at
 * @property {Record<string, string>} definition
 *
 * @typedef {object} Condition
 * @property {string} question
 * @property {(number|string)[]} answers
 *
 * @typedef {object} Example
 * @property {string} why
 * @property {string[]} [turns]
 * @property {string[]} [triples]
 * @property {string} [text]
 * @property {boolean} [fits]
 * @property {number|string} [answer]
 *
 * @typedef {object} Feedback
 * @property {boolean} right
 * @property {Record<string, Answer>[]} answers
 * @property {string} text
 *
 * @typedef {object} Flag
 * @property {number} id
 * @property {number} unit
 * @property {string} name
 * @property {string} text
 * @property {string} at
 * @property {boolean} settled
 * @property {boolean} own
 * @property {boolean} unread
 * @property {Reply[]} replies
 *
 * @typedef {object} Label
 * @property {string} id
 * @property {Record<string, string>} name
 * @property {Record<string, string>} definition
 * @property {number} [number]
 * @property {string[]} [aliases]
 * @property {string} [key]
 * @property {[string, string]} [cell]
 * @property {"passage"|"prompt"|"system"|"text"|"tool"|"triple"|"user"} [on]
 * @property {"element"|"token"} [covers]
 * @property {Record<string, string[]>} [notes]
 * @property {Record<string, Example[]>} [examples]
 *
 * @typedef {object} Level
 * @property {number} value
 * @property {Record<string, string>} meaning
 *
 * @typedef {object} ListGroup
 * @property {string} id
 * @property {Record<string, string>} name
 * @property {ListItem[]} items
 *
 * @typedef {object} ListItem
 * @property {string} id
 * @property {Record<string, string>} name
 * @property {Record<string, string>} definition
 * @property {Record<string, string[]>} [examples]
 * @property {string} [sign]
 *
 * @typedef {object} Mark
 * @property {string} segment
 * @property {number} start
 * @property {number} end
 * @property {string} label
 * @property {string} [tie]
 *
 * @typedef {object} Question
 * @property {string} id
 * @property {string} kind
 * @property {Record<string, string>} name
 * @property {Record<string, string>} ask
 * @property {boolean} [required]
 * @property {Condition} [only_if]
 * @property {Record<string, string[]>} [notes]
 * @property {Record<string, Example[]>} [examples]
 * @property {Label[]} [labels]
 * @property {string} [labels_from]
 * @property {number} [at_least]
 * @property {number} [at_most]
 * @property {boolean} [in_order]
 * @property {string[]} [alone]
 * @property {[string, string][]} [apart]
 * @property {[string, string][]} [ties]
 * @property {Axes} [axes]
 * @property {Level[]} [levels]
 * @property {Calculator} [calculator]
 * @property {string} [reference]
 * @property {Record<string, string[]>} [suggest]
 * @property {Analysis} [analysis]
 *
 * @typedef {object} ReferenceList
 * @property {string} id
 * @property {Record<string, string>} title
 * @property {ListGroup[]} groups
 *
 * @typedef {object} Reply
 * @property {string} name
 * @property {string} text
 * @property {string} at
 * @property {boolean} own
 *
 * @typedef {object} Saved
 * @property {string} key
 * @property {number} revision
 * @property {string} stored_at
 * @property {number|null} replaced
 * @property {boolean} extra
 * @property {number|null} next
 *
 * @typedef {object} Scheme
 * @property {string} scheme
 * @property {string} version
 * @property {Record<string, string>} title
 * @property {Record<string, string>} summary
 * @property {UnitRule} unit
 * @property {Question[]} questions
 * @property {string[]} [compatible]
 * @property {Record<string, string>} [source]
 * @property {TargetRule} [target]
 * @property {Section[]} [background]
 * @property {Step[]} [steps]
 * @property {ReferenceList[]} [lists]
 *
 * @typedef {object} SchemeLink
 * @property {string} id
 * @property {string} version
 * @property {string} url
 *
 * @typedef {object} Section
 * @property {string} id
 * @property {Record<string, string>} title
 * @property {Record<string, string>} text
 *
 * @typedef {object} Segment
 * @property {string} id
 * @property {string} role
 * @property {string} text
 * @property {[string, string, string]} [parts]
 * @property {number} [unit]
 * @property {[number, number, string, string][]} [layout]
 * @property {string} [asked]
 * @property {string|string[]} [mark]
 *
 * @typedef {object} Step
 * @property {string} id
 * @property {Record<string, string>} title
 * @property {Record<string, string>} text
 * @property {string[]} [labels]
 *
 * @typedef {object} Suggestion
 * @property {string} by
 * @property {Record<string, Answer>} answers
 *
 * @typedef {object} TargetRule
 * @property {string} scheme
 * @property {string} question
 * @property {string[]} labels
 * @property {number} at_least
 *
 * @typedef {object} Unit
 * @property {string} campaign
 * @property {string} title
 * @property {string} campaign_state
 * @property {number} number
 * @property {number} position
 * @property {number} own
 * @property {number} total
 * @property {number} done
 * @property {string} document
 * @property {string|null} language
 * @property {SchemeLink} scheme
 * @property {Segment[]} context
 * @property {Segment|null} target
 * @property {Record<string, Answer>} answers
 * @property {number} revision
 * @property {boolean} submitted
 * @property {"done"|"extra"|"released"|"reserved"|"view"} state
 * @property {number|null} previous
 * @property {number|null} next
 * @property {number[]} unjudged
 * @property {Record<string, [number, number][]>} tokens
 * @property {Flag[]} flags
 * @property {Record<string, number>} votes
 * @property {Record<string, string>} vote_names
 * @property {Suggestion} suggestion
 * @property {"training"} part
 * @property {string} guideline
 * @property {"offered"|"required"} walk
 * @property {"offered"|"required"} steps
 * @property {Feedback} feedback
 *
 * @typedef {object} UnitRule
 * @property {"passage"|"prompt"|"system"|"text"|"tool"|"triple"|"user"|"document"} role
 * @property {"all"|"before"|"none"} [context]
 *
 */
export {};
