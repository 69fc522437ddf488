/**
 * Words that this repository once used as terms where the field has its own. They are kept out of exported names, file
 * names, doc comments and descriptions; what ordinary English says with them is listed beside each.
 */

interface OwnWord {
  /** Forms of the word, as sentences have them. */
  readonly inText: RegExp
  /** Forms of the word, as one part of a name has them. */
  readonly inName: RegExp
  /** Words that the field has for it. */
  readonly field: string
  /** Phrases of ordinary English that have it. */
  readonly english?: ReadonlyArray<RegExp>
  /** Names that have it in its ordinary meaning. */
  readonly names?: ReadonlySet<string>
}

const carry = "carr(?:y|ies|ied|ying|iers?)"
const party = "(?:owner|attestor|issuer|provider|operator|contract|chain|node)"

const ownWords: ReadonlyArray<OwnWord> = [
  { inText: /\bfloors?\b/giu, inName: /^floors?$/u, field: "minimum amount out" },
  {
    inText: new RegExp(`\\b${carry}\\b`, "giu"),
    inName: new RegExp(`^${carry}$`, "u"),
    field: "submit, relay, include, contain",
    english: [new RegExp(`\\b${carry}\\b(?: \\S+){0,11} out\\b`, "giu"), /\bcarried over\b/giu],
    names: new Set(["carriedOver", "CarriedOver"])
  },
  {
    inText: /\bmark(?:s|ed|ing)?\b/giu,
    inName: /^mark(?:s|ed|ing)?$/u,
    field: "operation tag, revision, fingerprint",
    english: [/\bmark(?:s|ed)\b(?= (?:\S+ ){0,3}(?:as|by|with|that|line)\b)/giu, /\b(?:combining|their|the) marks\b/giu]
  },
  {
    inText: /\bplaces?\b/giu,
    inName: /^places?$/u,
    field: "slot, position, index, jurisdiction, sub-account",
    english: [
      /\b(?:decimal|binary) places?\b/giu,
      /\bin (?:the )?(?:\S+'s |its |their )?place\b/giu,
      /\b(?:tak(?:e|es|en|ing)|took) (?:\S+ )?place\b/giu,
      /\b(?:one|only) place (?:of|that)\b/giu
    ]
  },
  {
    inText: new RegExp(`\\b(?:${party}s?'s? (?:own |signed )?word|word of an? ${party})\\b`, "giu"),
    inName: /^words?$/u,
    field: "signature, signed price, answer",
    // Words of 32 bytes, as the ABI has them, and words of a language.
    names: new Set([
      "abiWords",
      "numberWord",
      "addressWord",
      "bytesWords",
      "arrayWords",
      "inWords",
      "wordsOf",
      "ownWords"
    ])
  },
  {
    inText: /\blook(?:s|ed|ing)?\b/giu,
    inName: /^look(?:s|ed|ing)?$/u,
    field: "read, check",
    english: [/\blook(?:s|ed|ing)?[ -](?:\S+ ){0,2}(?:up|like|alike)\b/giu]
  },
  {
    inText: /\b(?:tells?|told|telling)\b/giu,
    inName: /^(?:tells?|told|telling)$/u,
    field: "report, record, emit, say",
    english: [/\btells? (?:\S+ ){1,3}apart\b/giu]
  },
  { inText: /\bleast\b/giu, inName: /^least$/u, field: "minimum, lowest", english: [/\bat least\b/giu] },
  { inText: /\bgather(?:s|ed|ing)?\b/giu, inName: /^gather(?:s|ed|ing)?$/u, field: "batched" },
  { inText: /\bways? between (?:two )?(?:chains|them)\b/giu, inName: /^ways?$/u, field: "route" }
]

const codeSpan = /`[^`]*`/gu

/** The first word of the list that a sentence uses as a term, with the field's; names in backticks are held as names. */
export const ownWordIn = (sentence: string): string | undefined => {
  const prose = sentence.replaceAll(codeSpan, "")
  for (const { english = [], field, inText } of ownWords) {
    const [found] = english.reduce((left, phrase) => left.replaceAll(phrase, ""), prose).match(inText) ?? []
    if (found !== undefined) return `${found} -> ${field}`
  }
  return undefined
}

const partsOf = (name: string): ReadonlyArray<string> =>
  name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/gu)?.map((part) => part.toLowerCase()) ?? []

/** The field's words for a name of which a part is a word of the list. */
export const ownWordInName = (name: string): string | undefined => {
  const parts = partsOf(name)
  return ownWords.find(({ inName, names }) => names?.has(name) !== true && parts.some((part) => inName.test(part)))
    ?.field
}
