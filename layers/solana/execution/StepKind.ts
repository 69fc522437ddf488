/**
 * What differs between kinds of steps when one is carried out. A swap of the plan is built by Jupiter anew for each
 * signature, and read off the balances around it. Of an owner's withdrawal what was signed is checked again, and it
 * counts as done when no fork can take it back.
 */
import { PublicKey } from "@solana/web3.js"
import { Duration, Effect, Schedule } from "effect"
import { tokensOf } from "#domain/account/WithdrawalMessage.ts"
import { addressOf } from "#domain/values/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import type { PartOutcome } from "#domain/relay/PartRelay.ts"
import type { SimulationFailed as TokenUnreadable } from "#domain/trading/SwapBatches.ts"
import type { ProviderUnavailable } from "#layers/provider/makeFind.ts"
import { addressesOf } from "#layers/solana/swig/PortfolioRole.ts"
import { tradeOf } from "#layers/solana/execution/prepareSwaps.ts"
import type { TaggedTransaction } from "#layers/solana/execution/readTagged.ts"
import type { SolanaStep, SwapStep, WithdrawStep } from "#layers/solana/execution/SolanaStep.ts"
import { tagOfOperation, tagOfWithdrawal, type TransactionTag } from "#layers/solana/execution/transactionTag.ts"
import type { Agent } from "#layers/solana/lifecycle/Agent.ts"
import type { PreparationError, Prepared } from "#layers/solana/lifecycle/prepare.ts"
import type { FeePolicy } from "#layers/solana/lifecycle/priorityFee.ts"
import type { Commitment } from "#layers/solana/rpc/Requests.ts"
import type { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { readHoldings } from "#layers/solana/token/readHoldings.ts"
import { readMints } from "#layers/solana/token/readMints.ts"
import type { SwapRefused } from "#layers/solana/trading/checkSwap.ts"
import type { JupiterClient } from "#layers/solana/trading/JupiterClient.ts"
import { type Amounts, amountsOf, prepareSwap, swapResult } from "#layers/solana/trading/prepareSwap.ts"
import { walletOwner } from "#layers/solana/withdrawal/isSignedByOwner.ts"
import { prepareWithdrawal, type WithdrawalRefused } from "#layers/solana/withdrawal/prepareWithdrawal.ts"

/** The agent's key, what its transactions may cost, and for what it signs. */
export interface Signing {
  readonly agent: Pick<Agent, "key">
  readonly fees: FeePolicy
  /** The operation that the step is part of. */
  readonly operationId: OperationId
}

/** Why nothing can be signed for a step as things are now. */
export type StepRefusal = PreparationError | TokenUnreadable | ProviderUnavailable | SwapRefused | WithdrawalRefused

export interface StepKind {
  /** The commitment that its transaction must have before the step counts as done. */
  readonly commitment: Commitment
  /** Built and checked as things are now; with the balances that `changes` will read. Nothing is signed. */
  readonly build: Effect.Effect<
    { readonly prepared: Prepared; readonly before: Amounts },
    StepRefusal,
    JupiterClient | SolanaRpc
  >
  /** Tag by which its transactions are found on the chain. */
  readonly tag: TransactionTag
  readonly account: PublicKey
  /** Whether a transaction with the tag did it, by what the account held before and after. */
  readonly isDoneBy: (transaction: Pick<TaggedTransaction, "before" | "after">) => boolean
  /**
   * What the account got and gave in the transaction that landed in this slot: by the balances after it, where they are
   * known, or by those of now.
   */
  readonly changes: (
    held: { readonly before: Amounts; readonly after?: Amounts | undefined },
    slot: bigint
  ) => Effect.Effect<Extract<PartOutcome, { readonly _tag: "Landed" }>["deltas"], ChainUnavailable, SolanaRpc>
}

/** A provider that does not answer is called again for some seconds: nothing of the step may land meanwhile. */
const askAgain = Schedule.exponential(Duration.millis(500)).pipe(Schedule.upTo({ times: 3 }))

/** Changes of what the step is about. The log shows where they are not those of the swap alone. */
const changesOf = Effect.fnUntraced(function* (step: SwapStep, before: Amounts, after: Amounts) {
  const { boughtRaw, isAsPlanned, soldRaw } = swapResult(step, before, after)
  if (!isAsPlanned) {
    yield* Effect.logWarning("A swap landed, and the balances around it are not those of the swap alone").pipe(
      Effect.annotateLogs({ soldRaw, boughtRaw, sellRaw: step.sellRaw, minBuyRaw: step.minBuyRaw })
    )
  }
  return [
    { assetId: step.sell, raw: -soldRaw },
    { assetId: step.buy, raw: boughtRaw }
  ]
})

const tradedBy = ({ buy, sell }: SwapStep) => [sell, buy].map((assetId) => new PublicKey(addressOf(assetId)))

const swapKind = (step: SwapStep, { agent, fees, operationId }: Signing): StepKind => {
  const tag = tagOfOperation(operationId)
  const { deposit } = addressesOf(step.place)
  const buildSwap = (slippageBps: number) =>
    Effect.gen(function* () {
      const mints = yield* readMints([step.sell, step.buy])
      return yield* prepareSwap({ ...tradeOf(step, mints), slippageBps, tag: tag.address, agent, fees })
    }).pipe(Effect.retry({ while: ({ _tag }) => _tag === "ProviderUnavailable", schedule: askAgain }))

  return {
    commitment: "confirmed",
    tag,
    account: deposit,
    isDoneBy: ({ after, before }) => {
      const { boughtRaw, soldRaw } = swapResult(step, before, after)
      return soldRaw > 0n && boughtRaw > 0n
    },
    // A quote that fell since the plan leaves less room above the minimum, and the next one is requested without
    // slippage.
    build: buildSwap(step.slippageBps).pipe(
      Effect.catchTag("SwapRefused", (refused) => (step.slippageBps === 0 ? Effect.fail(refused) : buildSwap(0))),
      Effect.map((prepared) => ({ prepared, before: amountsOf(prepared.before) }))
    ),
    changes: ({ after, before }, slot) =>
      after === undefined
        ? Effect.flatMap(readHoldings(deposit, { atLeastSlot: slot, mints: tradedBy(step) }), (holdings) =>
            changesOf(step, before, amountsOf(holdings))
          )
        : changesOf(step, before, after)
  }
}

/** Transfers of exact amounts, all or nothing: what left is what was requested. */
const withdrawKind = (
  { message, owner, place, signature, title }: WithdrawStep,
  { agent, fees }: Signing
): StepKind => ({
  commitment: "finalized",
  tag: tagOfWithdrawal(message),
  account: addressesOf(place).deposit,
  isDoneBy: () => true,
  build: Effect.map(
    prepareWithdrawal({
      agent,
      fees,
      message,
      owner: walletOwner(owner),
      place,
      signature,
      title,
      tag: tagOfWithdrawal(message).address
    }),
    (prepared) => ({ prepared, before: [] })
  ),
  changes: () =>
    Effect.succeed(tokensOf(message).map(({ amountRaw, assetId }) => ({ assetId, raw: -BigInt(amountRaw) })))
})

export const kindOf = (step: SolanaStep, signing: Signing): StepKind =>
  step._tag === "Swap" ? swapKind(step, signing) : withdrawKind(step, signing)
