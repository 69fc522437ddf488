/** Balances by the family of the account's chain. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Redacted, Result } from "effect"
import { ChainId, evmAccount, EvmAddress, SolanaAccountId, solanaChainId, solanaReference } from "#domain/Caip.ts"
import { Balances } from "#domain/chain/Balances.ts"
import { SolanaConfig } from "#layers/solana/SolanaConfig.ts"
import { SolanaClients, SolanaLive } from "#layers/solana/SolanaLive.ts"
import { installMints, issue } from "#sandbox/solana/market/issuer.ts"
import { splCatalog, usdc } from "#sandbox/solana/market/splCatalog.ts"
import { fundedKey, sol, startTestChain, type TestChain } from "#test/sandbox/solana/support.ts"

let chain: TestChain
beforeAll(async () => {
  chain = await startTestChain()
  installMints(chain.ledger)
})
afterAll(() => chain.close())

const evm = evmAccount(ChainId.make(8453), EvmAddress.make("0x52908400098527886E0F7030069857D2E4169EE7"))
const ofOthers = { blockNumber: 8453n, blockTime: DateTime.makeUnsafe(0), balances: [] }

/** What is asked of the other families is answered by a number that says so. */
const others = Layer.succeed(Balances, {
  read: () => Effect.succeed(ofOthers),
  readMany: () => Effect.succeed([Result.succeed(ofOthers)])
})

const serving = (isConfigured: boolean) =>
  SolanaLive.pipe(
    Layer.provide(others),
    Layer.provide(SolanaClients),
    Layer.provide(
      Layer.sync(SolanaConfig, () =>
        isConfigured
          ? {
              rpcUrls: [Redacted.make(chain.url)] as const,
              agentSeed: Redacted.make(new Uint8Array(32)),
              fees: { percentile: 75, maxPriorityLamports: 0n },
              jupiter: { baseUrl: chain.url, apiKey: null }
            }
          : null
      )
    )
  )

const share = splCatalog.find(({ symbol }) => symbol === "AAPLx")!

describe("balances of all families", () => {
  it.effect("an account on Solana shows both token programs in raw units, and zero of what it does not hold", () =>
    Effect.gen(function* () {
      const owner = fundedKey(chain, sol).publicKey
      issue(chain.ledger, usdc, owner, 5n)
      issue(chain.ledger, share, owner, 7n)
      const account = SolanaAccountId.make(`solana:${solanaReference}:${owner.toBase58()}`)
      const wanted = splCatalog.map(({ assetId }) => assetId)
      const balances = yield* Balances
      const { blockNumber, balances: read } = yield* balances.read(account, wanted)
      assert.strictEqual(blockNumber, chain.ledger.slot)
      assert.deepStrictEqual(
        read,
        wanted.map((assetId) => ({ assetId, raw: assetId === usdc.assetId ? 5n : assetId === share.assetId ? 7n : 0n }))
      )
      const many = yield* balances.readMany(ChainId.make(solanaChainId), [{ account, assetIds: [usdc.assetId] }])
      assert.deepStrictEqual(
        many.map((one) => Result.getOrThrow(one).balances),
        [[{ assetId: usdc.assetId, raw: 5n }]]
      )
    }).pipe(Effect.provide(serving(true)))
  )

  it.effect("an account of another family is asked of the port beneath", () =>
    Effect.gen(function* () {
      const balances = yield* Balances
      assert.deepStrictEqual(yield* balances.read(evm, []), ofOthers)
      assert.lengthOf(yield* balances.readMany(ChainId.make(8453), [{ account: evm, assetIds: [] }]), 1)
    }).pipe(Effect.provide(serving(true)))
  )

  it.effect("without Solana in the configuration its accounts are unavailable, and others are read", () =>
    Effect.gen(function* () {
      const balances = yield* Balances
      const account = SolanaAccountId.make(`solana:${solanaReference}:${usdc.mint.toBase58()}`)
      const failure = yield* Effect.flip(balances.read(account, [usdc.assetId]))
      assert.strictEqual(failure._tag, "ChainUnavailable")
      assert.deepStrictEqual(yield* balances.read(evm, []), ofOthers)
    }).pipe(Effect.provide(serving(false)))
  )
})
