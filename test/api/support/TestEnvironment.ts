/** What surrounds the service in contract tests: chains, prices, wallets and runs whose answers a test decides. */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import {
  type AccountId,
  type AssetId,
  ChainId,
  chainIdOf,
  evmAccount,
  type EvmAddress,
  evmWallet,
  type WalletId
} from "#domain/values/Caip.ts"
import { authorizedChains } from "#domain/account/Grant.ts"
import { Balances } from "#domain/chain/Balances.ts"
import { Chains } from "#domain/chain/Chains.ts"
import { nativeCoinOn } from "#domain/chain/nativeCoins.ts"
import { ServiceContracts } from "#domain/chain/ServiceContracts.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import * as Eip55 from "#domain/values/Eip55.ts"
import { SmartAccounts } from "#domain/account/SmartAccounts.ts"
import { VerifierUnavailable } from "#domain/errors/Errors.ts"
import { PolicyReader } from "#domain/policy/ChainPolicy.ts"
import { RevocationTransactions } from "#domain/revocation/RevocationTransactions.ts"
import { type Price, Prices } from "#domain/market/Prices.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { DryRun } from "#domain/rebalance/preview/DryRun.ts"
import type { PreviewedChain } from "#domain/rebalance/preview/Preview.ts"
import type { PlanContext } from "#domain/rebalance/RunStore.ts"
import { SwapBatches, SimulationFailed } from "#domain/trading/SwapBatches.ts"
import { CallTracer } from "#domain/order/CallTracer.ts"
import { Routing } from "#domain/trading/Routing.ts"
import { Venue } from "#domain/trading/Venue.ts"
import { TransferReceipts } from "#domain/transfer/TransferReceipts.ts"
import { typedDataOf } from "#domain/withdrawal/signedForm.ts"
import { WithdrawalVerifier } from "#domain/withdrawal/WithdrawalVerifier.ts"
import { PermissionId } from "#domain/account/Authorization.ts"
import { bytes32, guarded, policy } from "#test/api/support/permission.ts"
import { signerOfText, signerOfTypedData } from "#test/api/support/wallets.ts"
import { AsListed } from "#test/support/AsListed.ts"
import { readEach } from "#test/support/readEach.ts"
import { signerOf } from "#layers/evm/account/ownerSignature.ts"
import { addressOf } from "#layers/evm/address.ts"
import { messageNonce, nativeDigest } from "#layers/evm/withdrawal/nativeWithdrawal.ts"
import { FamiliesLive } from "#layers/FamiliesLive.ts"

/** The signature that every owner of these tests gives; any other is not theirs. */
export const ownerSignature = `0x${"1b".repeat(65)}`

export class TestEnvironment extends Context.Service<
  TestEnvironment,
  {
    balances: ReadonlyMap<string, bigint>
    chainsDown: boolean
    /** No chain says what became of something that was sent. */
    receiptsUnreadable: boolean
    /** What left, by the hash of the action that contained it. */
    included: ReadonlyMap<string, { readonly blockNumber: bigint; readonly txHash: string }>
    prices: ReadonlyMap<AssetId, bigint>
    /** What a run would do, on the first chain of the portfolio. */
    plannedNow: Partial<PreviewedChain>
    isReady: boolean
    /** Whether the process has reached its database lately. */
    isLive: boolean
    /** What a launch dies of, when it is to die. */
    launchDefect: unknown
    /** Operations whose runs were notified. */
    woken: Array<string>
    /** Owners that are contracts, on every chain. */
    contractOwners: ReadonlySet<string>
    /** Whether every chain has a trade guard. */
    isGuarded: boolean
    /** Why chains refuse operations; null when they do not. */
    refusal: string | null
    /** Contracts cannot be asked. */
    verifierDown: boolean
    /** Awaited before a signature is answered. */
    beforeSignature: Effect.Effect<void>
  }
>()("ballast/test/TestEnvironment") {
  static readonly layer = Layer.sync(TestEnvironment, () => ({
    balances: new Map(),
    chainsDown: false,
    receiptsUnreadable: false,
    included: new Map(),
    prices: new Map(),
    plannedNow: {},
    isReady: true,
    isLive: true,
    launchDefect: undefined,
    woken: [],
    contractOwners: new Set<string>(),
    isGuarded: true,
    refusal: null,
    verifierDown: false,
    beforeSignature: Effect.void
  }))
}

/** One address for each owner and index, the same on every chain. */
const accountOf = (chainId: ChainId, owner: WalletId, index: bigint): AccountId => {
  const address = BigInt.asUintN(160, (BigInt(addressOf(owner)) << 16n) + index)
  return evmAccount(chainId, Eip55.checksum(`0x${address.toString(16).padStart(40, "0")}`) as EvmAddress)
}

const askContract = (environment: { readonly verifierDown: boolean }) =>
  environment.verifierDown
    ? Effect.fail(new VerifierUnavailable({ message: "Chain 8453 cannot be asked right now, retry" }))
    : Effect.void

let permissions = 0

/** Four bytes that no other permission has. */
const nextPermissionId = () => {
  permissions += 1
  return PermissionId.make(`0x${permissions.toString(16).padStart(8, "0")}`)
}

const SmartAccountsFake = Layer.effect(
  SmartAccounts,
  Effect.map(TestEnvironment, (environment) =>
    SmartAccounts.of({
      authorize: ({ accountType, ownerAccountId, accountIndex, withdrawalDomainName, chains }) => {
        const [first, ...rest] = chains.map(({ chainId, terms }) => ({
          chainId,
          accountId: accountOf(chainId, ownerAccountId, accountIndex),
          permissionId: nextPermissionId(),
          policy: environment.isGuarded ? { ...policy, guard: guarded(terms) } : policy,
          digest: bytes32("0d")
        }))
        return Effect.succeed({
          _tag: "Evm",
          accountType,
          ownerAccountId,
          accountIndex,
          withdrawalDomainName,
          agentAccountId: evmWallet(Eip55.checksum(`0x${"a9".repeat(20)}`) as EvmAddress),
          chains: [first!, ...rest] as const,
          root: bytes32("5f")
        })
      },
      enableNonce: () => Effect.as(askContract(environment), 2),
      isContract: (owner) => Effect.as(askContract(environment), environment.contractOwners.has(owner)),
      isSignedByOwner: ({ accountType }, signature) =>
        (accountType === "ERC1271" ? askContract(environment) : Effect.void).pipe(
          Effect.andThen(environment.beforeSignature),
          Effect.as(signature === ownerSignature)
        ),
      isTextSignedByOwner: (owner, text, signature) =>
        Effect.map(
          Effect.promise(() => signerOfText(text, signature)),
          (signer) => signer === addressOf(owner)
        )
    })
  )
)

const BalancesFake = Layer.effect(
  Balances,
  Effect.map(TestEnvironment, (environment) => {
    const read: Balances["Service"]["read"] = Effect.fnUntraced(function* (account, assetIds) {
      if (environment.chainsDown)
        return yield* new ChainUnavailable({ chainId: ChainId.make(8453), reason: "the test took it down" })
      const held = <Id extends string>(assetId: Id) => ({
        assetId,
        raw: environment.balances.get(`${account} ${assetId}`) ?? 0n
      })
      const native = held(nativeCoinOn(chainIdOf(account))!.assetId)
      return { blockNumber: 1n, blockTime: yield* DateTime.now, balances: assetIds.map(held), native }
    })
    return Balances.of({ read, readMany: readEach(read) })
  })
)

const PricesFake = Layer.effect(
  Prices,
  Effect.map(TestEnvironment, (environment) =>
    Prices.of({
      latest: Effect.fnUntraced(function* (assetIds) {
        const asOf = yield* DateTime.now
        const found = assetIds.flatMap((assetId): ReadonlyArray<readonly [AssetId, Price]> => {
          const usd = environment.prices.get(assetId)
          return usd === undefined ? [] : [[assetId, { usd, asOf }]]
        })
        return new Map(found)
      })
    })
  )
)

const WithdrawalVerifierFake = Layer.effect(
  WithdrawalVerifier,
  Effect.map(TestEnvironment, (environment) =>
    WithdrawalVerifier.of({
      isSignedByOwner: Effect.fnUntraced(function* ({ accountId, grant, message, signature }) {
        yield* environment.beforeSignature
        const { accountType, ownerAccountId, withdrawalDomainName } = grant.authorization
        if (accountType === "ERC1271") return yield* Effect.as(askContract(environment), signature === ownerSignature)
        const digest = nativeDigest({ accountId, grant, message })
        if (digest !== undefined) {
          const raw = yield* Effect.promise(() => signerOf({ raw: digest }, signature))
          return raw === addressOf(ownerAccountId)
        }
        const typedData = typedDataOf(message, withdrawalDomainName!, accountId)
        const signer = yield* Effect.promise(() => signerOfTypedData(typedData, signature))
        return signer === addressOf(ownerAccountId)
      }),
      recipientProblem: () => Effect.succeedNone,
      nativeNonce: (_accountId, drawn) => Effect.succeed(messageNonce(drawn, 0n)),
      nativeDigest: (withdrawal) => Option.fromUndefinedOr(nativeDigest(withdrawal)),
      selfSubmission: ({ accountId }) =>
        Option.some({
          deploy: { to: addressOf(accountId) as EvmAddress, data: "0xde" },
          withdraw: { to: addressOf(accountId) as EvmAddress, data: "0xad" }
        })
    })
  )
)

const OperationLauncherFake = Layer.effect(
  OperationLauncher,
  Effect.map(TestEnvironment, (environment) =>
    OperationLauncher.of({
      capacity: Effect.succeed(64),
      launch: () => (environment.launchDefect === undefined ? Effect.void : Effect.die(environment.launchDefect)),
      wake: ({ operationId }) => Effect.sync(() => void environment.woken.push(operationId))
    })
  )
)

const PolicyReaderFake = Layer.effect(
  PolicyReader,
  Effect.map(TestEnvironment, (environment) =>
    PolicyReader.of({
      read: Effect.fnUntraced(function* (grants, chainId) {
        if (environment.chainsDown) return yield* new ChainUnavailable({ chainId, reason: "the test took it down" })
        const { agentAccountId, chains } = grants.at(-1)!.authorization
        const { accountId, permissionId } = chains.find((one) => one.chainId === chainId)!
        const agent = addressOf(agentAccountId)
        return {
          chainId,
          accountId,
          blockNumber: 31_415_926n,
          blockTime: yield* DateTime.now,
          isDeployed: true,
          permissions: [{ permissionId, kind: "guard", state: "active", agent, validUntil: yield* DateTime.now }],
          allowed: [
            { permissionId, target: null, function: "approve(address,uint256)", rule: "The spender is the guard." }
          ],
          guard: {
            contract: serviceContract,
            registryVersion: 12,
            isPaused: false,
            administrator: agent,
            guardian: agent,
            attestor: agent,
            tradeBps: 200,
            budgetBps: 200,
            lossLeft: 19_700_000n,
            turnoverLeft: 2_000_000_000n,
            closedRoot: null
          },
          checks: [{ reads: "the account's present nonce", to: addressOf(accountId), data: "0x7eb09d05" }]
        }
      })
    })
  )
)

/** Chains that say what an owner is to sign; nothing that was signed is executed here. */
const RevocationTransactionsFake = Layer.unwrap(
  Effect.map(TestEnvironment, (environment) =>
    Layer.mock(RevocationTransactions, {
      draft: ({ accounts, ...maker }) => {
        const [first, ...others] = accounts.map((account) => ({
          ...account,
          validFrom: 2,
          operationNonce: 0n,
          digest: bytes32("0e")
        }))
        return Effect.as(askContract(environment), {
          ...maker,
          chains: [first!, ...others] as const,
          root: bytes32("6f")
        })
      },
      hasEnded: () => Effect.succeed(false),
      find: () => Effect.succeedNone
    })
  )
)

const TransferReceiptsFake = Layer.effect(
  TransferReceipts,
  Effect.map(TestEnvironment, (environment) =>
    TransferReceipts.of({
      read: () => Effect.succeedNone,
      incoming: () => Effect.succeed([]),
      inclusionOf: (_, actionHash) =>
        Effect.suspend(() =>
          environment.receiptsUnreadable
            ? Effect.fail(new ChainUnavailable({ chainId: ChainId.make(8453), reason: "the test took it down" }))
            : Effect.succeed(Option.fromUndefinedOr(environment.included.get(actionHash)))
        )
    })
  )
)

const RoutingFake = Layer.mock(Routing, {
  quote: () => Effect.succeedNone,
  swapQuotes: () => Effect.succeed([]),
  status: () => Effect.succeed({ _tag: "Pending", detail: "not known" } as const)
})

/** Chains that say whether an operation would succeed; nothing is sent here. */
const SwapBatchesFake = Layer.effect(
  SwapBatches,
  Effect.map(TestEnvironment, (environment) =>
    SwapBatches.preparedBy(
      Effect.fnUntraced(function* ({ authorization, chainId }) {
        if (environment.chainsDown) return yield* new ChainUnavailable({ chainId, reason: "the test took it down" })
        if (environment.refusal !== null) return yield* new SimulationFailed({ chainId, reason: environment.refusal })
        const { accountId } = authorization.chains.find((chain) => chain.chainId === chainId)!
        return {
          _tag: "Evm" as const,
          chainId,
          accountId,
          actionHash: bytes32("0b"),
          to: serviceContract,
          callData: "0x765e827f",
          gasLimit: 1_000_000n,
          maxFeePerGas: 1n,
          maxPriorityFeePerGas: 1n,
          chainNonce: 0,
          laneNonces: [],
          fromBlock: 1n
        }
      })
    )
  )
)

const CallTracerFake = Layer.succeed(CallTracer, {
  trace: ({ accountId, to }) =>
    Effect.succeed({
      gasUsed: 182_344n,
      calls: [{ depth: 0, type: "CALL", from: to, to: addressOf(accountId), gasUsed: 161_000n, error: null }]
    })
})

const DryRunFake = Layer.effect(
  DryRun,
  Effect.map(TestEnvironment, (environment) => ({
    plan: ({ grants, strategyVersion }: PlanContext) =>
      Effect.map(DateTime.now, (plannedAt) => {
        const { chainId } = authorizedChains(grants)[0]!
        const nothing = { outcome: "nothing" as const, swaps: [], transfers: [], skips: [], reason: null, gas: null }
        const chain: PreviewedChain = { ...nothing, ...environment.plannedNow, chainId }
        return { plannedAt, plan: { strategyVersion, slippageBps: 50, chains: [chain] } }
      })
  }))
)

const ChainsFake = Layer.succeed(Chains, { supported: [8453 as ChainId, 42161 as ChainId] })

/** A contract of the service, on every chain. */
export const serviceContract = Eip55.checksum(`0x${"5c".repeat(20)}`) as EvmAddress

const ServiceContractsFake = Layer.succeed(ServiceContracts, { on: () => new Set([serviceContract]) })

/** Nothing is traded here: plans need its fee alone. */
const VenueFake = Layer.succeed(Venue, {
  assumedFeeBps: () => 30,
  quote: ({ requests }) => Effect.succeed(requests.map(() => null))
})

/** What chains say of tokens and accounts: who may act for them, what their owners signed, and what calls would do. */
export const TestAccounts = Layer.mergeAll(
  AsListed,
  SmartAccountsFake,
  WithdrawalVerifierFake,
  PolicyReaderFake,
  CallTracerFake,
  ServiceContractsFake
).pipe(Layer.provideMerge(TestEnvironment.layer))

export const TestEnvironmentLive = Layer.mergeAll(
  VenueFake,
  BalancesFake,
  PricesFake,
  OperationLauncherFake,
  RevocationTransactionsFake,
  TransferReceiptsFake,
  RoutingFake,
  SwapBatchesFake,
  DryRunFake,
  ChainsFake,
  FamiliesLive
).pipe(Layer.provideMerge(TestAccounts))
