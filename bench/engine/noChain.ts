/**
 * Chains, prices and a venue that answer at once and always the same: an account that holds dollars alone, a swap that
 * succeeds, a answer at the first poll. What is left of a run is the service's own work.
 */
import { OperationTags } from "#domain/relay/OperationTags.ts"
import { DateTime, Effect, Layer, Option, Result } from "effect"
import {
  addressOf,
  type AssetId,
  type ChainId,
  erc20,
  type AccountId,
  type EvmAddress,
  evmWallet
} from "#domain/values/Caip.ts"
import { Balances } from "#domain/chain/Balances.ts"
import { Chains } from "#domain/chain/Chains.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import * as Eip55 from "#domain/values/Eip55.ts"
import { type Authorization, PermissionId } from "#domain/account/Authorization.ts"
import { Prices } from "#domain/market/Prices.ts"
import { ActionReceipts } from "#domain/relay/ActionReceipts.ts"
import { UserOperations } from "#domain/relay/UserOperations.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import { assumedExecution } from "#domain/trading/Swap.ts"
import { Venue } from "#domain/trading/Venue.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { NoIssuer } from "#bench/engine/noIssuer.ts"
import { Routing } from "#domain/trading/Routing.ts"
import { TransferReceipts } from "#domain/transfer/TransferReceipts.ts"
import { RevocationTransactions } from "#domain/revocation/RevocationTransactions.ts"
import { WithdrawalTransactions } from "#domain/withdrawal/WithdrawalTransactions.ts"
import { FamiliesLive } from "#layers/FamiliesLive.ts"

/**
 * A relayer's transactions of one chain are signed one after the other, so there are several chains, as in a
 * deployment.
 */
export const chainIds = [8453, 42161, 10, 1].map((id) => id as ChainId)
const address = (byte: string): EvmAddress => Eip55.checksum(`0x${byte.repeat(20)}`) as EvmAddress
const bytes32 = (byte: string) => `0x${byte.repeat(32)}`

const weth = address("e1")
const usdc = address("e2")
export const assetsOf = (chainId: ChainId) => [
  { assetId: erc20(chainId, weth), chainId, symbol: "WETH", name: "Wrapped Ether", decimals: 18, isBlocked: false },
  { assetId: erc20(chainId, usdc), chainId, symbol: "USDC", name: "USD Coin", decimals: 6, isBlocked: false }
]

export const authorizationOf = (chainId: ChainId, accountId: AccountId): Authorization => ({
  _tag: "Evm",
  accountType: "ECDSA",
  ownerAccountId: evmWallet(address("a1")),
  accountIndex: 0n,
  withdrawalDomainName: "Ballast Withdrawal Authorization",
  agentAccountId: evmWallet(address("b1")),
  chains: [
    {
      chainId,
      accountId,
      permissionId: PermissionId.make("0x5a5a5a5a"),
      digest: bytes32("5a"),
      policy: { _tag: "Evm", router: address("d1"), connectorTokens: [], tokens: [weth, usdc] }
    }
  ],
  root: bytes32("5a")
})

const tenThousandDollars = 10_000_000_000n
const usdOf = (assetId: AssetId) => (addressOf(assetId) === weth ? 2_500n * Decimal.one : Decimal.one)

/** What every account holds, whatever is traded. */
export type Held = (assetId: AssetId) => bigint

export const dollarsAlone: Held = (assetId) => (addressOf(assetId) === usdc ? tenThousandDollars : 0n)
/** 60 percent WETH and 40 percent USDC, as all strategies want it. */
export const onTarget: Held = (assetId) => (addressOf(assetId) === usdc ? 4_000_000_000n : (24n * Decimal.one) / 10n)

const balancesOf = (held: Held) => {
  const read = (assetIds: ReadonlyArray<AssetId>) =>
    Effect.map(DateTime.now, (blockTime) => ({
      blockNumber: 1n,
      blockTime,
      balances: assetIds.map((assetId) => ({ assetId, raw: held(assetId) }))
    }))
  return Layer.succeed(Balances, {
    read: (_, assetIds) => read(assetIds),
    readMany: (_, accounts) => Effect.forEach(accounts, ({ assetIds }) => Effect.map(read(assetIds), Result.succeed))
  })
}

const PricesNone = Layer.succeed(Prices, {
  latest: (assetIds) =>
    Effect.map(DateTime.now, (asOf) => new Map(assetIds.map((assetId) => [assetId, { usd: usdOf(assetId), asOf }])))
})

const VenueNone = Layer.succeed(Venue, {
  assumedFeeBps: () => 30,
  quote: ({ requests }) =>
    Effect.succeed(
      requests.map(({ buy, sell, sellAmountRaw }) => ({
        buyAmountRaw: (sellAmountRaw * 10n ** 12n * 997n) / (2_500n * 1_000n),
        execution: assumedExecution({ sell, buy }),
        priceImpactBps: 0,
        feeRaw: null,
        furtherFeeBps: 0
      }))
    )
})

/** How the chains behave. */
export interface Behaviour {
  /** Milliseconds that each call takes. */
  readonly delayMs: number
  /** Whether nothing that is sent is ever included. */
  readonly stalls: boolean
  readonly onBroadcast: (actionHash: string) => Effect.Effect<void>
}

export const instant: Behaviour = { delayMs: 0, stalls: false, onBroadcast: () => Effect.void }

let prepared = 0
const hash = (kind: string, ...numbers: ReadonlyArray<number>) =>
  `0x${kind}${numbers
    .map((n) => n.toString(16).padStart(10, "0"))
    .join("")
    .padStart(62, "0")}`

const after = <A>(delayMs: number, answer: () => A) =>
  delayMs === 0 ? Effect.sync(answer) : Effect.delay(Effect.sync(answer), delayMs)

const chainExecution = ({ delayMs }: Behaviour) =>
  Layer.succeed(
    SwapBatches,
    SwapBatches.preparedBy(({ authorization, chainId }) =>
      after(delayMs, () => ({
        _tag: "Evm" as const,
        chainId,
        accountId: authorization.chains[0].accountId,
        actionHash: hash("0a", process.pid, ++prepared),
        to: address("d1"),
        callData: `0x${"ab".repeat(600)}`,
        gasLimit: 1_300_000n,
        bundleGas: 16_777_216n,
        maxFeePerGas: 1n,
        maxPriorityFeePerGas: 1n,
        chainNonce: 0,
        laneNonces: [],
        fromBlock: 1n
      }))
    )
  )

const userOperations = ({ delayMs }: Behaviour) =>
  Layer.succeed(UserOperations, {
    bundle: (operations) =>
      after(delayMs, () => ({
        transaction: {
          ...operations[0],
          callData: `0x${operations.map(({ callData }) => callData.slice(2)).join("")}`,
          gasLimit: operations.reduce((sum, { gasLimit }) => sum + gasLimit, 0n)
        },
        kept: operations.map((_, index) => index)
      }))
  })

const actionReceipts = ({ delayMs, stalls }: Behaviour) =>
  Layer.succeed(ActionReceipts, {
    find: ({ actionHash, txHash }) =>
      after(delayMs, () =>
        stalls
          ? Option.none()
          : Option.some({
              actionHash,
              txHash,
              blockNumber: 2n,
              blockHash: null,
              success: true,
              gasUsed: 1n,
              deltas: []
            })
      )
  })

const relayer = ({ delayMs, onBroadcast }: Behaviour) =>
  Layer.succeed(Relayer, {
    address: address("f1"),
    accounts: [address("f1")],
    sign: ({ actionHash, callData, chainId, fromBlock }, nonce) =>
      Effect.succeed({
        chainId,
        actionHash,
        relayer: address("f1"),
        nonce,
        txHash: hash("0b", chainId, nonce),
        raw: callData,
        fromBlock,
        replaces: []
      }),
    usedNonces: () => Effect.succeed(0),
    quoteFeeBump: () => Effect.succeed({ _tag: "Sufficient" }),
    signReplacement: (transaction) => Effect.succeed(transaction),
    quoteCancelling: () => Effect.succeedNone,
    signCancelling: (transaction) => Effect.succeed(transaction),
    broadcast: ({ actionHash }) =>
      Effect.andThen(
        onBroadcast(actionHash),
        after(delayMs, () => undefined)
      )
  })

const none = Effect.die(new Error("Nothing is withdrawn here"))
const WithdrawalTransactionsNone = Layer.succeed(WithdrawalTransactions, {
  standing: () => none,
  prepare: () => none,
  find: () => Effect.as(none, Option.none()),
  delivered: () => none
})

const unrevoked = Effect.die(new Error("No owner revokes here"))
const RevocationTransactionsNone = Layer.succeed(RevocationTransactions, {
  draft: () => unrevoked,
  hasEnded: () => unrevoked,
  prepare: () => unrevoked,
  find: () => unrevoked
})

const nothingMoves = Effect.die(new Error("No value moves between chains here"))

export const noChain = (behaviour: Behaviour, held = dollarsAlone) =>
  Layer.mergeAll(
    balancesOf(held),
    PricesNone,
    VenueNone,
    chainExecution(behaviour),
    userOperations(behaviour),
    actionReceipts(behaviour),
    Layer.succeed(OperationTags, { find: () => Effect.succeed({ _tag: "Absent" as const }) }),
    relayer(behaviour),
    WithdrawalTransactionsNone,
    RevocationTransactionsNone,
    Layer.succeed(TransferReceipts, {
      inclusionOf: () => nothingMoves,
      incoming: () => nothingMoves,
      read: () => nothingMoves
    }),
    NoIssuer,
    Layer.succeed(Routing, {
      quote: () => nothingMoves,
      status: () => nothingMoves,
      swapQuotes: () => nothingMoves,
      swapCall: () => nothingMoves
    }),
    Layer.succeed(Chains, { supported: chainIds }),
    FamiliesLive
  )
