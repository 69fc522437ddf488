/** Reads the sources of the catalogue from the providers that are configured; none waits for another. */
import { NodeFileSystem } from "@effect/platform-node"
import { Effect, type FileSystem, Layer } from "effect"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { keyPartsOf } from "#domain/listing/AssetKey.ts"
import { content } from "#layers/catalogue/content.ts"
import { canonicalAddress, listTokens } from "#layers/catalogue/refresh/listTokens.ts"
import {
  CatalogueSources,
  type SourceToken,
  type SourceRead,
  SourceUnread
} from "#layers/catalogue/refresh/SourceRead.ts"
import { coinbaseChainId, CoinbaseToken, makeCoinbase } from "#layers/market/issuers/Coinbase.ts"
import { deploymentsOf, makeXStocks, unreadableDeployments, XStock } from "#layers/market/issuers/XStocks.ts"
import { readItems } from "#layers/market/readItems.ts"
import { readList } from "#layers/market/TokenLists.ts"

/** Where each source is; null for one that is not read. */
export interface CatalogueAccess {
  /** Token lists: a URL or a path. */
  readonly uniswapList: string | null
  readonly ondoList: string | null
  readonly coinbaseUrl: string | null
  readonly xStocksUrl: string | null
}

const robinhoodChain = "eip155:4663"
const chainOfId: ReadonlyMap<number, string> = new Map(
  content.representations.map(({ caipAssetId }) => [keyPartsOf(caipAssetId).chainId, caipAssetId.split("/")[0]!])
)
const chains = new Set(chainOfId.values())

const without = (symbol: string, ending: string) => (symbol.endsWith(ending) ? symbol.slice(0, -ending.length) : symbol)

const unread = ({ message }: { readonly message: string }) => new SourceUnread({ reason: message })

/** Every share of Uniswap's list on Robinhood Chain is Robinhood's; on all other chains the list is one of coins. */
const ofUniswap = (symbol: string, chain: string) => (chain === robinhoodChain ? symbol : null)
const ofOndo = (symbol: string) => (symbol.endsWith("on") ? without(symbol, "on") : null)

const textOf = (value: unknown, other: string) => (typeof value === "string" && value !== "" ? value : other)
const countOf = (value: unknown) => (typeof value === "number" && Number.isInteger(value) ? value : null)

const ofCoinbase = (rows: ReadonlyArray<unknown>): Omit<SourceRead, "what"> => {
  const chain = `eip155:${coinbaseChainId}`
  const { items, problems } = readItems(CoinbaseToken, rows, ({ contract_address, decimals, symbol }) => {
    const name = textOf(symbol, "")
    // Lists of the issuer write the plain ticker, the chain with a letter behind it.
    const ticker = without(name, "c")
    return {
      chain,
      address: canonicalAddress(chain, contract_address)!,
      symbol: `${ticker}c`,
      decimals: countOf(decimals),
      ticker: ticker === "" ? null : ticker
    }
  })
  return { tokens: items, unreadable: problems.length }
}

const ofXStocks = (rows: ReadonlyArray<unknown>): Omit<SourceRead, "what"> => {
  let unreadable = 0
  const { items, problems } = readItems(XStock, rows, (row) => {
    unreadable += unreadableDeployments(row)
    return deploymentsOf(row).flatMap((key): ReadonlyArray<SourceToken> => {
      const [address, chainId] = key.split(":")
      const chain = chainOfId.get(Number(chainId))
      const ticker = textOf(row.underlyingSymbol, without(row.symbol, "x"))
      return chain === undefined ? [] : [{ chain, address: address!, symbol: row.symbol, decimals: null, ticker }]
    })
  })
  return { tokens: items.flat(), unreadable: problems.length + unreadable }
}

export const CatalogueSourcesLive = (access: CatalogueAccess) =>
  Layer.effect(
    CatalogueSources,
    Effect.gen(function* () {
      const context = yield* Effect.context<HttpClient.HttpClient | FileSystem.FileSystem>()

      const ifGiven = (
        variable: string,
        source: string | null,
        read: (source: string) => Effect.Effect<SourceRead, SourceUnread, HttpClient.HttpClient | FileSystem.FileSystem>
      ): Effect.Effect<SourceRead, SourceUnread> =>
        source === null
          ? Effect.fail(new SourceUnread({ reason: `${variable} is not set` }))
          : Effect.provideContext(read(source), context)

      const list = (what: string, tickerOf: (symbol: string, chain: string) => string | null) => (source: string) =>
        readList(source).pipe(
          Effect.mapBoth({
            onFailure: unread,
            onSuccess: ({ tokens }) => ({ what, ...listTokens(tokens, chains, tickerOf) })
          })
        )

      return CatalogueSources.of({
        uniswap: ifGiven("UNISWAP_TOKEN_LIST", access.uniswapList, list("the Uniswap default token list", ofUniswap)),
        ondo: ifGiven("ONDO_TOKEN_LIST", access.ondoList, list("the issuer's token list", ofOndo)),
        coinbase: ifGiven("COINBASE_URL", access.coinbaseUrl, (url) =>
          Effect.flatten(makeCoinbase(url)).pipe(
            Effect.mapBoth({
              onFailure: unread,
              onSuccess: (rows) => ({ what: "Coinbase's public list of tokenized shares", ...ofCoinbase(rows) })
            })
          )
        ),
        xstocks: ifGiven("XSTOCKS_URL", access.xStocksUrl, (url) =>
          Effect.flatMap(makeXStocks(url), ({ all }) => all).pipe(
            Effect.mapBoth({
              onFailure: unread,
              onSuccess: (rows) => ({ what: "the issuer's public registry", ...ofXStocks(rows) })
            })
          )
        )
      })
    })
  ).pipe(Layer.provide([FetchHttpClient.layer, NodeFileSystem.layer]))
