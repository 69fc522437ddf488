/**
 * Where a chain's pools are. Pairs never move, so a found one is cached; a missing one is read again, because it may be
 * created at any time.
 */
import { Context, Effect, Layer } from "effect"
import { type Address, encodeFunctionData, type Hex, numberToHex, zeroAddress } from "viem"
import type { ChainId, EvmAddress } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { toViem } from "#layers/evm/address.ts"
import { pairFactoryAbi, routerAbi } from "#layers/evm/contracts.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import type { CallResult } from "#layers/evm/rpc/aggregate.ts"
import { multicall, uintOf } from "#layers/evm/rpc/multicall.ts"
import { poolKey } from "#layers/evm/venue/quoteBatch.ts"

export type TokenPair = readonly [EvmAddress, EvmAddress]

export interface LocatedPair {
  readonly tokens: TokenPair
  readonly pair: Address
}

/** Cached pairs over all chains; past that the cache starts anew. */
const maxCached = 10_000

const addressIn = (result: CallResult | undefined): Address | null => {
  const value = uintOf(result)
  return value === null || value >= 2n ** 160n ? null : numberToHex(value, { size: 20 })
}

export class PairDirectory extends Context.Service<
  PairDirectory,
  {
    /** Those of the token pairs that have a pool, with its address. */
    readonly locate: (
      chainId: ChainId,
      pairs: ReadonlyArray<TokenPair>
    ) => Effect.Effect<ReadonlyArray<LocatedPair>, ChainUnavailable>
  }
>()("ballast/layers/evm/venue/PairDirectory") {
  static readonly layer = Layer.effect(
    PairDirectory,
    Effect.gen(function* () {
      const clients = yield* EvmClients
      const { chains } = yield* EvmConfig
      const routers = new Map(chains.map(({ chainId, router }) => [chainId, router]))
      const factories = new Map<ChainId, Address>()
      const cached = new Map<string, Address>()
      const keyOf = (chainId: ChainId, [a, b]: TokenPair) => `${chainId}/${poolKey(a, b)}`

      const readFactory = Effect.fnUntraced(function* (chainId: ChainId) {
        const router = routers.get(chainId)
        if (router === undefined)
          return yield* new ChainUnavailable({ chainId, reason: "no router is configured for this chain" })
        const [answer] = yield* multicall(chainId, [
          { target: toViem(router), data: encodeFunctionData({ abi: routerAbi, functionName: "factory" }) }
        ])
        const factory = addressIn(answer)
        if (factory === null) {
          return yield* new ChainUnavailable({
            chainId,
            reason: `${router} does not answer as a Uniswap v2 router; correct its address`
          })
        }
        factories.set(chainId, factory)
        return factory
      })

      const lookUp = Effect.fnUntraced(function* (chainId: ChainId, pairs: ReadonlyArray<TokenPair>) {
        const factory = factories.get(chainId) ?? (yield* readFactory(chainId))
        const getPair = ([a, b]: TokenPair): Hex =>
          encodeFunctionData({ abi: pairFactoryAbi, functionName: "getPair", args: [toViem(a), toViem(b)] })
        const answers = yield* multicall(
          chainId,
          pairs.map((pair) => ({ target: factory, data: getPair(pair) }))
        )
        if (cached.size + pairs.length > maxCached) cached.clear()
        for (const [index, pair] of pairs.entries()) {
          const address = addressIn(answers[index])
          if (address !== null && address !== zeroAddress) cached.set(keyOf(chainId, pair), address)
        }
      })

      const locate = Effect.fnUntraced(
        function* (chainId: ChainId, pairs: ReadonlyArray<TokenPair>) {
          const find = (pair: TokenPair) => cached.get(keyOf(chainId, pair))
          const missing = pairs.filter((pair) => find(pair) === undefined)
          if (missing.length > 0) yield* lookUp(chainId, missing)
          return pairs.flatMap((tokens): ReadonlyArray<LocatedPair> => {
            const pair = find(tokens)
            return pair === undefined ? [] : [{ tokens, pair }]
          })
        },
        Effect.provideService(EvmClients, clients)
      )

      return PairDirectory.of({ locate })
    })
  )
}
