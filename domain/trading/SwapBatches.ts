/**
 * Port: a batch of swaps on one chain as one user operation of the smart account, which the relayer submits, or on a
 * chain without such operations as one step for each swap. The batch may end by handing what it yields to a recipient
 * that the owner authorized.
 *
 * `prepare` may be repeated freely: nothing is sent. What becomes of it is the relay's (`ActionReceipts`). Source:
 * ERC-4337.
 */
import { Context, Effect, Schema } from "effect"
import type { AccountMoment } from "#domain/values/AccountMoment.ts"
import { AssetId, ChainId, type EvmAddress } from "#domain/values/Caip.ts"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { OperationId } from "#domain/values/Ids.ts"
import type { Grant } from "#domain/account/Grant.ts"
import { SignatureCause } from "#domain/account/RequiredSignatures.ts"
import { PreparedBatch } from "#domain/trading/PreparedBatch.ts"
import type { PreparedAction } from "#domain/relay/Transaction.ts"
import type { ReadySwap } from "#domain/trading/Swap.ts"
import type { OutgoingTransfer } from "#domain/trading/OutgoingTransfer.ts"
import type { WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"
import { PermissionId } from "#domain/account/Authorization.ts"

/**
 * The last call of a liquidation: the account's balance of one asset, less what it keeps, goes to the authorized
 * recipient.
 */
export interface LiquidationPayout {
  /** A liquidating authorization, and the owner's signature over it. */
  readonly message: WithdrawalMessage
  readonly signature: string
  /** Asset into which everything was sold. */
  readonly assetId: AssetId
  /** What the account held of it before and was not authorized to give. */
  readonly keepRaw: bigint
}

/** Swaps on a chain under the grant that counts there. There may be none when there is a transfer or a settlement. */
export interface SwapBatch extends Grant {
  readonly chainId: ChainId
  readonly swaps: ReadonlyArray<ReadySwap>
  /** What leaves for other chains after the swaps. */
  readonly transfers?: ReadonlyArray<OutgoingTransfer>
  readonly settlement?: LiquidationPayout
  /**
   * Calls that an integrator encoded, which the guard's policy decides about; alone, and on accounts that are deployed.
   */
  readonly calls?: ReadonlyArray<{ readonly to: EvmAddress; readonly data: string }>
  /** Ids of earlier permissions, which an operation under the guard takes off the account where they still are. */
  readonly replaced?: ReadonlyArray<PermissionId>
  /**
   * The account as it was when the batch was planned. Fails as `ChainUnavailable` where it has acted since, or no node
   * is as far as that.
   */
  readonly madeFrom?: AccountMoment
  /** The operation that the batch is part of. What is included names it, so that it can be found on the chain. */
  readonly operationId?: OperationId
}

/** A batch of which nothing leaves the chain. */
export interface BatchOnOneChain extends SwapBatch {
  readonly transfers?: never
}

/** A fault of the prices that a chain holds trades against, which passes by itself. */
export const MarketFault = Schema.Literals(["feed_stale", "sequencer_down"])
export type MarketFault = typeof MarketFault.Type

/** The operation fails in simulation. */
export class SimulationFailed extends Schema.TaggedError<SimulationFailed>()("SimulationFailed", {
  chainId: ChainId,
  reason: Schema.String,
  /** Assets that need an attested price and have none; left out when that is not why. */
  unattested: Schema.optionalKey(Schema.Array(Schema.Struct({ assetId: AssetId, reason: Schema.String }))),
  /** Left out when the chain's prices are not why. */
  marketFault: Schema.optionalKey(MarketFault)
}) {
  override get message() {
    return `Simulation on chain ${this.chainId} failed: ${this.reason}`
  }
}

/** The agent cannot act for the account until its owner has signed anew; nothing else would change that. */
export class AuthorizationRequired extends Schema.TaggedError<AuthorizationRequired>()("AuthorizationRequired", {
  chainId: ChainId,
  /** The permission that does not hold. */
  permissionId: PermissionId,
  cause: SignatureCause,
  reason: Schema.String
}) {
  override get message() {
    return `The owner must sign anew for chain ${this.chainId}: ${this.reason}`
  }
}

type NotPrepared = ChainUnavailable | SimulationFailed | AuthorizationRequired

/**
 * A batch of swaps on one chain, ready to be submitted.
 *
 * **When to use**
 *
 * Use to prepare a batch with minimums, and `prepareForRun` in `simulateBatch` alone. What `prepare` answers is
 * submitted by `TransactionRelay`, what `prepareForRun` answers by `submitBatch`. Withdrawals without sales are
 * `WithdrawalTransactions`.
 *
 * **Details**
 *
 * `SimulationFailed` is the chain's refusal of this batch, `AuthorizationRequired` its refusal of the agent until the
 * owner signs anew. `ChainUnavailable` may be tried again.
 */
export class SwapBatches extends Context.Service<
  SwapBatches,
  {
    /**
     * Builds, signs with the agent key and simulates; deploys the account and enables the permission the first time.
     */
    readonly prepare: (batch: BatchOnOneChain) => Effect.Effect<PreparedAction, NotPrepared>
    /**
     * Prepares for a run, whose batch may send value to other chains: the ledger has to know before it is submitted.
     */
    readonly prepareForRun: (batch: SwapBatch) => Effect.Effect<PreparedBatch, NotPrepared>
  }
>()("ballast/domain/trading/SwapBatches") {
  /** Port made of what prepares any batch. */
  static readonly preparedBy = (prepare: (batch: SwapBatch) => Effect.Effect<PreparedAction, NotPrepared>) =>
    SwapBatches.of({
      prepare,
      prepareForRun: (batch) => Effect.map(prepare(batch), (action) => new PreparedBatch(action))
    })
}
