/**
 * What integrators write onto a strategy or a portfolio to find it again: an id of their own, and key-value pairs. The
 * service reads neither. See docs/decisions/0200-external-ids-and-metadata.md.
 */
import { Schema } from "effect"
import { ExternalIdTaken, ValidationFailed } from "#domain/errors/Errors.ts"
import type { PortfolioId, StrategyId } from "#domain/values/Ids.ts"

export const maxKeys = 16
export const maxKeyLength = 40
export const maxValueLength = 500
const maxExternalIdLength = 128

const externalIdPattern = new RegExp(`^[!-~]{1,${maxExternalIdLength}}$`, "u")
const keyPattern = new RegExp(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,${maxKeyLength - 1}}$`, "u")

/** Printable ASCII without spaces, case-sensitive. */
export const ExternalId = Schema.String.check(
  Schema.isPattern(externalIdPattern, {
    expected: `1 to ${maxExternalIdLength} printable ASCII characters without spaces`
  })
)

const Value = Schema.String.check(
  Schema.isBetweenCodePoints(0, maxValueLength, { expected: `at most ${maxValueLength} characters` }),
  Schema.makeFilter((value: string) => value.isWellFormed() && !/\p{Cc}/u.test(value), {
    expected: "text without control characters"
  })
).annotate({ examples: ["gold"] })

const knownKeys = Schema.makeFilter(
  (pairs: object) =>
    Object.keys(pairs).every((key) => keyPattern.test(key)) ||
    `Expected keys of 1 to ${maxKeyLength} letters, digits, _, . and -, the first a letter or digit`,
  { toJsonSchema: () => ({ propertyNames: { pattern: keyPattern.source } }) }
)

const fewKeys = Schema.makeFilter(
  (pairs: object) => Object.keys(pairs).length <= maxKeys || `Expected at most ${maxKeys} keys`,
  { toJsonSchema: () => ({ maxProperties: maxKeys }) }
)

export const Metadata = Schema.Record(Schema.String, Value).check(knownKeys, fewKeys)
export type Metadata = Readonly<Record<string, string>>

/** A merge patch (RFC 7396): null removes a key. Twice as many, so that all may be replaced at once. */
export const MetadataPatch = Schema.Record(Schema.String, Schema.NullOr(Value)).check(
  knownKeys,
  Schema.makeFilter(
    (pairs: object) => Object.keys(pairs).length <= 2 * maxKeys || `Expected at most ${2 * maxKeys} keys`
  )
)
export type MetadataPatch = Readonly<Record<string, string | null>>

/** Labels of a strategy or a portfolio; absent: not set. */
export interface Labels {
  readonly externalId?: string
  readonly metadata?: Metadata
}

/** Null clears; what is left out stays. */
export interface LabelsPatch {
  readonly externalId?: string | null
  readonly metadata?: MetadataPatch | null
}

/** One pair that an item must have, as `key:value` in a query. */
export interface MetadataPair {
  readonly key: string
  readonly value: string
}

/** What lists are filtered by. */
export interface LabelsFilter {
  readonly externalId?: string | undefined
  readonly metadata?: MetadataPair | undefined
}

/** The pairs after a patch; undefined when they are more than there may be. */
export const merged = (metadata: Metadata, patch: MetadataPatch | null): Metadata | undefined => {
  if (patch === null) return {}
  const all = Object.entries({ ...metadata, ...patch })
  const kept = all.filter((pair): pair is [string, string] => pair[1] !== null)
  return kept.length > maxKeys ? undefined : Object.fromEntries(kept)
}

/** What a client sent, without what is not set. */
export const labelsOf = ({ externalId, metadata }: LabelsPatch): Labels => {
  const pairs = merged({}, metadata ?? null)
  return {
    ...(externalId === undefined || externalId === null ? {} : { externalId }),
    ...(pairs === undefined || Object.keys(pairs).length === 0 ? {} : { metadata: pairs })
  }
}

/** Id of what has labels. */
export type LabelledId = StrategyId | PortfolioId

/** Why labels are not written: another one of the tenant has the external id, or the pairs would be too many. */
export type LabelsRefusal =
  | { readonly _tag: "ExternalIdUsed"; readonly externalId: string; readonly by: LabelledId }
  | { readonly _tag: "TooManyKeys" }

export const refusalError = (kind: "strategy" | "portfolio", refusal: LabelsRefusal) =>
  refusal._tag === "ExternalIdUsed"
    ? new ExternalIdTaken({
        message: `The ${kind} ${refusal.by} has the external id ${refusal.externalId}; give this one another, or clear it there first`,
        details: [`externalId: used by ${kind} ${refusal.by}`]
      })
    : new ValidationFailed({
        message: `With these the metadata would have more than ${maxKeys} keys; remove some by sending null for them`,
        details: [`metadata: at most ${maxKeys} keys`]
      })

const pairText = /^([^:]*):(.*)$/su

/** A pair in a query string. */
export const readPair = (text: string): MetadataPair | undefined => {
  const [, key, value] = pairText.exec(text) ?? []
  return key !== undefined && value !== undefined && keyPattern.test(key) && value.length <= 2 * maxValueLength
    ? { key, value }
    : undefined
}
