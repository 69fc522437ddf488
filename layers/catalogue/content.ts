/** The catalogue that comes with the program: subjects, the tokens that stand for them, and their categories. */
import { Option, Schema } from "effect"
import type { AssetRepresentation } from "#domain/asset/AssetRepresentation.ts"
import type { AssetCanonicalId, AssetKind, CanonicalAsset } from "#domain/asset/CanonicalAsset.ts"
import type { CatalogueContent } from "#domain/asset/CatalogueContent.ts"
import { coins } from "#layers/catalogue/assets/coins.ts"
import { commodities } from "#layers/catalogue/assets/commodities.ts"
import { equities } from "#layers/catalogue/assets/equities.ts"
import { funds } from "#layers/catalogue/assets/funds.ts"
import { stablecoins } from "#layers/catalogue/assets/stablecoins.ts"
import { classifications } from "#layers/catalogue/classify.ts"
import { TokenFile, type TokenGroup, tokenId } from "#layers/catalogue/TokenFile.ts"
import arbitrum from "#layers/catalogue/tokens/arbitrum.json" with { type: "json" }
import base from "#layers/catalogue/tokens/base.json" with { type: "json" }
import bnbChain from "#layers/catalogue/tokens/bnbChain.json" with { type: "json" }
import coinbase from "#layers/catalogue/tokens/coinbase.json" with { type: "json" }
import dinari from "#layers/catalogue/tokens/dinari.json" with { type: "json" }
import ethereum from "#layers/catalogue/tokens/ethereum.json" with { type: "json" }
import gold from "#layers/catalogue/tokens/gold.json" with { type: "json" }
import ondo from "#layers/catalogue/tokens/ondo.json" with { type: "json" }
import robinhood from "#layers/catalogue/tokens/robinhood.json" with { type: "json" }
import robinhoodChain from "#layers/catalogue/tokens/robinhoodChain.json" with { type: "json" }
import solana from "#layers/catalogue/tokens/solana.json" with { type: "json" }
import superstate from "#layers/catalogue/tokens/superstate.json" with { type: "json" }
import xstocks from "#layers/catalogue/tokens/xstocks.json" with { type: "json" }

type Row = readonly [symbol: string, name: string, id: string]

const idsOf = (rows: ReadonlyArray<Row>): ReadonlyMap<string, AssetCanonicalId> =>
  new Map(rows.map(([symbol, , id]) => [symbol, id as AssetCanonicalId]))

/** The subjects that tokens stand for, by symbol. */
export const subjects = {
  shares: idsOf([...equities, ...funds]),
  currencies: idsOf([...coins, ...stablecoins, ...commodities])
}

const assets = (kind: AssetKind, rows: ReadonlyArray<Row>): ReadonlyArray<CanonicalAsset> =>
  rows.map(([symbol, name, id]) => ({ assetCanonicalId: id as AssetCanonicalId, kind, symbol, name }))

const represent = (group: TokenGroup): ReadonlyArray<AssetRepresentation> =>
  group.tokens.map(([subject, symbol, decimals, address]) => ({
    caipAssetId: Option.getOrThrow(tokenId(group.chain, address)),
    issuer: group.issuer,
    unitModel: group.unitModel,
    decimals,
    symbol,
    assetCanonicalId: subjects[group.subjects].get(subject)!
  }))

const files = [
  ethereum,
  base,
  arbitrum,
  bnbChain,
  robinhoodChain,
  solana,
  gold,
  robinhood,
  xstocks,
  ondo,
  coinbase,
  dinari,
  superstate
]

export const content: CatalogueContent = {
  assets: [
    ...assets("equity", equities),
    ...assets("etf", funds),
    ...assets("crypto", coins),
    ...assets("stablecoin", stablecoins),
    ...assets("commodity", commodities)
  ],
  representations: files.flatMap((file) => Schema.decodeUnknownSync(TokenFile)(file).groups.flatMap(represent)),
  classifications
}
