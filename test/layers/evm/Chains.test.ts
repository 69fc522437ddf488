import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import type { Address } from "viem"
import type { ChainId } from "#domain/values/Caip.ts"
import { Chains } from "#domain/chain/Chains.ts"
import { ServiceContracts } from "#domain/chain/ServiceContracts.ts"
import { fromViem } from "#layers/evm/address.ts"
import { ChainsLive } from "#layers/evm/ChainsLive.ts"
import { entryPoint, withdrawalExecutor } from "#layers/evm/contracts.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { ServiceContractsLive } from "#layers/evm/ServiceContractsLive.ts"
import { runnerOf } from "#layers/evm/tradeGuard.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { configFor, EvmWorld } from "#test/layers/evm/EvmWorld.ts"

const unreachable = { chainId: 56 as ChainId, rpcUrls: ["http://127.0.0.1:9"] as const }

/** The supported chains of a deployment over both chains and one that does not answer, and what it logs. */
const start = Effect.fnUntraced(function* (
  routedSwap: (chain: Chain) => { readonly contract: Address; readonly target: Address } | undefined = () => undefined
) {
  const { arbitrum, base } = yield* EvmWorld
  const plain = configFor([base, arbitrum])
  const config = {
    ...plain,
    chains: plain.chains.map((chain, index) => {
      const routed = routedSwap([base, arbitrum][index]!)
      return routed === undefined ? chain : { ...chain, routedSwap: routed }
    })
  }
  const logged: Array<string> = []
  const services = ChainsLive.pipe(
    Layer.provide(EvmClients.layer),
    Layer.provide(
      Layer.succeed(EvmConfig, { ...config, chains: [...config.chains, { ...config.chains[0]!, ...unreachable }] })
    )
  )
  const { supported } = yield* Effect.provide(Chains, Layer.fresh(services)).pipe(
    Effect.provide(Logger.layer([Logger.make(({ message }) => logged.push(String(message)))]))
  )
  return { supported: [...supported] as Array<number>, logged: logged.join("\n") }
})

/** Runs with other code at an address, and puts the code back. */
const withCode = <A, E, R>(
  chain: Chain,
  { address, code }: { readonly address: `0x${string}`; readonly code: `0x${string}` },
  effect: Effect.Effect<A, E, R>
) =>
  Effect.acquireUseRelease(
    Effect.promise(async () => {
      const before = await chain.client.getCode({ address })
      await chain.client.setCode({ address, bytecode: code })
      return before!
    }),
    () => effect,
    (bytecode) => Effect.promise(() => chain.client.setCode({ address, bytecode }))
  )

layer(EvmWorld.layer, { excludeTestServices: true })("Chains", (it) => {
  it.effect(
    "the service's contracts are those that every chain has, and those that a chain's configuration names",
    () =>
      Effect.gen(function* () {
        const { base } = yield* EvmWorld
        const plain = configFor([base])
        const [bridge, contract, target, guard] = ["aa", "bb", "cc", "dd"].map((digits) =>
          fromViem(`0x${digits.repeat(20)}`)
        )
        const [chain] = plain.chains
        const routedSwap = { contract: contract!, target: target! }
        const chains = [{ ...chain!, bridge: bridge!, routedSwap, guard: guard! }]
        const { on } = yield* Effect.provide(ServiceContracts, ServiceContractsLive).pipe(
          Effect.provideService(EvmConfig, { ...plain, chains })
        )
        const known = on(chain!.chainId)
        for (const address of [
          fromViem(entryPoint),
          fromViem(withdrawalExecutor),
          chain!.router,
          bridge,
          contract,
          target,
          guard,
          runnerOf(guard!)
        ])
          assert.isTrue(known.has(address!), address)
        assert.strictEqual(on(1 as ChainId).size, 0)
      })
  )

  it.effect("a chain with every contract is supported, and one that does not answer is taken as configured", () =>
    Effect.gen(function* () {
      const { supported, logged } = yield* start()
      assert.deepStrictEqual(supported, [8453, 42161, 56])
      assert.include(logged, "chain 56 could not be checked")
    })
  )

  it.effect("a chain that lacks a contract is not supported, and the log names what to deploy", () =>
    Effect.gen(function* () {
      const { arbitrum } = yield* EvmWorld
      const { supported, logged } = yield* withCode(arbitrum, { address: withdrawalExecutor, code: "0x" }, start())
      assert.deepStrictEqual(supported, [8453, 56])
      assert.include(logged, `42161 is not supported: it lacks the withdrawal executor (${withdrawalExecutor})`)
    })
  )

  it.effect("a chain whose EntryPoint is something else is not supported", () =>
    Effect.gen(function* () {
      const { base } = yield* EvmWorld
      const { supported, logged } = yield* withCode(base, { address: entryPoint, code: "0x6001" }, start())
      assert.deepStrictEqual(supported, [42161, 56])
      assert.include(logged, "EntryPoint 0.7")
    })
  )

  it.effect("routes need our contract as it is, for this router and this diamond", () =>
    Effect.gen(function* () {
      const { base } = yield* EvmWorld
      const right = ({ contracts }: Chain) => ({ contract: contracts.routedSwap, target: contracts.diamond })
      assert.deepStrictEqual((yield* start(right)).supported, [8453, 42161, 56])
      for (const wrong of [
        (chain: Chain) => ({ ...right(chain), target: chain.contracts.router }),
        (chain: Chain) => ({ ...right(chain), contract: chain.contracts.bridge }),
        (chain: Chain) => ({ ...right(chain), contract: "0x000000000000000000000000000000000000dEaD" as const })
      ]) {
        const { supported, logged } = yield* start((chain) => (chain === base ? wrong(chain) : right(chain)))
        assert.deepStrictEqual(supported, [42161, 56])
        assert.include(logged, "8453 is not supported: it lacks RoutedSwap for router")
      }
    })
  )
})
