/** What surrounds the service in contract tests: chains, prices, wallets and runs whose answers a test decides. */
import { Context, DateTime, Effect, Layer } from "effect"
import {
  addressOf,
  type AssetId,
  type ChainId,
  type EvmAccountId,
  type EvmAddress,
  type EvmWalletId,
  evmAccount,
  evmWallet
} from "#domain/Caip.ts"
import { Balances } from "#domain/chain/Balances.ts"
import { Chains } from "#domain/chain/Chains.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import * as Eip55 from "#domain/Eip55.ts"
import { SmartAccounts } from "#domain/enrollment/SmartAccounts.ts"
import { type Price, Prices } from "#domain/market/Prices.ts"
import { Readiness } from "#domain/Readiness.ts"
import { RunLauncher } from "#domain/rebalance/RunLauncher.ts"

/** The signature that every owner of these tests gives; any other is not theirs. */
export const ownerSignature = `0x${"1b".repeat(65)}`

const bytes32 = (fill: string) => `0x${fill.repeat(32)}`

const policy = { router: Eip55.checksum(`0x${"42".repeat(20)}`) as EvmAddress, hubs: [], tokens: [] }

export class Surroundings extends Context.Service<
  Surroundings,
  {
    balances: ReadonlyMap<string, bigint>
    chainsDown: boolean
    prices: ReadonlyMap<AssetId, bigint>
    isReady: boolean
    /** What a launch dies of, when it is to die. */
    launchDefect: unknown
    /** Awaited before a signature is answered. */
    beforeSignature: Effect.Effect<void>
  }
>()("ballast/test/Surroundings") {
  static readonly layer = Layer.sync(Surroundings, () => ({
    balances: new Map(),
    chainsDown: false,
    prices: new Map(),
    isReady: true,
    launchDefect: undefined,
    beforeSignature: Effect.void
  }))
}

/** One address for each owner and index, the same on every chain. */
const accountOf = (chainId: ChainId, owner: EvmWalletId, index: bigint): EvmAccountId => {
  const address = BigInt.asUintN(160, (BigInt(addressOf(owner)) << 16n) + index)
  return evmAccount(chainId, Eip55.checksum(`0x${address.toString(16).padStart(40, "0")}`) as EvmAddress)
}

const SmartAccountsFake = Layer.effect(
  SmartAccounts,
  Effect.map(Surroundings, (surroundings) =>
    SmartAccounts.of({
      authorize: ({ ownerAccountId, accountIndex, chains }) => {
        const [first, ...rest] = chains.map(({ chainId }) => ({
          chainId,
          accountId: accountOf(chainId, ownerAccountId, accountIndex),
          permissionId: "0x01020304",
          policy,
          digest: bytes32("0d")
        }))
        return Effect.succeed({
          ownerAccountId,
          accountIndex,
          agentAccountId: evmWallet(Eip55.checksum(`0x${"a9".repeat(20)}`) as EvmAddress),
          chains: [first!, ...rest] as const,
          root: bytes32("5f")
        })
      },
      isSignedByOwner: (_, signature) => Effect.as(surroundings.beforeSignature, signature === ownerSignature)
    })
  )
)

const BalancesFake = Layer.effect(
  Balances,
  Effect.map(Surroundings, (surroundings) =>
    Balances.of({
      read: Effect.fnUntraced(function* (account, assetIds) {
        if (surroundings.chainsDown)
          return yield* new ChainUnavailable({ chainId: 8453, reason: "the test took it down" })
        return {
          blockNumber: 1n,
          blockTime: yield* DateTime.now,
          balances: assetIds.map((assetId) => ({
            assetId,
            raw: surroundings.balances.get(`${account} ${assetId}`) ?? 0n
          }))
        }
      })
    })
  )
)

const PricesFake = Layer.effect(
  Prices,
  Effect.map(Surroundings, (surroundings) =>
    Prices.of({
      latest: Effect.fnUntraced(function* (assetIds) {
        const asOf = yield* DateTime.now
        const found = assetIds.flatMap((assetId): ReadonlyArray<readonly [AssetId, Price]> => {
          const usd = surroundings.prices.get(assetId)
          return usd === undefined ? [] : [[assetId, { usd, asOf }]]
        })
        return new Map(found)
      })
    })
  )
)

const RunLauncherFake = Layer.effect(
  RunLauncher,
  Effect.map(Surroundings, (surroundings) =>
    RunLauncher.of({
      launch: () => (surroundings.launchDefect === undefined ? Effect.void : Effect.die(surroundings.launchDefect))
    })
  )
)

const ReadinessFake = Layer.effect(
  Readiness,
  Effect.map(Surroundings, (surroundings) =>
    Readiness.of({
      check: Effect.sync(() => ({
        ready: surroundings.isReady,
        checks: { database: { ok: surroundings.isReady, detail: surroundings.isReady ? "answers" : "does not answer" } }
      }))
    })
  )
)

const ChainsFake = Layer.succeed(Chains, { supported: [8453 as ChainId, 42161 as ChainId] })

export const SurroundingsLive = Layer.mergeAll(
  SmartAccountsFake,
  BalancesFake,
  PricesFake,
  RunLauncherFake,
  ReadinessFake,
  ChainsFake
).pipe(Layer.provideMerge(Surroundings.layer))
