/** The venue: Uniswap v2 pools, quoted from reserves that are all read at one block. */
import { Effect, Layer } from "effect"
import { decodeFunctionResult, encodeFunctionData, size } from "viem"
import type { EvmAddress } from "#domain/values/Caip.ts"
import { type QuoteBatch, Venue } from "#domain/trading/Venue.ts"
import { addressOf, toEvm, toViem } from "#layers/evm/address.ts"
import { pairAbi } from "#layers/evm/contracts.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import type { CallResult } from "#layers/evm/rpc/aggregate.ts"
import { multicall } from "#layers/evm/rpc/multicall.ts"
import { type LocatedPair, PairDirectory, type TokenPair } from "#layers/evm/venue/PairDirectory.ts"
import { candidatePaths, feeBps, type Pool, poolKey, quoteBatch, type Sale } from "#layers/evm/venue/quoteBatch.ts"

const getReserves = encodeFunctionData({ abi: pairAbi, functionName: "getReserves" })

/** Every pair of tokens that a path of one of the sales goes through, once. */
const pairsOf = (sales: ReadonlyArray<Sale>, connectorTokens: ReadonlyArray<EvmAddress>): ReadonlyArray<TokenPair> => {
  const pairs = new Map<string, TokenPair>()
  for (const path of sales.flatMap((sale) => candidatePaths(sale, connectorTokens))) {
    for (const [index, token] of path.slice(1).entries()) pairs.set(poolKey(path[index]!, token), [path[index]!, token])
  }
  return [...pairs.values()]
}

/** The pool with its reserves; none when the pair did not answer. A pair keeps the lower address first. */
const poolOf = ({ tokens: [a, b] }: LocatedPair, result: CallResult | undefined): ReadonlyArray<Pool> => {
  if (result?.success !== true || size(result.data) !== 96) return []
  const [reserve0, reserve1] = decodeFunctionResult({ abi: pairAbi, functionName: "getReserves", data: result.data })
  const tokens: TokenPair = BigInt(toViem(a)) < BigInt(toViem(b)) ? [a, b] : [b, a]
  return [{ tokens, reserves: [reserve0, reserve1] }]
}

export const VenueLive = Layer.effect(
  Venue,
  Effect.gen(function* () {
    const clients = yield* EvmClients
    const directory = yield* PairDirectory

    const quote = Effect.fn("Venue.quote")(
      function* ({ chainId, connectorTokens: through, isMade, notBefore, requests }: QuoteBatch) {
        const connectorTokens = through.map(toEvm)
        const sales = requests.map(({ atMost, buy, sell, sellAmountRaw, split }): Sale => ({
          sell: addressOf(sell),
          buy: addressOf(buy),
          sellAmountRaw,
          ...(atMost === undefined ? {} : { atMost }),
          ...(split === undefined ? {} : { split })
        }))
        const located = yield* directory.locate(chainId, pairsOf(sales, connectorTokens))
        if (located.length === 0) return sales.map(() => null)
        const reserves = yield* multicall(
          chainId,
          located.map(({ pair }) => ({ target: pair, data: getReserves })),
          { notBefore }
        )
        const pools = located.flatMap((pair, index) => poolOf(pair, reserves[index]))
        return quoteBatch({ pools, connectorTokens, sales, isMade })
      },
      Effect.provideService(EvmClients, clients)
    )

    return Venue.of({ quote, assumedFeeBps: () => feeBps })
  })
).pipe(Layer.provide(PairDirectory.layer))
