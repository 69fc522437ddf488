/**
 * Which assets a person may not have, by where the person is and what issuers say. Source: docs/decisions/0123.
 *
 * Every jurisdiction that is known must be allowed: one that a client names by itself can only take away.
 */
import { Schema } from "effect"
import type { IssuerPolicies, IssuerPolicy } from "#domain/listing/IssuerPolicies.ts"
import type { Listing } from "#domain/listing/Listing.ts"

export const Restriction = Schema.Struct({
  restricted: Schema.Literal(true),
  /** `country_unknown`: the issuer does not serve everywhere, and where the request comes from is not known. */
  reason: Schema.Literals(["issuer_geo", "country_unknown"]),
  issuer: Schema.String,
  ruleId: Schema.String
})
export type Restriction = typeof Restriction.Type

export const RestrictionContext = Schema.Struct({
  countryCode: Schema.NullOr(Schema.String),
  regionCode: Schema.NullOr(Schema.String),
  manualCountryCode: Schema.NullOr(Schema.String),
  /** Where `countryCode` comes from. */
  source: Schema.Literals(["header", "unknown"]),
  policyVersion: Schema.String
})
export type RestrictionContext = typeof RestrictionContext.Type

/** Where a person is. */
export interface Jurisdiction {
  /** ISO 3166-1 alpha-2, as the edge in front of the service found it. */
  readonly countryCode: string | null
  /** ISO 3166-2. */
  readonly regionCode: string | null
  /** Country as the client sent it. */
  readonly manualCountryCode: string | null
}

const codesOf = ({ countryCode, manualCountryCode, regionCode }: Jurisdiction) =>
  [countryCode, regionCode, manualCountryCode].filter((code) => code !== null)

const judge = (policy: IssuerPolicy, jurisdiction: Jurisdiction): Restriction["reason"] | undefined => {
  if (policy.restricted.length === 0) return undefined
  const restricted = new Set(policy.restricted)
  if (codesOf(jurisdiction).some((code) => restricted.has(code))) return "issuer_geo"
  return jurisdiction.countryCode === null ? "country_unknown" : undefined
}

/** The restricted ones among the listings, by id; the others are absent. */
export const restrictedAmong = (
  listings: ReadonlyArray<Listing>,
  jurisdiction: Jurisdiction,
  issuers: IssuerPolicies["Service"]
): Readonly<Record<string, Restriction>> => {
  const judged = new Map<string, Restriction | undefined>()
  const ofIssuer = (slug: string): Restriction | undefined => {
    if (judged.has(slug)) return judged.get(slug)
    const policy = issuers.of(slug)
    const reason = policy === undefined ? undefined : judge(policy, jurisdiction)
    const restriction =
      reason === undefined ? undefined : { restricted: true as const, reason, issuer: slug, ruleId: policy!.ruleId }
    judged.set(slug, restriction)
    return restriction
  }
  return Object.fromEntries(
    listings.flatMap(({ asset, assetId, ticker }) => {
      const restriction = ticker === null || asset.issuer === null ? undefined : ofIssuer(asset.issuer)
      return restriction === undefined ? [] : [[assetId, restriction] as const]
    })
  )
}

export const contextOf = (jurisdiction: Jurisdiction, { version }: IssuerPolicies["Service"]): RestrictionContext => ({
  ...jurisdiction,
  source: jurisdiction.countryCode === null ? "unknown" : "header",
  policyVersion: version
})
