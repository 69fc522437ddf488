/** The sandbox's stand-ins of the catalogue's sources over HTTP, and where they are. */
import { createServer } from "node:http"
import { NodeHttpServer } from "@effect/platform-node"
import { Clock, Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import type { CatalogueAccess } from "#layers/catalogue/refresh/CatalogueSourcesLive.ts"
import { Faults } from "#sandbox/faults/Faults.ts"
import { catalogueLists } from "#sandbox/market/catalogueLists.ts"
import { coinbase } from "#sandbox/market/coinbase.ts"
import { xstocks } from "#sandbox/market/xstocks.ts"
import { WorldClock } from "#sandbox/WorldClock.ts"

export class IssuerStandIns extends Context.Service<IssuerStandIns, CatalogueAccess>()("ballast/test/IssuerStandIns") {
  static readonly layer = Layer.effect(
    IssuerStandIns,
    Effect.map(HttpServer.HttpServer, ({ address }) => {
      const base = `http://127.0.0.1:${"port" in address ? address.port : 0}`
      return {
        uniswapList: `${base}/lists/uniswap.json`,
        ondoList: `${base}/lists/ondo.json`,
        coinbaseUrl: `${base}/coinbase`,
        xStocksUrl: `${base}/xstocks/api/v2`
      }
    })
  ).pipe(
    Layer.provide(
      HttpRouter.serve(Layer.mergeAll(coinbase, xstocks, catalogueLists), {
        disableLogger: true,
        disableListenLog: true
      }).pipe(
        Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" })),
        Layer.provide(
          Layer.mock(WorldClock, { read: Effect.map(Clock.currentTimeMillis, (now) => ({ now, version: 1 })) })
        )
      )
    ),
    Layer.provideMerge(Faults.layer)
  )
}
