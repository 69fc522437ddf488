/** Two relayer accounts on one chain: what stands still in one holds up nothing in the other. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { keccak256, parseEther, toHex } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { ActionReceipts } from "#domain/relay/ActionReceipts.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { RelayerFunds } from "#domain/relay/RelayerFunds.ts"
import { NoAttestor } from "#layers/attestor/PriceAttestorLive.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { EvmLive } from "#layers/evm/EvmLive.ts"
import { setEther } from "#sandbox/chain/Chain.ts"
import { batchOf, chainIdOf, configFor, EvmWorld, quotedSwap, relayer, confirmed } from "#test/layers/evm/EvmWorld.ts"
import { dollars, tradingAccount } from "#test/layers/evm/tradingAccount.ts"
import { asTransaction } from "#domain/relay/Transaction.ts"

const secondKey = keccak256(toHex("ballast test second relayer"))
const second = privateKeyToAccount(secondKey)

const World = EvmLive.pipe(
  Layer.provide(NoAttestor),
  Layer.provide(
    Layer.effect(
      EvmConfig,
      Effect.map(EvmWorld, ({ base }) => {
        const config = configFor([base])
        return { ...config, relayers: [config.relayers[0], { kind: "local", key: Redacted.make(secondKey as string) }] }
      })
    )
  ),
  Layer.provide(SecureRandom.layerWebCrypto),
  Layer.provideMerge(EvmWorld.layer)
)

layer(World, { excludeTestServices: true })("relayer accounts", (it) => {
  it.effect("a transaction of the second account lands while the first waits for a nonce", () =>
    Effect.gen(function* () {
      const { base } = yield* EvmWorld
      yield* setEther(base, second.address, parseEther("1"))
      const execution = yield* SwapBatches
      const actions = yield* ActionReceipts
      const relay = yield* Relayer
      assert.deepStrictEqual(
        relay.accounts.map((account) => account as string),
        [relayer.address, second.address]
      )
      const enrollment = yield* tradingAccount(70n)
      const prepared = asTransaction(
        yield* execution.prepare(
          batchOf(enrollment, base, [
            yield* quotedSwap(base, { sell: "USDC", buy: "WETH", sellAmountRaw: dollars(10n) })
          ])
        )
      )
      const [first, other] = relay.accounts
      assert.deepStrictEqual(prepared.laneNonces, [{ relayer: other!, nonce: 0 }])
      const stuck = yield* relay.sign(prepared, prepared.chainNonce + 5, first)
      yield* relay.broadcast(stuck)
      assert.deepStrictEqual(yield* actions.find(stuck, prepared.accountId), Option.none())
      const moving = yield* relay.sign(prepared, 0, other)
      assert.strictEqual(moving.relayer, other)
      yield* relay.broadcast(moving)
      assert.isTrue((yield* confirmed(moving, prepared.accountId)).success)
      assert.strictEqual(yield* relay.usedNonces(chainIdOf(base), other!), 1)
    })
  )

  it.effect("each account's funds are watched", () =>
    Effect.gen(function* () {
      const { base } = yield* EvmWorld
      yield* setEther(base, second.address, parseEther("0.001"))
      const funds = yield* Effect.flatMap(RelayerFunds, ({ read }) => read(chainIdOf(base)))
      assert.deepStrictEqual(
        funds.map(({ isLow, relayer: account }) => [account as string, isLow]),
        [
          [relayer.address, false],
          [second.address, true]
        ]
      )
    })
  )
})
