/**
 * How the lists of tokens in `tokens/` are written: by issuer and chain, each with the source that it is read from, and
 * each token with the day on which that source was first seen to say so.
 */
import { Schema } from "effect"
import { UnitModel } from "#domain/asset/AssetRepresentation.ts"
import { AssetId } from "#domain/values/Caip.ts"

/** `YYYY-MM-DD`. */
const Day = Schema.String.check(Schema.isPattern(/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/u))
const Text = Schema.String.check(Schema.isBetweenLength(1, 200))

/** Subject, symbol on the chain, decimals, address, and the day on which the source was first seen to say so. */
export const TokenRow = Schema.Tuple([
  Text,
  Text,
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 36 })),
  Text,
  Day
])
export type TokenRow = typeof TokenRow.Type

/** The programs that read a source anew; a group without one is kept by hand. */
export const CatalogueReader = Schema.Literals(["uniswap", "ondo", "coinbase", "xstocks"])
export type CatalogueReader = typeof CatalogueReader.Type

export const TokenGroup = Schema.Struct({
  /** CAIP-2. */
  chain: Text,
  /** Slug of the issuer that tokenizes the subjects; null for coins' own tokens and their wrapped forms. */
  issuer: Schema.NullOr(Text),
  unitModel: UnitModel,
  /** Symbols are unique among shares (companies and funds), and among all other subjects. */
  subjects: Schema.Literals(["shares", "currencies"]),
  source: Schema.Struct({
    reader: Schema.NullOr(CatalogueReader),
    what: Text,
    /** Day of the last read. */
    asOf: Day
  }),
  tokens: Schema.Array(TokenRow)
})
export type TokenGroup = typeof TokenGroup.Type

export const TokenFile = Schema.Struct({ about: Text, groups: Schema.Array(TokenGroup) })
export type TokenFile = typeof TokenFile.Type

/** The CAIP-19 id of a token in its canonical form; fails for an address that its chain cannot have. */
export const tokenId = (chain: string, address: string) =>
  Schema.decodeUnknownOption(AssetId)(`${chain}/${chain.startsWith("solana:") ? "spl" : "erc20"}:${address}`)

const row = (fields: TokenRow) => `[${fields.map((field) => JSON.stringify(field)).join(", ")}]`

const group = ({ chain, issuer, source, subjects, tokens, unitModel }: TokenGroup) =>
  [
    `    {`,
    `      "chain": ${JSON.stringify(chain)},`,
    `      "issuer": ${JSON.stringify(issuer)},`,
    `      "unitModel": ${JSON.stringify(unitModel)},`,
    `      "subjects": ${JSON.stringify(subjects)},`,
    `      "source": {`,
    `        "reader": ${JSON.stringify(source.reader)},`,
    `        "what": ${JSON.stringify(source.what)},`,
    `        "asOf": ${JSON.stringify(source.asOf)}`,
    `      },`,
    `      "tokens": [`,
    tokens.map((token) => `        ${row(token)}`).join(",\n"),
    `      ]`,
    `    }`
  ].join("\n")

/** A token a line, so that a change of one is a change of a line. */
export const printTokenFile = ({ about, groups }: TokenFile): string =>
  [`{`, `  "about": ${JSON.stringify(about)},`, `  "groups": [`, groups.map(group).join(",\n"), `  ]`, `}`, ``].join(
    "\n"
  )
