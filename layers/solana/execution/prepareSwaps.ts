/**
 * A batch of swaps as parts, one for each. What the account holds now is simulated as Jupiter builds it now; what only
 * earlier swaps of the batch bring is simulated when its turn has come.
 */
import { sha256 } from "@noble/hashes/sha2"
import { Effect, Option } from "effect"
import { bytesToHex, stringToBytes } from "viem"
import { isErc20, solanaAccount, solanaChainId, spl, type SplAssetId } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import type { PreparedParts } from "#domain/relay/Transaction.ts"
import { SimulationFailed, type SwapBatch } from "#domain/trading/SwapBatches.ts"
import type { ReadySwap } from "#domain/trading/Swap.ts"
import { addressesOf, roleIn, type PortfolioRole } from "#layers/solana/swig/PortfolioRole.ts"
import { SolanaAgent } from "#layers/solana/SolanaAgent.ts"
import { weiOfLamport } from "#layers/solana/SolanaFunds.ts"
import { encodeStep, type SwapStep } from "#layers/solana/execution/SolanaStep.ts"
import { tagOfOperation } from "#layers/solana/execution/transactionTag.ts"
import {
  priorityLamports,
  signatureLamports,
  unitPriceFor,
  unitsOfATransaction
} from "#layers/solana/lifecycle/priorityFee.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import type { Mint } from "#layers/solana/token/Mint.ts"
import { readHoldings } from "#layers/solana/token/readHoldings.ts"
import { readMints } from "#layers/solana/token/readMints.ts"
import { untradable } from "#layers/solana/trading/checkSwap.ts"
import type { JupiterClient } from "#layers/solana/trading/JupiterClient.ts"
import { type PreparedSwap, prepareSwap } from "#layers/solana/trading/prepareSwap.ts"

const bps = 10_000n
/** Bytes that the account of a token has at most, for the rent that the agent pays where there is none yet. */
export const tokenAccountBytes = 250

/**
 * Lamports that the transaction of a swap is expected to pay: the agent's signature, and inclusion in a block for as
 * many units as it may have, at the price that recent blocks took. How many a swap takes is seen when it is simulated.
 */
export const expectedFee = Effect.gen(function* () {
  const { fees } = yield* (yield* SolanaAgent).signing
  const prices = yield* (yield* SolanaRpc).recentFees([])
  const price = unitPriceFor(prices, unitsOfATransaction, fees)
  return signatureLamports + priorityLamports(BigInt(unitsOfATransaction), price)
})

const refuse = (reason: string) => new SimulationFailed({ chainId: solanaChainId, reason })

const requireSpl = (swap: ReadySwap) => {
  const { buy, sell } = swap
  return isErc20(sell) || isErc20(buy)
    ? Effect.fail(refuse(`${sell} for ${buy} is no swap on Solana`))
    : Effect.succeed({ ...swap, buy, sell })
}

/** How far the quote was above the minimum, so that the next one is requested with the same slippage. */
const slippageOf = ({ expectedBuyRaw = 0n, minBuyAmountRaw }: ReadySwap): number =>
  expectedBuyRaw <= minBuyAmountRaw ? 0 : Number(((expectedBuyRaw - minBuyAmountRaw) * bps) / expectedBuyRaw)

/** What the account's own holdings do not cover, after the swaps before it. */
const isCovered = (free: Map<SplAssetId, bigint>, { sell, sellRaw }: SwapStep): boolean => {
  const left = (free.get(sell) ?? 0n) - sellRaw
  free.set(sell, left)
  return left >= 0n
}

/** The step with the mints as they are now. */
export const tradeOf = (
  { buy, minBuyRaw, place, sell, sellRaw, slippageBps }: SwapStep,
  mints: ReadonlyMap<SplAssetId, Mint>
) => ({ place, slippageBps, leg: { sell: mints.get(sell)!, buy: mints.get(buy)!, sellRaw, minBuyRaw } })

const simulate = Effect.fnUntraced(function* (
  step: SwapStep,
  mints: ReadonlyMap<SplAssetId, Mint>,
  operationId: OperationId | undefined
) {
  const { agent, fees } = yield* (yield* SolanaAgent).signing
  const tag = operationId === undefined ? undefined : tagOfOperation(operationId).address
  return yield* prepareSwap({ ...tradeOf(step, mints), tag, agent, fees }).pipe(
    Effect.mapError((error) => {
      if (error._tag === "ChainUnavailable") return error
      if (error._tag === "ProviderUnavailable") {
        return new ChainUnavailable({ chainId: solanaChainId, reason: error.reason })
      }
      return refuse(error.message)
    })
  )
})

/** Why a token cannot be traded now, without requesting a swap. */
const requireTradable = (mints: ReadonlyMap<SplAssetId, Mint>) =>
  Effect.forEach([...mints], ([assetId, mint]) => {
    const reason = untradable(mint)
    return reason === undefined ? Effect.void : Effect.fail(refuse(`${assetId} is not traded: ${reason}`))
  })

/** Tokens of which the transaction opens accounts. */
const openedBy = ({ plan }: PreparedSwap): ReadonlyArray<SplAssetId> =>
  plan.steps.flatMap((step) => (step._tag === "MakeTokenAccount" ? [spl(step.mint.toBase58())] : []))

/**
 * Computes the fees of all parts: what those that were simulated pay, and for each other one what they pay on average.
 */
const feesOf = Effect.fnUntraced(function* (simulated: ReadonlyArray<PreparedSwap>, steps: number) {
  const paid = simulated.reduce((sum, { feeLamports }) => sum + feeLamports, 0n)
  const others = BigInt(steps - simulated.length)
  if (others === 0n) return paid
  return paid + others * (simulated.length === 0 ? yield* expectedFee : paid / BigInt(simulated.length))
})

const stepsOf = (place: PortfolioRole, swaps: SwapBatch["swaps"]) =>
  Effect.forEach(swaps, (swap) =>
    Effect.map(requireSpl(swap), ({ buy, minBuyAmountRaw, sell, sellAmountRaw }): SwapStep => ({
      _tag: "Swap",
      place,
      sell,
      buy,
      sellRaw: sellAmountRaw,
      minBuyRaw: minBuyAmountRaw,
      slippageBps: slippageOf(swap)
    }))
  )

/** Nothing is signed or sent. */
export const prepareSwaps = Effect.fn("solana.prepareSwaps")(function* (
  batch: SwapBatch
): Effect.fn.Return<PreparedParts, ChainUnavailable | SimulationFailed, SolanaAgent | SolanaRpc | JupiterClient> {
  const { authorization, calls = [], ownerSignature, settlement, swaps, transfers = [] } = batch
  if (transfers.length > 0) return yield* refuse("nothing is sent from Solana to other chains")
  if (settlement !== undefined) return yield* refuse("withdrawals from Solana are not paid out of sales")
  if (calls.length > 0) return yield* refuse("calls are made on EVM chains alone")
  const { fees } = yield* (yield* SolanaAgent).signing
  const place = roleIn({ authorization, ownerSignature })
  if (Option.isNone(place)) return yield* refuse("the owner enrolled no wallet on Solana")
  const [first, ...others] = yield* stepsOf(place.value, swaps)
  if (first === undefined) return yield* refuse("there is nothing to swap")
  const steps = [first, ...others] as const
  const mints = yield* readMints(steps.flatMap(({ buy, sell }) => [sell, buy]))
  yield* requireTradable(mints)
  const { deposit } = addressesOf(place.value)
  const { slot, tokens } = yield* readHoldings(deposit, { mints: [...mints.values()].map(({ mint }) => mint) })
  const free = new Map(tokens.map(({ assetId, movableRaw }) => [assetId, movableRaw]))
  const simulated = yield* Effect.forEach(
    steps.filter((step) => isCovered(free, step)),
    (step) => simulate(step, mints, batch.operationId)
  )
  const opened = new Set(
    [...steps.flatMap(({ buy, sell }) => [buy, sell]), ...simulated.flatMap(openedBy)].filter(
      (id) => !tokens.some(({ accounts, assetId }) => assetId === id && accounts.length > 0)
    )
  )
  const rent = yield* (yield* SolanaRpc).minimumRent(tokenAccountBytes)
  const rents = BigInt(opened.size) * rent
  const count = BigInt(steps.length)
  const texts = [encodeStep(first), ...others.map((step) => encodeStep(step))] as const
  return {
    _tag: "Solana",
    chainId: batch.chainId,
    accountId: solanaAccount(deposit.toBase58()),
    actionHash: bytesToHex(sha256(stringToBytes(JSON.stringify([slot.toString(), ...texts])))),
    parts: texts,
    maxLamports: count * (signatureLamports + fees.maxPriorityLamports) + rents,
    expectedLamports: (yield* feesOf(simulated, steps.length)) + rents,
    lamportNative: weiOfLamport,
    slot
  }
})
