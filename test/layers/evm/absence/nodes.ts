/** The sandbox's nodes in front of test chains: two endpoints each, of which one or both can be set to misbehave. */
import { NodeHttpServer } from "@effect/platform-node"
import { Context, Effect, Layer } from "effect"
import { FetchHttpClient, HttpRouter, HttpServer } from "effect/http"
import { createServer } from "node:http"
import { PriceBook } from "#sandbox/assets/PriceBook.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { rpcPath, rpcProxy } from "#sandbox/chain/rpcProxy.ts"
import { WorldChains } from "#sandbox/chain/SandboxChains.ts"
import { Faults } from "#sandbox/faults/Faults.ts"
import { adapterFor, configFor } from "#test/layers/evm/EvmWorld.ts"

export const nodesOf = Effect.fnUntraced(function* (...chains: ReadonlyArray<Chain>) {
  const world = Layer.mock(WorldChains, {
    all: chains,
    find: (chainId) => chains.find((chain) => chain.chainId === chainId),
    prices: new PriceBook()
  })
  const served = yield* Layer.build(
    HttpRouter.serve(rpcProxy, { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
      Layer.provideMerge(Layer.mergeAll(world, Faults.layer, FetchHttpClient.layer))
    )
  )
  const { address } = Context.get(served, HttpServer.HttpServer)
  const port = "port" in address ? address.port : 0
  return {
    faults: Context.get(served, Faults),
    url: ({ chainId }: Chain, endpoint: number) => `http://127.0.0.1:${port}${rpcPath(chainId, endpoint)}`
  }
})

interface ChainSettings {
  readonly headMaxAgeSeconds?: number
  readonly confirmations?: number
}

/** The service's adapter behind as many nodes of the chain, and what they can be set to. */
export const adapterBehind = Effect.fnUntraced(function* (
  chain: Chain,
  endpoints: 1 | 2,
  settings: ChainSettings = {}
) {
  const { faults, url } = yield* nodesOf(chain)
  const config = configFor([chain], () => url(chain, 1))
  const chains = config.chains.map((one) => ({
    ...one,
    ...settings,
    rpcUrls: endpoints === 1 ? one.rpcUrls : ([url(chain, 1), url(chain, 2)] as const)
  }))
  return { faults, services: yield* Layer.build(adapterFor({ ...config, chains })) }
})
