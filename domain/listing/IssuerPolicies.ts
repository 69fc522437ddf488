/** Port: what issuers of tokens say about themselves, as dated data. */
import { Context, Schema } from "effect"

/** ISO 3166-1 alpha-2, or 3166-2 for a part of a country. */
const JurisdictionCode = Schema.String.check(Schema.isPattern(/^[A-Z]{2}(-[A-Z0-9]{1,3})?$/u))

const IssuerDocument = Schema.Struct({ title: Schema.String, url: Schema.String, kind: Schema.String })

export const IssuerPolicy = Schema.Struct({
  slug: Schema.String,
  name: Schema.String,
  /** Names this version of the list of jurisdictions. */
  ruleId: Schema.String,
  /** `YYYY-MM-DD` at which the list was read. */
  asOf: Schema.String,
  source: Schema.String,
  /** Jurisdictions whose people the issuer does not serve. */
  restricted: Schema.Array(JurisdictionCode),
  documents: Schema.Array(IssuerDocument)
})
export type IssuerPolicy = typeof IssuerPolicy.Type

export const IssuerPolicyFile = Schema.Struct({ version: Schema.String, issuers: Schema.Array(IssuerPolicy) })

/**
 * What issuers say about their tokens.
 *
 * **When to use**
 *
 * Use to show restrictions and custody of tokenized shares.
 */
export class IssuerPolicies extends Context.Service<
  IssuerPolicies,
  { readonly version: string; readonly of: (slug: string) => IssuerPolicy | undefined }
>()("ballast/domain/listing/IssuerPolicies") {}
