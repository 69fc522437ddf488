/** The catalogue that comes with the program: subjects, the tokens that stand for them, and their categories. */
import type { AssetRepresentation } from "#domain/asset/AssetRepresentation.ts"
import type { AssetCanonicalId, AssetKind, CanonicalAsset } from "#domain/asset/CanonicalAsset.ts"
import type { CatalogueContent } from "#domain/asset/CatalogueContent.ts"
import { coins } from "#layers/catalogue/assets/coins.ts"
import { commodities } from "#layers/catalogue/assets/commodities.ts"
import { equities } from "#layers/catalogue/assets/equities.ts"
import { funds } from "#layers/catalogue/assets/funds.ts"
import { stablecoins } from "#layers/catalogue/assets/stablecoins.ts"
import { classifications } from "#layers/catalogue/classify.ts"
import type { Token } from "#layers/catalogue/represent.ts"
import { arbitrum } from "#layers/catalogue/tokens/arbitrum.ts"
import { base } from "#layers/catalogue/tokens/base.ts"
import { bnbChain } from "#layers/catalogue/tokens/bnbChain.ts"
import { coinbase } from "#layers/catalogue/tokens/coinbase.ts"
import { dinari } from "#layers/catalogue/tokens/dinari.ts"
import { ethereum } from "#layers/catalogue/tokens/ethereum.ts"
import { gold } from "#layers/catalogue/tokens/gold.ts"
import { ondo } from "#layers/catalogue/tokens/ondo.ts"
import { robinhood } from "#layers/catalogue/tokens/robinhood.ts"
import { robinhoodChain } from "#layers/catalogue/tokens/robinhoodChain.ts"
import { solana } from "#layers/catalogue/tokens/solana.ts"
import { superstate } from "#layers/catalogue/tokens/superstate.ts"
import { xstocks } from "#layers/catalogue/tokens/xstocks.ts"

type Row = readonly [symbol: string, name: string, id: string]

const idsOf = (rows: ReadonlyArray<Row>) => new Map(rows.map(([symbol, , id]) => [symbol, id as AssetCanonicalId]))

const shares = idsOf([...equities, ...funds])
const currencies = idsOf([...coins, ...stablecoins, ...commodities])

const assets = (kind: AssetKind, rows: ReadonlyArray<Row>): ReadonlyArray<CanonicalAsset> =>
  rows.map(([symbol, name, id]) => ({ assetCanonicalId: id as AssetCanonicalId, kind, symbol, name }))

const represent = ({ subject, ...token }: Token): AssetRepresentation => ({
  ...token,
  assetCanonicalId: ("share" in subject ? shares.get(subject.share) : currencies.get(subject.currency))!
})

const tokens: ReadonlyArray<Token> = [
  ...ethereum,
  ...base,
  ...arbitrum,
  ...bnbChain,
  ...robinhoodChain,
  ...solana,
  ...gold,
  ...robinhood,
  ...xstocks,
  ...ondo,
  ...coinbase,
  ...dinari,
  ...superstate
]

export const content: CatalogueContent = {
  assets: [
    ...assets("equity", equities),
    ...assets("etf", funds),
    ...assets("crypto", coins),
    ...assets("stablecoin", stablecoins),
    ...assets("commodity", commodities)
  ],
  representations: tokens.map(represent),
  classifications
}
