/** External id and metadata on the wire. An extension of the interface: docs/decisions/0200. */
import { Schema } from "effect"
import { fromText } from "#domain/values/fromText.ts"
import {
  ExternalId,
  type Labels,
  maxKeyLength,
  maxKeys,
  maxValueLength,
  Metadata,
  type MetadataPair,
  MetadataPatch,
  readPair
} from "#domain/values/Labels.ts"

const externalIdMeaning = "The integrator's own id, unique among the tenant's of this kind"
const bounds = `at most ${maxKeys} pairs, keys of 1 to ${maxKeyLength} letters, digits, \`_\`, \`.\` and \`-\`, values of at most ${maxValueLength} characters`

const externalId = ExternalId.annotate({
  description: `${externalIdMeaning}: 1 to 128 printable ASCII characters without spaces.`,
  examples: ["customer-4711"]
})

const metadata = Metadata.annotate({
  description: `The integrator's own key-value pairs: ${bounds}. Never put secrets here.`,
  examples: [{ plan: "gold" }]
})

/** Labels as they are answered: absent where it is not set. */
export const labels = {
  externalId: Schema.optionalKey(
    Schema.String.check(Schema.isMaxLength(128)).annotate({
      description: `${externalIdMeaning}; absent: not set.`,
      examples: ["customer-4711"]
    })
  ),
  metadata: Schema.optionalKey(
    Schema.Record(Schema.String, Schema.String.check(Schema.isMaxLength(2 * maxValueLength))).annotate({
      description: "The integrator's own key-value pairs; absent: none.",
      examples: [{ plan: "gold" }]
    })
  )
}

/** Labels as they are sent with something new. */
export const labelsDraft = {
  externalId: Schema.optionalKey(externalId),
  metadata: Schema.optionalKey(metadata)
}

/** Labels as they are sent with a merge patch. */
export const labelsPatch = {
  externalId: Schema.optionalKey(
    Schema.NullOr(externalId).annotate({
      description: `${externalIdMeaning}; null clears it.`,
      examples: ["customer-4711"]
    })
  ),
  metadata: Schema.optionalKey(
    Schema.NullOr(MetadataPatch).annotate({
      description: `Merged into the pairs there are: null removes a key, null in place of the object removes all; in the end ${bounds}.`,
      examples: [{ plan: "gold", trial: null }]
    })
  )
}

/** What a list is filtered by. */
export const labelsQuery = {
  externalId: Schema.optionalKey(
    externalId.annotate({ description: "The one with this external id.", examples: ["customer-4711"] })
  ),
  metadata: Schema.optionalKey(
    fromText(
      Schema.declare((value): value is MetadataPair => typeof value === "object"),
      {
        expected: "one pair of metadata as key:value; those that have it are listed",
        pattern: /^[A-Za-z0-9][A-Za-z0-9_.-]{0,39}:.{0,500}$/u,
        example: "plan:gold",
        parse: readPair,
        format: ({ key, value }) => `${key}:${value}`
      }
    )
  )
}

export const labelsView = ({ externalId, metadata }: Labels) => ({
  ...(externalId === undefined ? {} : { externalId }),
  ...(metadata === undefined ? {} : { metadata })
})
