import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { createPublicClient, custom } from "viem"
import type { ChainId } from "#domain/values/Caip.ts"
import { Chains } from "#domain/chain/Chains.ts"
import { ChainStates } from "#domain/chain/ChainStates.ts"
import { ChainStatesLive } from "#layers/evm/ChainStatesLive.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { chainIdOf, configFor, EvmWorld } from "#test/layers/evm/EvmWorld.ts"

layer(EvmWorld.layer, { excludeTestServices: true })("ChainStates", (it) => {
  it.effect("supported chains alone, each by whether it answers, with the confirmations that it asks for", () =>
    Effect.gen(function* () {
      const { arbitrum, base } = yield* EvmWorld
      const config = configFor([base, arbitrum])
      const [first, second] = config.chains
      const unreachable = { ...second!, chainId: 56 as ChainId, rpcUrls: ["http://127.0.0.1:9"] as const }
      const supported = [chainIdOf(base), unreachable.chainId]
      const states = yield* Effect.provide(
        Effect.flatMap(ChainStates, ({ all }) => all),
        ChainStatesLive.pipe(
          Layer.provide(EvmClients.layer),
          Layer.provide([
            Layer.succeed(EvmConfig, { ...config, chains: [{ ...first!, confirmations: 7 }, second!, unreachable] }),
            Layer.succeed(Chains, { supported })
          ]),
          Layer.fresh
        )
      )
      assert.deepStrictEqual(states, [
        { chainId: chainIdOf(base), confirmations: 7, isAvailable: true },
        { chainId: unreachable.chainId, confirmations: unreachable.confirmations, isAvailable: false }
      ])
    })
  )

  it.effect("those who ask at the same time share one question, and it is asked anew ten seconds later", () =>
    Effect.gen(function* () {
      const { base } = yield* EvmWorld
      let asked = 0
      const client = createPublicClient({
        transport: custom({
          request: async () => {
            asked += 1
            return "0x1"
          }
        })
      })
      const clients = Layer.mock(EvmClients, {
        request: (_chainId, _method, send) => Effect.promise(() => send(client)),
        each: () => []
      })
      yield* Effect.gen(function* () {
        const { all } = yield* ChainStates
        yield* Effect.all([all, all, all], { concurrency: "unbounded" })
        yield* TestClock.adjust("9 seconds")
        yield* all
        assert.strictEqual(asked, 1)
        yield* TestClock.adjust("2 seconds")
        yield* all
        assert.strictEqual(asked, 2)
      }).pipe(
        Effect.provide(
          ChainStatesLive.pipe(
            Layer.provide([
              clients,
              Layer.succeed(EvmConfig, configFor([base])),
              Layer.succeed(Chains, { supported: [chainIdOf(base)] })
            ]),
            Layer.fresh
          )
        ),
        Effect.provide(TestClock.layer())
      )
    })
  )
})
