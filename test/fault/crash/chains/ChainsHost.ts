/**
 * Two EVM chains, a routing provider and a quick bridge between them, and a Solana chain, which all outlive the
 * services that crash.
 */
import { NodeHttpServer } from "@effect/platform-node"
import { Context, Effect, Layer, Schedule } from "effect"
import { FetchHttpClient, HttpRouter, HttpServer } from "effect/http"
import { createServer } from "node:http"
import { type Hex, keccak256, parseEther, toHex } from "viem"
import { privateKeyToAddress } from "viem/accounts"
import type { ChainId, EvmAddress } from "#domain/values/Caip.ts"
import { depositsSince, fillData } from "#sandbox/chain/spokePool.ts"
import { type Chain, setEther, startChain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import { Faults } from "#sandbox/faults/Faults.ts"
import { lifi } from "#sandbox/lifi/lifi.ts"
import * as Market from "#sandbox/chain/Market.ts"
import { operate } from "#sandbox/chain/operate.ts"
import { rpcPath, rpcProxy } from "#sandbox/chain/rpcProxy.ts"
import { PriceBook } from "#sandbox/assets/PriceBook.ts"
import { WorldChains } from "#sandbox/chain/SandboxChains.ts"
import type { ChainsConfig } from "#test/fault/crash/chains/ChainsConfig.ts"
import { solanaHost } from "#test/fault/crash/chains/solanaHost.ts"

const key = (name: string): Hex => keccak256(toHex(`ballast crash ${name}`))
const address = (hex: Hex) => privateKeyToAddress(hex) as string as EvmAddress

/** Pays out what the other chain's pool took, once for each deposit. */
const submit = Effect.fnUntraced(function* (source: Chain, destinations: ReadonlyArray<Chain>) {
  let next = 0n
  const fillDeposits = Effect.gen(function* () {
    const { deposits, head } = yield* depositsSince(source, next)
    next = head + 1n
    for (const deposit of deposits) {
      const destination = destinations.find(({ chainId }) => BigInt(chainId) === deposit.destinationChainId)!
      yield* operate(destination.client, {
        what: `fill deposit ${deposit.depositId}`,
        to: destination.contracts.bridge,
        data: fillData(deposit),
        gas: 1_000_000n
      })
    }
  })
  yield* fillDeposits.pipe(Effect.orDie, Effect.repeat(Schedule.spaced("50 millis")), Effect.forkScoped)
})

export class ChainsHost extends Context.Service<
  ChainsHost,
  {
    /** Configuration for one service, whose relayer is its own. */
    readonly configFor: (name: string) => Effect.Effect<ChainsConfig>
    /** Takes back what swaps did to the pools. */
    readonly restorePools: Effect.Effect<void>
  }
>()("ballast/test/fault/crash/ChainsHost") {
  static readonly layer = Layer.effect(
    ChainsHost,
    Effect.gen(function* () {
      const prices = new PriceBook()
      const all = yield* Effect.forEach([8453, 42161], (chainId) => startChain({ chainId, prices }), {
        concurrency: "unbounded"
      })
      for (const chain of all) yield* submit(chain, all)
      const world = WorldChains.of({
        all,
        prices,
        find: (chainId) => all.find((chain) => chain.chainId === chainId),
        setPrice: () => Effect.void,
        advanceTo: () => Effect.void,
        watch: Effect.never
      })
      const served = HttpRouter.serve(Layer.merge(lifi, rpcProxy), {
        disableLogger: true,
        disableListenLog: true
      }).pipe(
        Layer.provide([Layer.succeed(WorldChains, world), FetchHttpClient.layer]),
        Layer.provideMerge(Faults.layer),
        Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
      )
      const solana = yield* solanaHost
      const services = yield* Layer.build(served)
      const { address: listening } = Context.get(services, HttpServer.HttpServer)
      const faults = Context.get(services, Faults)
      for (const { chainId } of all) yield* faults.set(`rpc:${chainId}/1`, { mode: "lagging", blocks: 2 })
      const port = listening._tag === "UnixPathAddress" ? 0 : listening.port

      return ChainsHost.of({
        configFor: Effect.fnUntraced(function* (name) {
          const relayerKey = key(`relayer of ${name}`)
          for (const chain of all)
            yield* Effect.orDie(setEther(chain, address(relayerKey) as string as Hex, parseEther("1000")))
          return {
            chains: all.map(({ chainId, contracts, rpcUrl }) => ({
              chainId: chainId as ChainId,
              rpcUrl,
              nodes: [1, 2].map((node) => `http://127.0.0.1:${port}${rpcPath(chainId, node)}`) as [string, string],
              router: contracts.router as string as EvmAddress,
              treasury: contracts.treasury as string as EvmAddress,
              bridge: contracts.bridge as string as EvmAddress
            })),
            solana: solana.config,
            lifiUrl: `http://127.0.0.1:${port}/lifi/v1`,
            agentKey: key("agent"),
            relayerKey,
            relayer: address(relayerKey)
          }
        }),
        restorePools: Effect.andThen(
          solana.restorePools,
          Effect.forEach(
            all,
            (chain) => {
              const weth = tokenBySymbol(chain, "WETH")
              return Market.setPrice(chain, weth, { priceUsd: weth.initialPriceUsd })
            },
            { discard: true }
          )
        ).pipe(Effect.orDie)
      })
    })
  )
}
