/**
 * The port of revocations over the market of tests: the owner's operation ends permissions once, whoever submits it.
 */
import { Effect, Layer, Option } from "effect"
import type { EvmAddress } from "#domain/values/Caip.ts"
import { RevocationTransactions } from "#domain/revocation/RevocationTransactions.ts"
import { SimulationFailed } from "#domain/trading/SwapBatches.ts"
import { hash, requireUp, TestChain, write } from "#test/support/chains/TestMarket.ts"

const entryPoint = "0x52908400098527886E0F7030069857D2E4169EE7" as EvmAddress

export const RevocationTransactionsTest = Layer.effect(
  RevocationTransactions,
  Effect.gen(function* () {
    const market = yield* TestChain
    return RevocationTransactions.of({
      draft: ({ accounts, ...maker }) => {
        const [first, ...others] = accounts.map((account) => ({
          ...account,
          validFrom: 2,
          operationNonce: 0n,
          digest: hash("revocation", market.draw())
        }))
        return Effect.succeed({
          ...maker,
          chains: [first!, ...others] as const,
          root: hash("revocations", market.draw())
        })
      },
      hasEnded: ({ chainId, digest }) =>
        Effect.as(requireUp(market, chainId), market.included.get(digest)?.success === true),
      prepare: (_, { accountId, chainId, digest }) =>
        Effect.gen(function* () {
          yield* requireUp(market, chainId)
          yield* market.at("prepare")
          if (market.refused.has(accountId))
            return yield* new SimulationFailed({ chainId, reason: "refused by the test" })
          return {
            _tag: "Evm" as const,
            chainId,
            accountId,
            actionHash: digest,
            to: entryPoint,
            callData: write({ accountId, swaps: [], transfers: [], withdrawal: null }),
            gasLimit: 1n,
            maxFeePerGas: 1n,
            maxPriorityFeePerGas: 1n,
            chainNonce: 0,
            laneNonces: [],
            fromBlock: 1n
          }
        }),
      find: ({ actionHash }, { chainId }) =>
        Effect.as(requireUp(market, chainId), Option.fromUndefinedOr(market.included.get(actionHash)))
    })
  })
)
