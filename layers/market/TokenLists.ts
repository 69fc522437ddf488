/**
 * Fills the asset catalogue from token lists when the service starts.
 *
 * A row of a chain that the deployment does not support is passed over, and so, with a warning, is one that is not a
 * token. A list that cannot be read stops the start only while the catalogue is empty: a service that has worked before
 * keeps working when another party's web server is down. Source: the Uniswap token list schema.
 */
import { NodeFileSystem } from "@effect/platform-node"
import { Duration, Effect, FileSystem, Layer, Option, Result, Schema, SchemaGetter } from "effect"
import { FetchHttpClient, HttpClient, HttpClientResponse } from "effect/http"
import type { Asset } from "#domain/asset/Asset.ts"
import { Assets } from "#domain/asset/Assets.ts"
import {
  type Address,
  assetAt,
  type AssetId,
  ChainId,
  EvmAddress,
  namespaceOfChain,
  SolanaAddress,
  solanaChainId
} from "#domain/values/Caip.ts"
import { Chains } from "#domain/chain/Chains.ts"
import { withinRealTime } from "#layers/clock/withinRealTime.ts"
import { boundedJson } from "#layers/provider/boundedJson.ts"
import { TokenListConfig } from "#layers/market/TokenListConfig.ts"
import { AssetStore } from "#layers/sql/asset/AssetStore.ts"

const maxBytes = 16 * 1024 * 1024
const maxTokens = 50_000
const answerLimit = Duration.seconds(15)

/** The catalogue is empty and nothing could be read to fill it. */
class TokenListsUnavailable extends Schema.TaggedError<TokenListsUnavailable>()("TokenListsUnavailable", {
  problems: Schema.Array(Schema.String)
}) {
  override get message() {
    return [
      "The asset catalogue is empty and no token list fills it; set TOKEN_LISTS to readable lists with tokens of the supported chains",
      ...this.problems.map((problem) => `  - ${problem}`)
    ].join("\n")
  }
}

class ListUnreadable extends Schema.TaggedError<ListUnreadable>()("ListUnreadable", {
  source: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${this.source}: ${this.reason}`
  }
}

const TokenList = Schema.Struct({ tokens: Schema.Array(Schema.Unknown).check(Schema.isMaxLength(maxTokens)) })

/** The number under which lists of this format have Solana. */
const solanaOfLists = 501000101

const ListedChain = ChainId.pipe(
  Schema.decodeTo(Schema.toType(ChainId), {
    decode: SchemaGetter.transform((chainId) => (chainId === solanaOfLists ? solanaChainId : chainId)),
    encode: SchemaGetter.passthrough()
  })
)

const chainOfRow = Schema.decodeUnknownOption(Schema.Struct({ chainId: ListedChain }))

const label = (maximum: number) => Schema.String.check(Schema.isPattern(new RegExp(`^[^\\p{C}]{1,${maximum}}$`, "u")))

/**
 * Lists are generated, and some of real issuers contain mixed-case addresses whose checksum is wrong. The case means
 * nothing there, so it is corrected rather than refused, unlike that of an address which a person has typed.
 */
const ListedAddress = Schema.String.pipe(
  Schema.decodeTo(EvmAddress, {
    decode: SchemaGetter.transform((address) => address.toLowerCase()),
    encode: SchemaGetter.passthrough()
  })
)

const fields = {
  chainId: ListedChain,
  symbol: label(40),
  name: label(120),
  decimals: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 36 }))
}
const decodeEvm = Schema.decodeUnknownOption(Schema.Struct({ ...fields, address: ListedAddress }))
const decodeSolana = Schema.decodeUnknownOption(Schema.Struct({ ...fields, address: SolanaAddress }))

/** A token of a list; its address is of the family of its chain. */
interface ListedToken {
  readonly chainId: ChainId
  readonly address: Address
  readonly symbol: string
  readonly name: string
  readonly decimals: number
}

const decodeToken = (row: unknown): Option.Option<ListedToken> =>
  Option.flatMap(chainOfRow(row), ({ chainId }): Option.Option<ListedToken> =>
    namespaceOfChain(chainId) === "solana" ? decodeSolana(row) : decodeEvm(row)
  )

const isUrl = (source: string) => /^https?:\/\//.test(source)

/** The rows of a list, not decoded, from the web or from a file. */
export const readList = Effect.fn("TokenLists.readList")(
  function* (source: string) {
    if (isUrl(source)) {
      const client = yield* HttpClient.HttpClient
      return yield* client.get(source).pipe(
        Effect.flatMap(HttpClientResponse.filterStatusOk),
        Effect.flatMap(boundedJson(TokenList, maxBytes)),
        withinRealTime(answerLimit, () => ({ message: `no answer in ${Duration.format(answerLimit)}` })),
        Effect.retry({ times: 1 })
      )
    }
    const files = yield* FileSystem.FileSystem
    const { size } = yield* files.stat(source)
    if (size > maxBytes) return yield* Effect.fail({ message: `the file is longer than ${maxBytes} bytes` })
    return yield* Schema.decodeUnknownEffect(Schema.fromJsonString(TokenList))(yield* files.readFileString(source))
  },
  (effect, source) => Effect.mapError(effect, ({ message }) => new ListUnreadable({ source, reason: message }))
)

/** The list's tokens of supported chains, and how many rows of those chains are not tokens. */
const assetsOf = (list: typeof TokenList.Type, supported: ReadonlySet<ChainId>, blocked: ReadonlySet<AssetId>) => {
  const rows = list.tokens.filter((row) => Option.exists(chainOfRow(row), ({ chainId }) => supported.has(chainId)))
  const assets = rows.flatMap((row): ReadonlyArray<Asset> =>
    Option.match(decodeToken(row), {
      onNone: () => [],
      onSome: ({ chainId, address, symbol, name, decimals }) => {
        const assetId = assetAt(chainId, address)
        return [{ assetId, chainId, symbol, name, decimals, isBlocked: blocked.has(assetId) }]
      }
    })
  )
  return { assets, refused: rows.length - assets.length }
}

const load = Effect.gen(function* () {
  const { blocked, sources } = yield* TokenListConfig
  const { supported } = yield* Chains
  const assets = yield* Assets
  const store = yield* AssetStore

  const lists = yield* Effect.forEach(sources, (source) => Effect.result(readList(source)), { concurrency: 4 })
  const problems = lists.flatMap((list) => (Result.isFailure(list) ? [list.failure.message] : []))
  const found = new Map<AssetId, Asset>()
  for (const [index, list] of lists.entries()) {
    if (Result.isFailure(list)) continue
    const read = assetsOf(list.success, new Set(supported), blocked)
    for (const asset of read.assets) if (!found.has(asset.assetId)) found.set(asset.assetId, asset)
    if (read.refused > 0)
      yield* Effect.logWarning(`${sources[index]}: ${read.refused} rows are not tokens and were left out`)
  }

  // An asset may have left the lists since it came into the catalogue; a block still reaches it.
  for (const [assetId, asset] of yield* assets.find([...blocked])) {
    if (!found.has(assetId)) found.set(assetId, { ...asset, isBlocked: true })
  }
  yield* store.upsertAssets([...found.values()])

  if (found.size === 0) {
    const kept = yield* Effect.forEach(supported, assets.onChain)
    if (kept.every((ofChain) => ofChain.length === 0)) return yield* new TokenListsUnavailable({ problems })
  }
  for (const problem of problems)
    yield* Effect.logWarning(`A token list was not read and the catalogue stays as it was for it: ${problem}`)
  yield* Effect.logInfo("The asset catalogue is up to date", { listed: found.size })
}).pipe(Effect.withSpan("TokenLists.load"))

/** Loads the lists once, when it is built. */
export const TokenLists = Layer.effectDiscard(load).pipe(Layer.provide([FetchHttpClient.layer, NodeFileSystem.layer]))
