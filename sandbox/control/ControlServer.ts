import { NodeHttpServer } from "@effect/platform-node"
import { ByteSize, Duration, Effect, Layer } from "effect"
import { FetchHttpClient, HttpIncomingMessage, HttpRouter } from "effect/http"
import { createServer } from "node:http"
import { attestorProxy } from "#sandbox/attestor/attestorProxy.ts"
import { clockRoutes } from "#sandbox/control/clockRoutes.ts"
import { walletRoutes } from "#sandbox/control/walletRoutes.ts"
import { coinbase } from "#sandbox/market/coinbase.ts"
import { coingecko } from "#sandbox/market/coingecko.ts"
import { controlRoutes } from "#sandbox/control/controlRoutes.ts"
import { lifi } from "#sandbox/lifi/lifi.ts"
import { localRequests } from "#sandbox/control/localRequests.ts"
import { massive } from "#sandbox/market/massive.ts"
import { massiveRest } from "#sandbox/market/massiveRest.ts"
import { portTaken } from "#sandbox/process/freePort.ts"
import { rpcProxy } from "#sandbox/chain/rpcProxy.ts"
import { solanaRoutes } from "#sandbox/solana/solanaRoutes.ts"
import { ondo } from "#sandbox/market/ondo.ts"
import { tokenList } from "#sandbox/market/tokenList.ts"
import { catalogueLists } from "#sandbox/market/catalogueLists.ts"
import { xstocks } from "#sandbox/market/xstocks.ts"
import { WorldConfig } from "#sandbox/WorldConfig.ts"

const routes = Layer.mergeAll(
  localRequests,
  controlRoutes,
  clockRoutes,
  walletRoutes,
  tokenList,
  catalogueLists,
  coingecko,
  massive,
  massiveRest,
  coinbase,
  xstocks,
  lifi,
  ondo,
  attestorProxy,
  rpcProxy,
  solanaRoutes
).pipe(Layer.provide(FetchHttpClient.layer))

/** Open long polls are not waited for. */
const shutdownLimit = Duration.millis(200)

/** The server of the control API and of the stand-ins, on loopback at SANDBOX_PORT. */
export const ControlServer = Layer.unwrap(
  Effect.map(WorldConfig, ({ controlPort }) =>
    HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provide(Layer.succeed(HttpIncomingMessage.MaxBodySize, ByteSize.fromInputUnsafe("4 MiB"))),
      Layer.provide(
        NodeHttpServer.layer(createServer, {
          port: controlPort,
          host: "127.0.0.1",
          gracefulShutdownTimeout: shutdownLimit
        })
      ),
      // It was free when the world began, and chains take seconds to start.
      Layer.catchTag("ServeError", ({ cause }) =>
        Layer.effectContext(Effect.fail(portTaken(controlPort, "SANDBOX_PORT", cause)))
      )
    )
  )
)
