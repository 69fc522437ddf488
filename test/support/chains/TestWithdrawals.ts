/** The port of withdrawals over the market of tests: the executor's rules, once and not after expiry, in memory. */
import { Effect, Layer, Option } from "effect"
import { tokensOf } from "#domain/account/WithdrawalMessage.ts"
import { chainIdOf, type EvmAddress } from "#domain/values/Caip.ts"
import { SimulationFailed } from "#domain/trading/SwapBatches.ts"
import type { ActionReceipt, PreparedTransaction } from "#domain/relay/Transaction.ts"
import { type WithdrawalStatus, WithdrawalTransactions } from "#domain/withdrawal/WithdrawalTransactions.ts"
import type { StoredWithdrawal } from "#domain/withdrawal/WithdrawalStore.ts"
import {
  hash,
  isExpired,
  requireUp,
  TestChain,
  type TestMarket,
  withdrawalKey,
  write
} from "#test/support/chains/TestMarket.ts"

const executor = "0x52908400098527886E0F7030069857D2E4169EE7" as EvmAddress

const standingOf = (market: TestMarket, { accountId, message }: StoredWithdrawal): WithdrawalStatus => {
  const receipt = market.withdrawn.get(withdrawalKey(accountId, message))
  if (receipt !== undefined) return { _tag: "Landed", receipt }
  return isExpired(market, message) ? { _tag: "Closed", reason: "expired; nothing moved" } : { _tag: "Open" }
}

/** What the recipient got: what the account lost, less the token's fee. */
const deliveredIn = (market: TestMarket, { deltas }: ActionReceipt) =>
  deltas.flatMap(({ assetId, raw }) =>
    raw >= 0n ? [] : [{ assetId, raw: -raw - (-raw * (market.transferFeeBps.get(assetId) ?? 0n)) / 10_000n }]
  )

export const WithdrawalTransactionsTest = Layer.effect(
  WithdrawalTransactions,
  Effect.gen(function* () {
    const market = yield* TestChain
    const up = ({ accountId }: StoredWithdrawal) => requireUp(market, chainIdOf(accountId))

    return WithdrawalTransactions.of({
      standing: (withdrawal) =>
        Effect.andThen(
          up(withdrawal),
          Effect.sync(() => standingOf(market, withdrawal))
        ),
      prepare: (withdrawal) =>
        Effect.gen(function* () {
          yield* up(withdrawal)
          yield* market.at("prepare")
          const { accountId, message } = withdrawal
          const chainId = chainIdOf(accountId)
          const short = tokensOf(message).find(
            ({ amountRaw, assetId }) => market.balance(accountId, assetId) < BigInt(amountRaw)
          )
          if (short !== undefined) {
            return yield* new SimulationFailed({ chainId, reason: `balance of ${short.assetId} is too low` })
          }
          const prepared: PreparedTransaction = {
            _tag: "Evm",
            chainId,
            accountId,
            actionHash: hash("withdrawal", market.draw()),
            to: executor,
            callData: write({ accountId, swaps: [], transfers: [], withdrawal: { message, keepRaw: 0n } }),
            gasLimit: 1n,
            maxFeePerGas: 1n,
            maxPriorityFeePerGas: 1n,
            chainNonce: 0,
            laneNonces: [],
            fromBlock: 1n
          }
          return prepared
        }),
      find: ({ actionHash, txHash }, withdrawal) =>
        Effect.gen(function* () {
          yield* up(withdrawal)
          yield* market.at("find")
          const standing = standingOf(market, withdrawal)
          if (standing._tag === "Landed") return Option.some(standing.receipt)
          const included = market.included.get(actionHash)
          if (included !== undefined) return Option.some(included)
          return standing._tag === "Open"
            ? Option.none()
            : Option.some({
                actionHash,
                txHash,
                blockNumber: 0n,
                blockHash: null,
                success: false,
                gasUsed: 0n,
                deltas: []
              })
        }),
      delivered: (withdrawal, receipt) =>
        Effect.gen(function* () {
          yield* up(withdrawal)
          yield* market.at("verify")
          return deliveredIn(market, receipt)
        })
    })
  })
)
